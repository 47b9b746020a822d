#include "scenarios/diagnosis/rules/training/replicas/replica_causes.h"

#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/training/replicas/replica_inputs.h"
#include "scenarios/diagnosis/rules/training/skipped_step.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

// The step that some ranks left out. Where the record has states after steps alone, the places of all steps tell it.
std::optional<SkippedStep> skipped_in(const Report& report, const ReplicasApart& apart) {
  if (!apart.nth) return std::nullopt;
  if (apart.at_steps) return skipped_step(report, *apart.nth);
  SkippedStep found;
  for (const ReplicaWindow& window : apart.windows) {
    const bool makes = *apart.nth < window.steps.size();
    (makes ? found.makers : found.skippers).push_back(window.rank);
    if (makes && found.step == nullptr) found.step = window.steps[*apart.nth];
  }
  return found.step == nullptr || found.skippers.empty() ? std::nullopt : std::optional(std::move(found));
}

// By a scaler, on any of the ranks.
const Note* scaler_of(const ReplicasApart& apart, const std::vector<Rank>& skippers) {
  for (const ReplicaWindow& window : apart.windows)
    if (contains(skippers, window.rank) && !window.skipped.empty()) return window.skipped.back();
  return nullptr;
}

void tell_skipped(Diagnosis& d, const Report& report, const ReplicasApart& apart, const SkippedStep& skipped) {
  const bool by_few = skipped.makers.size() < skipped.skippers.size();
  d.ranks = by_few ? skipped.makers : skipped.skippers;
  const std::vector<Rank>& rest = by_few ? skipped.skippers : skipped.makers;
  const std::string place = fmt::format("the optimizer step {}", site_text(skipped.step->site));
  d.cause = by_few ? fmt::format("{} {} and {} not", who(d.ranks, "makes", "make"), place, who(rest, "does", "do"))
                   : fmt::format("{} {}, which {}", who(d.ranks, "leaves out", "leave out"), place,
                                 who(rest, "makes", "make"));
  d.headline = "the replicas differ: " + d.cause;
  d.why = fmt::format(
      "DDP averages gradients and leaves the step to each rank's own optimizer. {}, so there the parameters change on "
      "some ranks and not on the others.",
      capitalised(d.cause));
  d.fix = "make the step on every rank, or on none";
  d.fix_lines = {{"if a rank skips it because of its own gradients or scaler (NaN, an overflow), tell the others "
                  "first: all_reduce the flag, then all ranks skip it or none",
                  "if a rank skips it because of its own loss or gradients, tell the others first: "
                  "dist.all_reduce(found, op=dist.ReduceOp.MAX), then all ranks skip it or none"}};
  d.evidence.push_back(evidence_of(skipped.makers.front(), *skipped.step, fmt::format("makes {}", place)));
  add_span(d, report, skipped.step->site.line, skipped.step->site.column,
           fmt::format("{} {}, {}", who(skipped.makers, "steps", "step"), site_text(skipped.step->site),
                       who(skipped.skippers, "does not", "do not")),
           true);
  if (const Note* scaler = scaler_of(apart, skipped.skippers)) {
    d.why += fmt::format(" The gradient scaler of {} found an infinity or a NaN and made no step.", short_ranks(skipped.skippers));
    d.evidence.push_back(evidence_of(skipped.skippers.front(), *scaler, "its scaler makes no step"));
    add_span(d, report, scaler->site.line, scaler->site.column, "the scaler makes no step here", false);
  }
  if (skipped.step->site.line <= 0 || !apart.at_steps) return;
  const Mark mark = mark_of(skipped.step->site);
  d.cures.push_back({fmt::format("every rank makes optimizer_step at line {}", mark.line),
                     [mark](Scenario& changed) { step_on_all_ranks(changed.program, mark); }, std::nullopt, true});
}

// A setting of the optimizer that is not the same on all ranks.
struct SettingApart {
  std::string name;
  const Note* step = nullptr;  // of a rank that is not as most are
  Rank rank = 0;
  std::vector<Rank> ranks;  // that are not as most are; empty: none is most ranks'
  std::map<std::string, std::vector<Rank>> by_value;
};

const std::string* setting_of(const Note* step, const std::string& name) {
  if (!step->is<notes::OptimizerStep>()) return nullptr;
  const auto& made = step->as<notes::OptimizerStep>();
  for (std::size_t i = 0; i < std::min(made.settings.size(), made.values.size()); ++i)
    if (made.settings[i] == name) return &made.values[i];
  return nullptr;
}

std::optional<SettingApart> setting_apart_in(const ReplicasApart& apart, std::size_t nth) {
  const Note* first = nth < apart.windows.front().steps.size() ? apart.windows.front().steps[nth] : nullptr;
  if (first == nullptr || !first->is<notes::OptimizerStep>()) return std::nullopt;
  for (const std::string& name : first->as<notes::OptimizerStep>().settings) {
    SettingApart found{name, nullptr, 0, {}, {}};
    for (const ReplicaWindow& window : apart.windows)
      if (const std::string* value = nth < window.steps.size() ? setting_of(window.steps[nth], name) : nullptr)
        found.by_value[*value].push_back(window.rank);
    if (found.by_value.size() < 2) continue;
    found.ranks = minority_of(found.by_value);
    for (const ReplicaWindow& window : apart.windows) {
      const bool is_meant = found.ranks.empty() || contains(found.ranks, window.rank);
      if (found.step == nullptr && is_meant && nth < window.steps.size()) found.step = window.steps[nth], found.rank = window.rank;
    }
    return found;
  }
  return std::nullopt;
}

std::optional<SettingApart> setting_apart(const ReplicasApart& apart) {
  if (apart.at_steps) return setting_apart_in(apart, 0);
  for (std::size_t nth = 0; apart.nth && nth <= *apart.nth; ++nth)
    if (std::optional<SettingApart> found = setting_apart_in(apart, nth)) return found;
  return std::nullopt;
}

// The lines at which the ranks step otherwise than `usual` does, and its own lines of the same steps.
OptionsApart steps_apart(const Report& report, const std::vector<Rank>& ranks, Rank usual) {
  OptionsApart apart;
  const std::vector<const Note*> wanted = notes_of<notes::OptimizerStep>(log_of(report.run, usual));
  for (const Rank rank : ranks) {
    const std::vector<const Note*> made = notes_of<notes::OptimizerStep>(log_of(report.run, rank));
    for (std::size_t i = 0; i < std::min(made.size(), wanted.size()); ++i) {
      const auto& mine = made[i]->as<notes::OptimizerStep>();
      const auto& others = wanted[i]->as<notes::OptimizerStep>();
      const Mark from = mark_of(made[i]->site), to = mark_of(wanted[i]->site);
      const bool is_known = std::any_of(apart.from.begin(), apart.from.end(), [&](const Mark& known) {
        return known.line == from.line && known.column == from.column;
      });
      if (mine.values == others.values || is_known || (from.line == to.line && from.column == to.column)) continue;
      apart.from.push_back(from);
      apart.to.push_back(to);
    }
  }
  return apart;
}

void propose_settings(Diagnosis& d, const Report& report, const ReplicasApart& apart, const SettingApart& setting) {
  if (!apart.at_steps || setting.step->site.line <= 0) return;
  std::vector<Rank> usual = apart.members();
  std::erase_if(usual, [&](Rank rank) { return contains(setting.ranks, rank); });
  const std::vector<Rank> own = setting.ranks.empty() ? std::vector<Rank>(usual.begin() + 1, usual.end()) : setting.ranks;
  OptionsApart steps = steps_apart(report, own, usual.front());
  if (steps.from.empty()) return;
  std::vector<std::string> lines;
  for (const Mark& mark : steps.from) lines.push_back(std::to_string(mark.line));
  const std::string whose = setting.ranks.empty() ? short_ranks({usual.front()}) : "the other ranks";
  d.cures.push_back(options_of_the_others(
      fmt::format("optimizer_step at line{} {} with the settings of {}", lines.size() == 1 ? "" : "s", list_text(lines), whose),
      std::move(steps)));
}

std::string word_for_setting(const std::string& name) {
  if (name == "lr") return "learning rate";
  return name == "unscale" ? "scale of the gradients" : name;
}

void tell_setting(Diagnosis& d, const Report& report, const ReplicasApart& apart, const SettingApart& setting) {
  d.ranks = setting.ranks.empty() ? apart.members() : setting.ranks;
  const std::string word = word_for_setting(setting.name);
  std::vector<std::string> values;
  for (const auto& [value, ranks] : setting.by_value) values.push_back(fmt::format("{} on {}", value, short_ranks(ranks)));
  d.cause = fmt::format("the optimizer's {} is {}", word, list_text(values));
  d.why = fmt::format(
      "DDP averages gradients and leaves the step to each rank's own optimizer: with a different {} the same gradient "
      "changes the parameters differently. It is {}.",
      word, list_text(values));
  d.fix = {fmt::format("give the optimizer of every rank the same {}", word),
           setting.name == "lr" ? "give every rank the same learning rate: values = [lr]; dist.broadcast_object_list(values, src=0); "
                                  "for group in optimizer.param_groups: group[\"lr\"] = values[0]"
                                : fmt::format("give the optimizer of every rank the same {}", word)};
  d.fix_lines = {setting.name == "unscale"
                     ? "use one gradient scaler whose scale all ranks share: all_reduce its overflow flag before it "
                       "updates"
                     : "a scheduler that follows a rank's own loss or number of batches decides alone: decide on one "
                       "rank and broadcast, or all_reduce the values that the decision depends on"};
  d.evidence.push_back(evidence_of(setting.rank, *setting.step, fmt::format("stepped with a {} of its own", word)));
  add_span(d, report, setting.step->site.line, setting.step->site.column,
           fmt::format("{} with a {} of {} own", who(d.ranks, "steps", "step"), word, d.ranks.size() == 1 ? "its" : "their"), true);
  propose_settings(d, report, apart, setting);
}

// The first step up to the one that shows a difference whose gradients are not the average of all; null: there is none.
const Note* local_step(const ReplicasApart& apart, Rank& rank) {
  for (const ReplicaWindow& window : apart.windows)
    for (std::size_t nth = 0; apart.nth && !apart.at_steps && nth < window.steps.size() && nth <= *apart.nth; ++nth)
      if (window.steps[nth]->is<notes::OptimizerStep>() && !window.steps[nth]->as<notes::OptimizerStep>().synchronised) {
        rank = window.rank;
        return window.steps[nth];
      }
  return nullptr;
}

void tell_local(Diagnosis& d, const Report& report, const Note& step, Rank rank) {
  d.cause = fmt::format("before the optimizer step {} a backward added gradients that DDP did not reduce", site_text(step.site));
  d.why =
      "A forward of the wrapper arms DDP's reducer for one backward. A second backward of the same forward, such as "
      "one for each of two losses, accumulates into each rank's own gradients and sends nothing.";
  d.fix = {"one backward for each forward of the wrapper", "one backward for each forward of the wrapper: (first + second).backward()"};
  d.fix_lines = {alternative("the first backward inside no_sync, with its own forward, and the last one outside")};
  d.evidence.push_back(evidence_of(rank, step, "steps on gradients that are not the average of all"));
  const RankLog& log = log_of(report.run, rank);
  const Call* backward = nullptr;
  for (const Call& call : log.calls)
    if (call.layer == Layer::program && call.name == "backward" && call.site.step == step.site.step) backward = &call;
  if (backward != nullptr) add_span(d, report, backward->site.line, backward->site.column, "the last backward before the step", true);
}

// The ranks whose parameters changed after their last step, where those of the others did not.
std::vector<Rank> changed_alone(const ReplicasApart& apart) {
  std::vector<Rank> changed;
  for (const ReplicaWindow& window : apart.windows)
    if (window.changed_between()) changed.push_back(window.rank);
  return changed;
}

void tell_changed(Diagnosis& d, const Report& report, const ReplicasApart& apart, const std::vector<Rank>& changed) {
  d.ranks = changed;
  const auto of = std::find_if(apart.windows.begin(), apart.windows.end(),
                               [&](const ReplicaWindow& window) { return window.rank == changed.front(); });
  const Note* before = of->states.empty() ? of->from : of->states.back();
  const bool after_step = !of->states.empty() || before->as<notes::ReplicaState>().moment == notes::ReplicaMoment::step;
  const std::string since = after_step ? fmt::format("after the optimizer step {}", site_text(before->site)) : "after the model was wrapped";
  const std::string what = apart.parameters.empty() ? "the parameters" : parameters_text(apart.parameters);
  d.cause = fmt::format("{} {} {}, outside of the optimizer", who(changed, "changed", "changed"), what, since);
  d.headline = "the replicas differ: " + d.cause;
  d.why = fmt::format(
      "DDP gives every rank the parameters of rank 0 in its constructor and averages gradients; it never compares "
      "parameters again. They were the same on all ranks {}, but not in the next forward: the program itself wrote "
      "them in between, by hand, by loading a checkpoint or by initialising a layer again, and the difference remains.",
      since);
  d.fix = {"make the same change on every rank, or broadcast the parameters from one rank afterwards",
           "make the same change on every rank, or broadcast afterwards: for p in model.parameters(): dist.broadcast(p.data, src=0)"};
  d.fix_lines = {alternative("change them before DistributedDataParallel, whose constructor gives rank 0's values to "
                             "all ranks")};
  d.evidence.push_back(evidence_of(changed.front(), *of->to, "begins a forward with changed parameters"));
  add_span(d, report, of->to->site.line, of->to->site.column, fmt::format("{} here with changed parameters", who(changed, "comes", "come")), true);
  add_span(d, report, before->site.line, before->site.column, "here they are still the same on all ranks", false);
}

}  // namespace

ReplicaCause cause_of(const Report& report, const ReplicasApart& apart) {
  if (skipped_in(report, apart)) return ReplicaCause::skipped;
  if (setting_apart(apart)) return ReplicaCause::setting;
  Rank rank = no_rank;
  if (local_step(apart, rank) != nullptr) return ReplicaCause::local;
  if (gradients_apart(apart) || clipped_apart(report, apart)) return ReplicaCause::gradients;
  if (state_apart(apart)) return ReplicaCause::state;
  return apart.at_steps || apart.nth || changed_alone(apart).empty() ? ReplicaCause::none : ReplicaCause::changed;
}

bool tell_cause(Diagnosis& d, const Report& report, const ReplicasApart& apart) {
  switch (cause_of(report, apart)) {
    case ReplicaCause::none:
      return false;
    case ReplicaCause::skipped:
      tell_skipped(d, report, apart, *skipped_in(report, apart));
      return true;
    case ReplicaCause::setting:
      tell_setting(d, report, apart, *setting_apart(apart));
      return true;
    case ReplicaCause::local: {
      Rank rank = no_rank;
      const Note* step = local_step(apart, rank);
      tell_local(d, report, *step, rank);
      return true;
    }
    case ReplicaCause::gradients:
      if (const std::optional<InputApart> found = gradients_apart(apart)) {
        tell_gradients(d, report, apart, *found);
      } else {
        tell_clipped(d, report, apart, *clipped_apart(report, apart));
      }
      return true;
    case ReplicaCause::state:
      tell_state(d, report, apart, *state_apart(apart));
      return true;
    case ReplicaCause::changed:
      tell_changed(d, report, apart, changed_alone(apart));
      return true;
  }
  return false;
}

std::string parameters_text(const std::vector<std::string>& parameters) {
  constexpr std::size_t most = 6;
  if (parameters.size() <= most) return list_text(parameters);
  const std::vector<std::string> first(parameters.begin(), parameters.begin() + most);
  return fmt::format("{} and {} more", list_text(first), parameters.size() - most);
}

}  // namespace pdsim::scenarios::diagnoses
