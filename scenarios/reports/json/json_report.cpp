#include "scenarios/reports/json/json_report.h"

#include "core/base/fingerprint.h"
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/fix_proof.h"
#include "scenarios/text/printable_json.h"

#include <nlohmann/json.hpp>

namespace pdsim::scenarios {
namespace {

using Json = nlohmann::ordered_json;

Json blocked_json(const BlockedRank& b) {
  Json json{{"rank", b.rank}, {"in", b.in}};
  if (b.seq >= 0) json["seq"] = b.seq;
  if (b.step >= 0) json["step"] = b.step;
  if (!b.group.empty()) json["group"] = b.group;
  if (!b.site.empty()) json["site"] = b.site;
  if (b.phase != Phase::none) json["phase"] = name_of(b.phase);
  if (!b.purpose.empty()) json["purpose"] = text_of(b.purpose);
  constexpr std::size_t most = 1024;
  json["waits_for"] = awaited_ranks(b, most);
  if (const std::size_t all = awaited_count(b); all > most) json["waits_for_count"] = all;
  if (b.any) json["waits_for_any"] = true;
  json["since_ns"] = b.since.ns();
  return json;
}

Json error_json(const RankError& e) {
  Json json{{"rank", e.rank}, {"code", name_of(e.code)}};
  if (e.step >= 0) json["step"] = e.step;
  if (!e.in.empty()) json["in"] = e.in;
  if (e.exit_status) json["exit_status"] = *e.exit_status;
  if (!e.exception.empty()) json["exception"] = e.exception;
  json["message"] = e.message;
  json["at_ns"] = e.at.ns();
  return json;
}

Json divergence_json(const Divergence& d) {
  Json json{{"group", d.group}, {"seq", d.seq}, {"field", name_of(d.field)}};
  if (!d.minority.empty()) json["minority"] = d.minority;
  json["at_ns"] = d.at.ns();
  return json;
}

Json diagnosis_json(const Diagnosis& d) {
  Json json{{"id", d.id}, {"ranks", d.ranks}, {"headline", d.headline}, {"cause", d.cause}, {"fix", d.fix.text}};
  if (!d.parameters.empty()) json["parameters"] = d.parameters;
  json["why"] = d.why;
  if (!d.inevitable.empty()) json["inevitable"] = d.inevitable;
  if (!d.inevitable.empty()) json["inevitable_ns"] = d.inevitable_at.ns();
  for (const Span& s : d.spans)
    json["spans"].push_back({{"line", s.line}, {"column", s.column}, {"width", s.width}, {"label", s.label}});
  for (const Cure& cure : d.cures)
    if (cures(cure)) json["tried"].push_back({{"change", cure.what}, {"simulated_ns", cure.tried->elapsed.ns()}, {"collectives", cure.tried->collectives}});
  for (const Evidence& e : d.evidence)
    json["evidence"].push_back({{"rank", e.rank}, {"call", e.call}, {"what", e.what}});
  return json;
}

Json variant_json(const Report& report, const std::vector<Report>& reports) {
  const RunRecord& run = report.run;
  const Scenario& s = *report.scenario;
  Json json = Json::object();
  json["name"] = s.variant.empty() ? s.name : s.variant;
  json["verdict"] = name_of(report.verdict);
  if (report.verdict == Verdict::skip) {
    json["reason"] = report.skip_reason;
    return json;
  }
  json["outcome"] = name_of(report.outcome);
  if (report.world.is_simulated()) {
    json["simulated_ns"] = (run.deadlocked ? run.deadlock_at : run.elapsed).ns();
  } else {
    json["wall_ns"] = run.wall_ns;
  }
  if (report.world.is_simulated()) json["events"] = run.events;
  json["fingerprint"] = run.fingerprint ? Json(fingerprint_text(*run.fingerprint)) : Json();
  for (const BlockedRank& b : report.blocked) json["blocked"].push_back(blocked_json(b));
  if (!report.cycle.empty()) json["cycle"] = report.cycle;
  for (const RankError& e : report.errors) json["errors"].push_back(error_json(e));
  if (report.first_divergence()) json["first_divergence"] = divergence_json(*report.first_divergence());
  if (report.diagnosis()) {
    json["diagnosis"] = diagnosis_json(*report.diagnosis());
    for (const FixProof& p : fix_proofs(report, reports)) {
      Json proof{{"variant", p.report->scenario->variant}};
      if (p.steps > 0) {
        proof["collectives_per_step"] = p.collectives;
        proof["ns_per_step"] = p.time.ns();
      }
      json["diagnosis"]["proofs"].push_back(std::move(proof));
    }
  }
  for (const ValueCheck& v : report.values) json["values"][v.tensor] = v.result;
  for (const OperationCheck& o : report.operations) {
    Json took = o.took ? Json(o.took->ns()) : Json();
    json["operations"].push_back({{"of", o.of}, {"rank", o.rank}, {"took_ns", took}, {"collectives", o.collectives}});
  }
  for (const Failure& f : report.failures) {
    Json failure{{"expected", f.expected}, {"got", f.got}};
    if (f.mark.line > 0) failure.update({{"line", f.mark.line}, {"column", f.mark.column}});
    json["failures"].push_back(std::move(failure));
  }
  return json;
}

}  // namespace

std::string render_json(const std::vector<Report>& reports) {
  if (reports.empty() || reports.front().scenario == nullptr) return {};
  const Scenario& s = *reports.front().scenario;
  Json json{{"version", json_version},
            {"scenario", s.name},
            {"file", s.file},
            {"world", reports.front().world.name()},
            {"ranks", s.world.spec.ranks()},
            {"seed", s.seed}};
  json["variants"] = Json::array();
  for (const Report& report : reports) json["variants"].push_back(variant_json(report, reports));
  return printable_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace pdsim::scenarios
