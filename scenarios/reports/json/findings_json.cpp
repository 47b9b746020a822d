#include "scenarios/reports/json/findings_json.h"

#include "scenarios/records/log_view.h"
#include "scenarios/text/printable_json.h"

#include <nlohmann/json.hpp>

namespace pdsim::scenarios {
namespace {

using FindingJson = nlohmann::ordered_json;

FindingJson call_json(const CallReference& call) {
  FindingJson json{{"ranks", call.ranks}, {"name", call.name}};
  if (!call.group.empty()) json["group"] = call.group;
  if (call.seq >= 0) json["seq"] = call.seq;
  if (call.peer >= 0) json["peer"] = call.peer;
  if (const std::string place = place_text(call.site); !place.empty()) {
    json["place"] = place;
  } else if (call.site.line > 0) {
    json["line"] = call.site.line;
  }
  return json;
}

FindingJson finding_json(const Diagnosis& d) {
  FindingJson json{{"id", d.id}, {"headline", d.headline}, {"culprits", d.ranks}, {"waiting", d.waiting}};
  json["calls"] = FindingJson::array();
  for (const CallReference& call : d.calls) json["calls"].push_back(call_json(call));
  json["why"] = d.why;
  json["cure"] = d.fix;
  if (!d.fix_lines.empty()) json["more_cures"] = d.fix_lines;
  return json;
}

}  // namespace

std::string render_findings(const Report& report) {
  if (report.scenario == nullptr) return {};
  const Scenario& s = *report.scenario;
  FindingJson json{{"version", findings_version},
                   {"job", s.variant.empty() ? s.name : s.name + "/" + s.variant},
                   {"world", report.world},
                   {"ranks", report.run.ranks.size()},
                   {"outcome", name_of(report.outcome)}};
  json["findings"] = FindingJson::array();
  for (const Diagnosis& d : report.findings) json["findings"].push_back(finding_json(d));
  return printable_json(json.dump(-1, ' ', false, FindingJson::error_handler_t::replace)) + "\n";
}

}  // namespace pdsim::scenarios
