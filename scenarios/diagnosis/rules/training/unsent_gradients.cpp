#include "scenarios/diagnosis/rules/training/unsent_gradients.h"

#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

// The first step on gradients of the rank alone, and the forward around the wrapper where that was the reason; null: there is none.
struct Unsent {
  const Note* step = nullptr;
  const Note* bypass = nullptr;
};

Unsent unsent_by(const RankLog& log) {
  Unsent found;
  for (const Note* note : notes_of<notes::OptimizerStep>(log))
    if (found.step == nullptr && !note->as<notes::OptimizerStep>().synchronised) found.step = note;
  if (found.step == nullptr) return found;
  for (const Note* note : notes_of<notes::WrapperBypassed>(log))
    if (note->site.step == found.step->site.step && found.bypass == nullptr) found.bypass = note;
  const bool in_no_sync = std::any_of(log.calls.begin(), log.calls.end(), [&](const Call& call) {
    return call.layer == Layer::program && call.name == "no_sync" && call.site.step == found.step->site.step;
  });
  return found.bypass != nullptr || in_no_sync ? found : Unsent{};
}

struct Camps {
  std::vector<Rank> waiting, rest;
  const Call* bucket = nullptr;  // of the first that waits
};

Camps camps_of_bucket(const Report& report) {
  Camps camps;
  for (const Divergence::Entry& entry : report.divergence->entries) {
    const Call* call = entry.id >= 0 ? call_by_id(log_of(report.run, entry.rank), entry.id) : nullptr;
    const bool is_bucket = call != nullptr && call->purpose.kind == PurposeKind::bucket;
    (is_bucket ? camps.waiting : camps.rest).push_back(entry.rank);
    if (is_bucket && camps.bucket == nullptr) camps.bucket = call;
  }
  return camps;
}

}  // namespace

void explain_unsent_gradients(Diagnosis& d, const Report& report) {
  if (!report.divergence) return;
  const Camps camps = camps_of_bucket(report);
  if (camps.bucket == nullptr || camps.rest.empty()) return;
  const auto has_sent = [&](Rank rank) { return unsent_by(log_of(report.run, rank)).step == nullptr; };
  if (std::any_of(camps.rest.begin(), camps.rest.end(), has_sent)) return;
  if (std::none_of(camps.waiting.begin(), camps.waiting.end(), has_sent)) return;
  const Unsent unsent = unsent_by(log_of(report.run, camps.rest.front()));
  const bool around = unsent.bypass != nullptr;
  const std::string reason = around ? "went around DDP's wrapper" : "stood inside no_sync";
  d.ranks = camps.rest;
  d.headline = fmt::format("{} in {} #{} for gradients that {} did not send: the forward {}", who(camps.waiting, "waits", "wait"),
                           call_text(*camps.bucket), camps.bucket->seq, short_ranks(camps.rest), reason);
  d.cause = fmt::format("the forward of {} {} {}", short_ranks(camps.rest), site_text(unsent.step->site), reason);
  d.why = fmt::format(
      "DDP arms its reducer in the wrapper's forward, if gradients are enabled and no_sync is not active. {}, so its "
      "backward sent nothing and it is one all_reduce behind from there on, while {} what the others send. {}",
      capitalised(d.cause), who(camps.waiting, "waits for", "wait for"), d.why);
  if (around) {
    d.fix = {"forward: {through: ddp}, that is, call the wrapped model on every rank",
             "call the wrapped model on every rank: model(x), not model.module(x)"};
    d.fix_lines = {"use model.module only for saving; call other methods of the module, such as training_step, from "
                   "its forward"};
  } else {
    d.fix = "synchronise in the same backwards on every rank: the last forward of each step must be outside no_sync";
    d.fix_lines = {"the position of the forward counts; a backward outside no_sync does not help"};
  }
  for (Span& span : d.spans) span.primary = false;
  const Note* shown = around ? unsent.bypass : unsent.step;
  d.evidence.push_back(evidence_of(camps.rest.front(), *shown, around ? "bypasses the wrapper" : "steps on gradients of this rank alone"));
  add_span(d, report, shown->site.line, shown->site.column,
           around ? fmt::format("{} around the wrapper", who(camps.rest, "goes", "go"))
                  : fmt::format("{} here on gradients of {} own", who(camps.rest, "steps", "step"), camps.rest.size() == 1 ? "its" : "their"),
           true);
}

}  // namespace pdsim::scenarios::diagnoses
