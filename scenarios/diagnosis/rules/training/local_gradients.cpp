// Optimizer steps on gradients that no other rank has seen, although DDP wraps the model and nothing failed.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/training/replicas/replica_causes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

// The first step of the optimizer on gradients that are this rank's alone; null when there is none.
const Note* first_local_step(const RankLog& log) {
  for (const Note* note : notes_of<notes::OptimizerStep>(log))
    if (!note->as<notes::OptimizerStep>().synchronised) return note;
  return nullptr;
}

bool called_in_step(const RankLog& log, std::string_view name, int step) {
  return std::any_of(log.calls.begin(), log.calls.end(),
                     [&](const Call& c) { return c.layer == Layer::program && c.name == name && c.site.step == step; });
}

// Whether some backward of the step did reduce.
bool has_reduced(const RankLog& log, const Note& step) {
  Time from{};
  for (const Note* note : notes_of<notes::OptimizerStep>(log))
    if (note->at < step.at) from = std::max(from, note->at);
  return std::any_of(log.calls.begin(), log.calls.end(), [&](const Call& c) {
    return c.purpose.kind == PurposeKind::bucket && c.issued >= from && c.issued < step.at;
  });
}

// The newest forward before the step that stands in no_sync.
const Call* forward_in_no_sync(const RankLog& log, const Note& step) {
  const Call* found = nullptr;
  for (const Call& call : log.calls) {
    if (call.layer != Layer::program || call.name != "forward" || call.issued >= step.at) continue;
    for (const Call* around = enclosing(log, call); around != nullptr; around = enclosing(log, *around))
      if (around->name == "no_sync") found = &call;
  }
  return found;
}

const Note* bypass_in_step(const RankLog& log, int step) {
  for (const Note* note : notes_of<notes::WrapperBypassed>(log))
    if (note->site.step == step) return note;
  return nullptr;
}

// A step on gradients of one rank alone, and how they became that.
struct LocalStep {
  Rank rank = 0;
  const Note* step = nullptr;
  const Note* bypass = nullptr;
  bool in_no_sync = false;
};

// Returns the first local step of each rank, among those after which replicas differ if the record shows that.
std::vector<LocalStep> local_steps(const Report& report, const std::optional<ReplicasApart>& apart) {
  std::vector<LocalStep> found;
  const auto add = [&](const RankLog& log, const Note* step, const Note* bypass) {
    found.push_back({log.rank, step, bypass, called_in_step(log, "no_sync", step->site.step)});
  };
  if (apart && !apart->at_steps) {
    for (const ReplicaWindow& window : apart->windows)
      for (const Note* step : window.steps)
        if (step->is<notes::OptimizerStep>() && !step->as<notes::OptimizerStep>().synchronised) {
          add(log_of(report.run, window.rank), step, window.bypass);
          break;
        }
    return found;
  }
  for (const RankResult& result : report.run.ranks) {
    const Note* step = has_note<notes::DdpOptions>(result.log) ? first_local_step(result.log) : nullptr;
    if (step != nullptr) add(result.log, step, bypass_in_step(result.log, step->site.step));
  }
  return found;
}

}  // namespace

std::optional<Diagnosis> gradients_not_reduced(const Report& report) {
  if (report.outcome != Outcome::ok) return std::nullopt;
  const std::optional<ReplicasApart> apart = replicas_apart(report);
  if (!apart && has_used_states(report)) return std::nullopt;  // the program averages what its steps left different
  Diagnosis d;
  const std::vector<LocalStep> steps = local_steps(report, apart);
  for (const LocalStep& local : steps) {
    add_once(d.ranks, local.rank);
    d.evidence.push_back(evidence_of(local.rank, *local.step, "the optimizer steps on gradients of this rank alone"));
  }
  if (steps.empty() || (steps.front().bypass == nullptr && !steps.front().in_no_sync)) return std::nullopt;
  const Note *first = steps.front().step, *bypass = steps.front().bypass;
  const std::string where = site_text(first->site);
  const RankLog& log = log_of(report.run, d.ranks.front());
  const bool in_part = has_reduced(log, *first);
  d.headline = fmt::format(
      "{} the optimizer {} on gradients {}", who(d.ranks, "steps", "step"), where,
      in_part ? "to which the last backward added an unaveraged part" : "that were never averaged");
  d.cause = bypass != nullptr ? "the forward went through the module and not through DDP's wrapper"
            : in_part         ? "the last forward of the step was inside no_sync"
                              : "every forward of the step was inside no_sync";
  d.why =
      "DDP arms its reducer in the wrapper's forward, if gradients are enabled and no_sync is not active. A backward "
      "whose forward did not arm it accumulates into this rank's gradients and sends nothing. No call fails and no "
      "rank waits: from here on the replicas differ, and each trains on its own part of the data.";
  if (apart) d.parameters = apart->parameters;
  if (apart && !apart->parameters.empty())
    d.why += fmt::format(" After the first such step these parameters differ between ranks: {}.", parameters_text(apart->parameters));
  if (bypass != nullptr) {
    d.fix = {"forward: {through: ddp}, that is, call the wrapped model",
             "call the wrapped model: model(x), not model.module(x)"};
    d.fix_lines = {"use model.module only for saving; call other methods of the module, such as training_step, from "
                   "its forward"};
    const bool is_seen = bypass->as<notes::WrapperBypassed>().forward;
    add_span(d, report, bypass->site.line, bypass->site.column,
             is_seen ? "bypasses the wrapper" : "the forward of this backward bypassed the wrapper", true);
  } else {
    d.fix = "leave the last forward of the step outside no_sync";
    d.fix_lines = {"the position of the forward counts; a backward outside no_sync does not help"};
  }
  const Call* forward = bypass == nullptr ? forward_in_no_sync(log, *first) : nullptr;
  if (forward != nullptr && forward->site.line != first->site.line)
    add_span(d, report, forward->site.line, forward->site.column, "this forward is inside no_sync", true);
  add_span(d, report, first->site.line, first->site.column, "uses local gradients", d.spans.empty());
  d.inevitable_at = first->at;
  d.inevitable = fmt::format("since {}: the replicas differ", to_string(first->at));
  return d;
}

std::optional<Diagnosis> loss_times_world(const Report& report) {
  Diagnosis d;
  const Note* first = nullptr;
  for (const RankResult& result : report.run.ranks) {
    if (!has_note<notes::DdpOptions>(result.log)) continue;
    for (const Note* note : notes_of<notes::LossScaled>(result.log)) {
      const auto& scaled = note->as<notes::LossScaled>();
      if (scaled.by != scaled.ranks || scaled.reduction == notes::LossReduction::sum) continue;
      if (scaled.divided_by != 1) continue;  // weights, of batches that are not of one size
      add_once(d.ranks, result.log.rank);
      if (first == nullptr) first = note;
      d.evidence.push_back(evidence_of(result.log.rank, *note, "multiplied the loss by the world size"));
      break;
    }
  }
  if (first == nullptr || report.outcome != Outcome::ok) return std::nullopt;
  const std::int64_t by = first->as<notes::LossScaled>().by;
  d.headline = fmt::format("{} a mean loss by the world size, so gradients are {} times what one process would have",
                           who(d.ranks, "multiplies", "multiply"), by);
  d.cause = fmt::format("DDP already averages over ranks, so the factor {} stays in the gradients", by);
  d.why =
      "If the loss is a mean over the rank's rows, DDP's average over ranks is already the gradient of the mean over "
      "all rows. Only a loss that is a sum must be multiplied by the world size, to undo the average. The optimizer "
      "steps as if the learning rate were larger by the same factor.";
  d.fix = {"backward: {times: 1}", "loss.backward(), without multiplying by the world size"};
  d.fix_lines = {alternative("scale the learning rate instead, if the larger batch needs it")};
  add_span(d, report, first->site.line, first->site.column, "multiplies the loss", true);
  d.inevitable_at = first->at;
  d.inevitable = fmt::format("since {}: gradients are {} times too large", to_string(first->at), by);
  return d;
}

std::optional<Diagnosis> optimizer_before_wrapper(const Report& report) {
  if (report.outcome != Outcome::ok) return std::nullopt;
  Diagnosis d;
  const Note* first = nullptr;
  bool steps = false;
  for (const RankResult& result : report.run.ranks) {
    for (const Note* note : notes_of<notes::OptimizerMade>(result.log)) {
      if (note->as<notes::OptimizerMade>().wrapped || !has_note<notes::DdpOptions>(result.log)) continue;
      d.evidence.push_back(evidence_of(result.log.rank, *note, "copied the parameters before DDP was constructed"));
      if (result.log.rank != 0) add_once(d.ranks, result.log.rank);  // rank 0's parameters are those that all get
      if (first == nullptr) first = note;
    }
    steps = steps || has_note<notes::OptimizerStep>(result.log);
  }
  if (first == nullptr || d.ranks.empty() || !steps) return std::nullopt;
  d.headline = fmt::format("the optimizer of {} works on copies that it made before DDP shared rank 0's parameters",
                           short_ranks(d.ranks));
  d.cause = "the optimizer was created before the wrapper, and keeps values, not only references";
  d.why =
      "DDP's constructor writes rank 0's parameters into those of every rank, in place. An optimizer that only refers "
      "to them is not affected. One that copied them (master weights, an average, a trust ratio) still has this rank's "
      "own initial values, and writes them back at its first step: gradients are the same on every rank, parameters "
      "are not.";
  d.fix = {"optimizer: {made: after_wrapper}, that is, create it after DistributedDataParallel",
           "create the optimizer after DistributedDataParallel"};
  d.fix_lines = {alternative("give every rank the same seed before the model is built")};
  add_span(d, report, first->site.line, first->site.column, "the copies are made here, before the wrapper", true);
  d.inevitable_at = first->at;
  d.inevitable =
      fmt::format("since {}: the copies of {} are not rank 0's parameters", to_string(first->at), short_ranks(d.ranks));
  return d;
}

constexpr std::string_view gradients_not_reduced_text =
    R"(Every rank steps on its own gradients. DDP reduces only in a backward whose forward went through the wrapper outside
no_sync; model.module(x), a method of the inner module, or a forward inside no_sync leave the reducer unarmed, without any
message.

How to recognise it: training becomes faster but worse; parameters of two ranks differ; a profile shows no all_reduce.

Fix: call the wrapped model, and leave the last forward of an accumulation outside no_sync.)";

constexpr std::string_view loss_times_world_text =
    R"(A mean loss was multiplied by the world size. DDP averages gradients over ranks, and with a mean over each rank's rows that
average is already the gradient of one process on the joined batch. The factor stays in the gradients and acts like a
larger learning rate.

How to recognise it: training diverges as ranks are added; gradient norms grow with the world size.

Fix: use no factor with a mean; the factor belongs to a loss that is a sum, or to means over different numbers of tokens.)";

constexpr std::string_view optimizer_before_wrapper_text =
    R"(The optimizer was created before DistributedDataParallel and copied the parameters: master weights, averages. DDP's constructor
then wrote rank 0's values into the parameters of every rank, and the copies kept the old values.

How to recognise it: parameters are equal after wrapping, gradients are equal in every step, and parameters differ after the first
optimizer step. Plain SGD and Adam, which keep references, do not show it.

Fix: wrap first, then create the optimizer; or give all ranks the same seed.)";

extern const DiagnosisRow gradients_not_reduced_row;
const DiagnosisRow gradients_not_reduced_row{490, "gradients-not-reduced",
                                             "the optimizer stepped on gradients that DDP did not reduce",
                                             gradients_not_reduced, gradients_not_reduced_text};
extern const DiagnosisRow loss_times_world_row;
const DiagnosisRow loss_times_world_row{500, "loss-times-world", "a mean loss was multiplied by the world size",
                                        loss_times_world, loss_times_world_text};
extern const DiagnosisRow optimizer_before_wrapper_row;
const DiagnosisRow optimizer_before_wrapper_row{530, "optimizer-before-wrapper",
                                                "the optimizer copied parameters before DDP shared them",
                                                optimizer_before_wrapper, optimizer_before_wrapper_text};

}  // namespace pdsim::scenarios::diagnoses
