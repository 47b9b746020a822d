#include "scenarios/diagnosis/rules/training/replicas/replica_inputs.h"

#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/training/replicas/replica_causes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

using Digest = std::int64_t notes::OptimizerStep::*;

// The ranks by what their nth steps began with; nothing where a record does not say it.
std::optional<std::map<std::int64_t, std::vector<Rank>>> ranks_by(const ReplicasApart& apart, std::size_t nth, Digest digest) {
  std::map<std::int64_t, std::vector<Rank>> camps;
  for (const ReplicaWindow& window : apart.windows) {
    if (nth >= window.steps.size() || !window.steps[nth]->is<notes::OptimizerStep>()) return std::nullopt;
    const std::int64_t value = window.steps[nth]->as<notes::OptimizerStep>().*digest;
    if (value == notes::OptimizerStep::unknown) return std::nullopt;
    camps[value].push_back(window.rank);
  }
  return camps;
}

// The first step up to the one that shows a difference for which the ranks had the same `before`, and another `now`.
std::optional<InputApart> input_apart(const ReplicasApart& apart, Digest before, Digest now) {
  if (!apart.nth) return std::nullopt;
  const std::size_t last = apart.at_steps ? 0 : *apart.nth;
  for (std::size_t nth = 0; nth <= last; ++nth) {
    const auto same = ranks_by(apart, nth, before), camps = ranks_by(apart, nth, now);
    if (!same || same->size() > 1 || !camps || camps->size() < 2) continue;
    InputApart found{nullptr, minority_of(*camps)};
    for (const ReplicaWindow& window : apart.windows)
      if (found.step == nullptr && (found.ranks.empty() || contains(found.ranks, window.rank))) found.step = window.steps[nth];
    return found;
  }
  return std::nullopt;
}

const Call* clip_in_step(const RankLog& log, int step) {
  const auto found = std::find_if(log.calls.begin(), log.calls.end(), [step](const Call& call) {
    return call.layer == Layer::program && call.name == "clip_grad_norm" && call.site.step == step;
  });
  return found == log.calls.end() ? nullptr : &*found;
}

}  // namespace

std::optional<InputApart> gradients_apart(const ReplicasApart& apart) {
  return input_apart(apart, &notes::OptimizerStep::averaged, &notes::OptimizerStep::gradients);
}

std::optional<InputApart> state_apart(const ReplicasApart& apart) {
  return input_apart(apart, &notes::OptimizerStep::gradients, &notes::OptimizerStep::state);
}

void tell_gradients(Diagnosis& d, const Report& report, const ReplicasApart& apart, const InputApart& found) {
  d.ranks = found.ranks.empty() ? apart.members() : found.ranks;
  const std::string place = fmt::format("the optimizer step {}", site_text(found.step->site));
  d.cause = found.ranks.empty() ? fmt::format("gradients changed between the backward and {}, not in the same way on {}", place, short_ranks(d.ranks))
                                : fmt::format("{} {} gradients between the backward and {}", who(d.ranks, "changed", "changed"),
                                              d.ranks.size() == 1 ? "its" : "their", place);
  d.headline = "the replicas differ: " + d.cause;
  d.why = fmt::format(
      "DDP averages gradients in backward: when it returned they were the same on {}, and when the step began they were not. Whatever "
      "changes them in between must do the same on every rank: a factor, clipping, noise, a gradient scaler's unscale_.",
      apart.windows.size() == report.run.ranks.size() ? "all ranks" : short_ranks(apart.members()));
  d.fix = {"make the same change of the gradients on every rank, or none",
           "make the same change of the gradients on every rank, or change the loss before backward: DDP averages what comes of it"};
  d.fix_lines = {"a factor, a norm or a seed that the change goes by comes from one rank: dist.broadcast, or all_reduce what it rests on"};
  d.evidence.push_back(evidence_of(d.ranks.front(), *found.step, "steps on gradients that are not those that DDP averaged"));
  add_span(d, report, found.step->site.line, found.step->site.column,
           found.ranks.empty() ? "the gradients are not the same on all ranks here"
                               : fmt::format("{} here with gradients of {} own", who(d.ranks, "comes", "come"), d.ranks.size() == 1 ? "its" : "their"),
           true);
}

void tell_state(Diagnosis& d, const Report& report, const ReplicasApart& apart, const InputApart& found) {
  d.ranks = found.ranks.empty() ? apart.members() : found.ranks;
  const std::string place = fmt::format("the optimizer step {}", site_text(found.step->site));
  d.cause = found.ranks.empty()
                ? fmt::format("the optimizer's state (momentum, moments) is not the same on {} when {} begins", short_ranks(d.ranks), place)
                : fmt::format("{} {} with an optimizer's state (momentum, moments) of {} own", who(d.ranks, "begins", "begin"), place,
                              d.ranks.size() == 1 ? "its" : "their");
  d.headline = "the replicas differ: " + d.cause;
  d.why =
      "DDP averages gradients and shares nothing of the optimizer. The ranks stepped on the same gradients with the same settings; what "
      "their optimizers had kept of earlier steps was not the same: loaded, reset or made on some ranks alone.";
  d.fix = {"give the optimizer of every rank the same state", "load the optimizer's state on every rank: optimizer.load_state_dict(...)"};
  d.fix_lines = {alternative("broadcast optimizer.state_dict() from the rank that loaded it, with broadcast_object_list")};
  d.evidence.push_back(evidence_of(d.ranks.front(), *found.step, "begins a step with another state of the optimizer"));
  add_span(d, report, found.step->site.line, found.step->site.column,
           found.ranks.empty() ? "the optimizer's state is not the same on all ranks here"
                               : fmt::format("{} here with another state of the optimizer", who(d.ranks, "comes", "come")),
           true);
}

std::optional<ClippedApart> clipped_apart(const Report& report, const ReplicasApart& apart) {
  const Note* step = apart.step();
  if (!apart.at_steps || step == nullptr) return std::nullopt;
  std::map<std::pair<int, int>, std::vector<Rank>> camps;  // by the place where they clip; 0: they do not
  std::map<std::pair<int, int>, const Call*> clips;
  for (const ReplicaWindow& window : apart.windows) {
    const Call* clip = clip_in_step(log_of(report.run, window.rank), step->site.step);
    const auto place = clip == nullptr ? std::pair{0, 0} : std::pair{clip->site.line, clip->site.column};
    camps[place].push_back(window.rank);
    clips.emplace(place, clip);
  }
  const auto clip = std::find_if(clips.rbegin(), clips.rend(), [](const auto& c) { return c.second != nullptr; });
  if (camps.size() < 2 || clip == clips.rend()) return std::nullopt;
  ClippedApart found{clip->second, {}, nullptr, minority_of(camps)};
  if (clips.begin()->second == nullptr) {
    for (const auto& [place, ranks] : camps)
      if (clips[place] != nullptr) found.clippers.insert(found.clippers.end(), ranks.begin(), ranks.end());
    std::sort(found.clippers.begin(), found.clippers.end());
    return found;
  }
  if (camps.size() > 2) return std::nullopt;
  const bool last_is_usual = contains(found.ranks, camps.begin()->second.front());
  found.clip = last_is_usual ? clips.begin()->second : clips.rbegin()->second;
  found.usual = last_is_usual ? clips.rbegin()->second : clips.begin()->second;
  found.clippers = last_is_usual ? camps.begin()->second : camps.rbegin()->second;
  return found;
}

namespace {

void tell_other_clip(Diagnosis& d, const Report& report, const ClippedApart& found) {
  const Mark mine = mark_of(found.clip->site), usual = mark_of(found.usual->site);
  d.cause = fmt::format("{} {} gradients at line {} before the optimizer step {}, and the other ranks at line {}", short_ranks(found.clippers),
                        found.clippers.size() == 1 ? "clips its" : "clip their", mine.line, site_text(found.clip->site), usual.line);
  d.evidence.push_back(evidence_of(found.clippers.front(), *found.clip, "clips the gradients of this rank"));
  add_span(d, report, mine.line, mine.column, fmt::format("{} here", who(found.clippers, "clips", "clip")), true);
  add_span(d, report, usual.line, usual.column, "the other ranks clip here", false);
  d.cures.push_back(options_of_the_others(fmt::format("clip_grad_norm at line {} by the norm of line {}", mine.line, usual.line), {{mine}, {usual}}));
}

void tell_lone_clip(Diagnosis& d, const Report& report, const ClippedApart& found) {
  const Mark mark = mark_of(found.clip->site);
  const std::string place = mark.line > 0 ? fmt::format(" (line {})", mark.line) : std::string();
  const char* verb = found.clippers.size() == 1 ? "clips its" : "clip their";
  d.cause = fmt::format("only {} {} gradients before the optimizer step {}{}", short_ranks(found.clippers), verb, site_text(found.clip->site), place);
  d.evidence.push_back(evidence_of(found.clippers.front(), *found.clip, "clips the gradients of this rank"));
  add_span(d, report, mark.line, mark.column, fmt::format("{} here", who(found.clippers, "clips", "clip")), true);
  if (mark.line > 0) d.cures.push_back(on_all_ranks(fmt::format("every rank makes clip_grad_norm at line {}", mark.line), mark));
}

}  // namespace

void tell_clipped(Diagnosis& d, const Report& report, const ReplicasApart& apart, const ClippedApart& found) {
  d.ranks = found.ranks.empty() ? apart.members() : found.ranks;
  d.why = "DDP averages gradients in backward. Clipping scales each rank's own copy of them, so it must do the same on every rank.";
  d.fix = {"clip on every rank by the same norm, or on none", "torch.nn.utils.clip_grad_norm_ with the same arguments on every rank"};
  if (found.usual != nullptr) {
    tell_other_clip(d, report, found);
  } else {
    tell_lone_clip(d, report, found);
  }
  d.headline = "the replicas differ: " + d.cause;
}

}  // namespace pdsim::scenarios::diagnoses
