#include "scenarios/reports/json/findings_json.h"

#include "scenarios/records/log_view.h"
#include "scenarios/reports/dumped/answer.h"
#include "scenarios/reports/dumped/group_progress.h"
#include "scenarios/reports/dumped/wall_clock.h"
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
  if (call.site.phase != Phase::none) json["phase"] = name_of(call.site.phase);
  return json;
}

FindingJson finding_json(const Report& report, const Diagnosis& d) {
  FindingJson json{{"id", d.id}, {"headline", d.headline}, {"culprits", d.ranks}, {"waiting", d.waiting}};
  json["calls"] = FindingJson::array();
  for (const CallReference& call : d.calls) json["calls"].push_back(call_json(call));
  json["why"] = d.why;
  json["cure"] = d.fix.text;
  for (const FixLine& line : d.fix_lines) json["more_cures"].push_back(line.said());
  if (!d.next.empty()) json["next"] = d.next;
  for (const Rank rank : d.ranks)
    if (static_cast<std::size_t>(rank) < report.run.ranks.size())
      if (const std::string host = host_of(log_of(report.run, rank)); !host.empty()) json["hosts"][host].push_back(rank);
  return json;
}

// How far the ranks came in each group; groups in which nothing is open and no rank is apart are counted.
void add_groups(FindingJson& json, const RunRecord& run) {
  const WallClock clock(run);
  std::size_t in_step = 0;
  json["groups"] = FindingJson::array();
  for (const GroupState& state : group_states(run)) {
    if (!state.is_apart && !state.is_open) {
      ++in_step;
      continue;
    }
    FindingJson group{{"group", state.name}, {"members", FindingJson::array()}};
    for (const GroupPart& part : state.parts) {
      FindingJson member{{"ranks", part.ranks}};
      if (part.progress.lost) member["no_record"] = true;
      if (part.progress.enqueued >= 0) member["enqueued"] = part.progress.enqueued;
      if (part.progress.completed >= 0) member["completed"] = part.progress.completed;
      if (const Call* open = part.progress.open) {
        member["open"] = open->name;
        if (open->seq >= 0) member["open_seq"] = open->seq;
        if (open->error == Code::watchdog_timeout) member["failed"] = true;
        if (clock.has_date()) member["since"] = clock.iso(open->issued);
      }
      group["members"].push_back(std::move(member));
    }
    json["groups"].push_back(std::move(group));
  }
  json["groups_in_step"] = in_step;
  if (!clock.has_date()) return;
  json["from"] = clock.iso(Time{});
  json["to"] = clock.iso(run.elapsed);
}

void add_left_out(FindingJson& json, const std::vector<LeftOutFile>& files) {
  for (const LeftOutFile& file : files) {
    FindingJson row{{"file", file.path}};
    if (file.rank >= 0) row["rank"] = file.rank;
    row["part"] = file.is_whole ? "file" : "entries";
    row["reason"] = file.reason;
    json["left_out"].push_back(std::move(row));
  }
}

}  // namespace

std::string render_findings(const Report& report) {
  if (report.scenario == nullptr) return {};
  const Scenario& s = *report.scenario;
  FindingJson json{{"version", json_version},
                   {"job", s.variant.empty() ? s.name : s.name + "/" + s.variant},
                   {"world", report.world.name()},
                   {"ranks", report.run.ranks.size()},
                   {"outcome", name_of(report.outcome)}};
  json["findings"] = FindingJson::array();
  for (const Diagnosis& d : report.findings) json["findings"].push_back(finding_json(report, d));
  if (report.unexplained_hangs > 0) json["more_hangs"] = report.unexplained_hangs;
  if (report.world.is_dumps()) add_groups(json, report.run);
  add_left_out(json, report.left_out);
  return printable_json(json.dump(-1, ' ', false, FindingJson::error_handler_t::replace)) + "\n";
}

}  // namespace pdsim::scenarios
