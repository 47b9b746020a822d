// Replicas that went apart although nothing failed: the parameters of all ranks, compared after each step of the optimizer.
#include "scenarios/diagnosis/rules/training/replicas.h"

#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/training/skipped_step.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

struct ReplicasApart {
  std::size_t step = 0;  // of the optimizer, from 0
  std::vector<std::string> parameters;
  std::vector<Rank> ranks;  // that are not as most are; empty: no value is most ranks'
};

const std::vector<double>* digests_of(const RankResult& result, const std::string& name) {
  const auto found = result.values.find(name);
  return found == result.values.end() ? nullptr : &found->second;
}

std::vector<Rank> minority(const Report& report, const std::string& name, std::size_t step) {
  std::map<double, std::vector<Rank>> camps;
  for (const RankResult& result : report.run.ranks)
    if (const auto* digests = digests_of(result, name); digests != nullptr && step < digests->size())
      camps[(*digests)[step]].push_back(result.log.rank);
  const auto largest = std::max_element(camps.begin(), camps.end(),
                                        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<Rank> ranks;
  for (const auto& [digest, camp] : camps) {
    if (digest == largest->first) continue;
    if (camp.size() == largest->second.size()) return {};
    ranks.insert(ranks.end(), camp.begin(), camp.end());
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

// The first step after which some parameter differs between ranks.
std::optional<ReplicasApart> first_replicas_apart(const Report& report) {
  std::optional<ReplicasApart> first;
  if (report.run.ranks.size() < 2) return first;
  for (const auto& value : report.run.ranks.front().values) {
    const std::string& name = value.first;
    const std::vector<double>& mine = value.second;
    if (!name.starts_with(replica_value)) continue;
    std::size_t at = mine.size();
    for (const RankResult& result : report.run.ranks) {
      const auto* theirs = digests_of(result, name);
      if (theirs == nullptr) return std::nullopt;  // it has another model
      const std::size_t both = std::min(at, theirs->size());
      at = std::min(at, static_cast<std::size_t>(std::mismatch(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(both),
                                                               theirs->begin())
                                                     .first -
                                                 mine.begin()));
    }
    const auto shortest = std::min_element(report.run.ranks.begin(), report.run.ranks.end(), [&](const auto& a, const auto& b) {
      return digests_of(a, name)->size() < digests_of(b, name)->size();
    });
    if (at >= digests_of(*shortest, name)->size() || (first && at > first->step)) continue;
    if (!first || at < first->step) first = ReplicasApart{at, {}, minority(report, name, at)};
    first->parameters.push_back(name.substr(replica_value.size()));
  }
  return first;
}

// A checkpoint that some ranks alone loaded before that.
std::vector<Rank> loaded_alone(const Report& report, Time before, const Note*& load) {
  std::vector<Rank> ranks;
  for (const RankResult& result : report.run.ranks) {
    const Note* read = first_note<notes::FileRead>(result.log);
    if (read == nullptr || read->at > before) continue;
    ranks.push_back(result.log.rank);
    if (load == nullptr) load = read;
  }
  if (ranks.size() == report.run.ranks.size()) load = nullptr;
  return load == nullptr ? std::vector<Rank>{} : ranks;
}

void tell_load(Diagnosis& d, const Report& report, const std::vector<Rank>& ranks, const Note& load) {
  const std::string& path = load.as<notes::FileRead>().path;
  d.ranks = ranks;
  d.cause = fmt::format("{} {}, and the other ranks did not", who(ranks, "loaded", "loaded"), path);
  d.why = fmt::format(
      "DDP gives every rank the parameters of rank 0 once, in its constructor, and never again: afterwards it averages "
      "gradients, so replicas stay as far apart as they are. {} loaded {} into a model that was wrapped already.",
      capitalised(ranks_text(ranks)), path);
  d.fix = "load the checkpoint on every rank, or load it before DistributedDataParallel, whose constructor gives rank 0's values "
          "to all";
  d.fix_lines = {alternative("broadcast the parameters from the rank that loaded them")};
  d.evidence.push_back(evidence_of(ranks.front(), load, fmt::format("loaded {}", path)));
  add_span(d, report, load.site.line, load.site.column, fmt::format("only {} it", who(ranks, "loads", "load")), true);
  if (load.site.line <= 0) return;
  const Mark mark{load.site.line, load.site.column, 1};
  d.cures.push_back({fmt::format("every rank loads {} (line {})", path, mark.line),
                     [mark](Scenario& changed) {
                       for (Operation& op : changed.program)
                         if (op.mark.line == mark.line && op.mark.column == mark.column) op.when.any.clear();
                     },
                     std::nullopt});
}

std::vector<std::string> last_parameters_apart(const Report& report) {
  std::vector<std::string> names;
  for (const auto& [name, mine] : report.run.ranks.front().values) {
    if (!name.starts_with(replica_value) || mine.empty()) continue;
    const bool differ = std::any_of(report.run.ranks.begin(), report.run.ranks.end(),
                                    [of = name, last = mine.back()](const RankResult& r) {
                                      const auto* theirs = digests_of(r, of);
                                      return theirs != nullptr && !theirs->empty() && theirs->back() != last;
                                    });
    if (differ) names.push_back(name.substr(replica_value.size()));
  }
  return names;
}

std::string place_of_step(const Note& step) { return fmt::format("the optimizer step {}", site_text(step.site)); }

void tell_skipped(Diagnosis& d, const Report& report, const SkippedStep& skipped) {
  const bool by_few = skipped.makers.size() < skipped.skippers.size();
  d.ranks = by_few ? skipped.makers : skipped.skippers;
  const std::vector<Rank>& rest = by_few ? skipped.skippers : skipped.makers;
  const std::string place = place_of_step(*skipped.step);
  d.cause = by_few ? fmt::format("{} {} and {} not", who(d.ranks, "makes", "make"), place, who(rest, "does", "do"))
                   : fmt::format("{} {}, which {}", who(d.ranks, "leaves out", "leave out"), place,
                                 who(rest, "makes", "make"));
  d.headline = "the replicas differ: " + d.cause;
  d.why = fmt::format(
      "DDP averages gradients and leaves the step to each rank's own optimizer. {}, so the parameters move there on "
      "some ranks "
      "and not on the others.",
      capitalised(d.cause));
  d.fix = "let every rank make the step, or none";
  d.fix_lines = {
      "a rank that skips it by its own gradients or scaler (NaN, an overflow) tells the others first: all_reduce what "
      "it "
      "found, then all skip or none"};
  d.evidence.push_back(evidence_of(skipped.makers.front(), *skipped.step, fmt::format("makes {}", place)));
  add_span(d, report, skipped.step->site.line, skipped.step->site.column,
           fmt::format("{} {}, {}", who(skipped.makers, "steps", "step"), site_text(skipped.step->site),
                       who(skipped.skippers, "does not", "do not")),
           true);
  if (skipped.step->site.line <= 0) return;
  const Mark mark{skipped.step->site.line, skipped.step->site.column, 1};
  d.cures.push_back({fmt::format("every rank makes optimizer_step at line {}", mark.line),
                     [mark](Scenario& changed) { step_on_all_ranks(changed.program, mark); }, std::nullopt, true});
}

// A step that some ranks alone made at the end: no step after it shows parameters that differ.
std::optional<Diagnosis> last_step_apart(const Report& report) {
  std::size_t fewest = SIZE_MAX;
  for (const RankResult& result : report.run.ranks)
    fewest = std::min(fewest, notes_of<notes::OptimizerStep>(result.log).size());
  const std::optional<SkippedStep> skipped = skipped_step(report, fewest);
  if (!skipped) return std::nullopt;
  Diagnosis d;
  d.parameters = last_parameters_apart(report);
  if (d.parameters.empty()) return std::nullopt;
  tell_skipped(d, report, *skipped);
  d.why += fmt::format(
      " At the end {}: {}. No call failed.",
      d.parameters.size() == 1 ? "one parameter differs" : fmt::format("{} parameters differ", d.parameters.size()),
      list_text(d.parameters));
  d.inevitable_at = skipped->step->at;
  d.inevitable = fmt::format("since {}: the replicas are different models", to_string(d.inevitable_at));
  return d;
}

// A setting of the optimizer that is not the same on all ranks.
struct SettingApart {
  std::string name;
  std::size_t step = 0;
  std::vector<Rank> ranks;  // that are not as most are; empty: none is most ranks'
  std::map<double, std::vector<Rank>> by_value;
};

// The earliest, up to this step of the optimizer.
std::optional<SettingApart> setting_apart(const Report& report, std::size_t until) {
  std::optional<SettingApart> first;
  for (const auto& [name, mine] : report.run.ranks.front().values) {
    if (!name.starts_with(step_setting_value)) continue;
    for (std::size_t step = 0; step < mine.size() && step <= until && (!first || step < first->step); ++step) {
      std::map<double, std::vector<Rank>> by_value;
      for (const RankResult& result : report.run.ranks)
        if (const auto* values = digests_of(result, name); values != nullptr && step < values->size())
          by_value[(*values)[step]].push_back(result.log.rank);
      if (by_value.size() < 2) continue;
      first = SettingApart{name.substr(step_setting_value.size()), step, minority(report, name, step), std::move(by_value)};
    }
  }
  return first;
}

std::string word_for_setting(const std::string& name) {
  if (name == "lr") return "learning rate";
  return name == "unscale" ? "scale of the gradients" : name;
}

// Where this rank made the n-th step.
const Note* step_note(const RankLog& log, std::size_t step) {
  for (const Note* note : notes_of<notes::OptimizerStep>(log))
    if (step-- == 0) return note;
  return nullptr;
}

void tell_setting(Diagnosis& d, const Report& report, const SettingApart& apart) {
  d.ranks = apart.ranks.empty() ? others(report, {}) : apart.ranks;
  const std::string word = word_for_setting(apart.name);
  std::vector<std::string> values;
  for (const auto& [value, ranks] : apart.by_value) values.push_back(fmt::format("{} on {}", value, ranks_text(ranks)));
  d.cause = fmt::format("the optimizer's {} is {}", word, list_text(values));
  d.why = fmt::format(
      "DDP averages gradients and leaves the step to each rank's own optimizer: with another {} the same gradient moves "
      "the parameters elsewhere. It is {}.",
      word, list_text(values));
  d.fix = fmt::format("give the optimizer of every rank the same {}", word);
  d.fix_lines = {apart.name == "unscale"
                     ? "one gradient scaler whose scale all ranks share: all_reduce what it found before it updates"
                     : "a scheduler that goes by a rank's own loss or its own number of batches decides alone: decide on one "
                       "rank and broadcast, or all_reduce what the decision rests on"};
  const Note* step = step_note(log_of(report.run, d.ranks.front()), apart.step);
  if (step == nullptr) return;
  d.evidence.push_back(evidence_of(d.ranks.front(), *step, fmt::format("stepped with a {} of its own", word)));
  add_span(d, report, step->site.line, step->site.column, fmt::format("{} with a {} of its own",
                                                                      who(d.ranks, "steps", "step"), word), true);
}

struct BeginningApart {
  std::vector<std::string> tensors;
  std::vector<Rank> ranks;  // that are not as most are in the first of these; empty: no value is most ranks'
};

// What differs between ranks before the first forward, of the tensors whose digests have this name.
std::optional<BeginningApart> beginning_apart(const Report& report, std::string_view value) {
  std::optional<BeginningApart> apart;
  for (const auto& [name, mine] : report.run.ranks.front().values) {
    if (!name.starts_with(value) || mine.empty()) continue;
    const bool differ = std::any_of(report.run.ranks.begin(), report.run.ranks.end(), [of = name, first = mine.front()](const RankResult& r) {
      const auto* theirs = digests_of(r, of);
      return theirs != nullptr && !theirs->empty() && theirs->front() != first;
    });
    if (!differ) continue;
    if (!apart) apart = BeginningApart{{}, minority(report, name, 0)};
    apart->tensors.push_back(name.substr(value.size()));
  }
  return apart;
}

// The ranks built their models from random numbers of their own, and the wrapper shares none.
void tell_built(Diagnosis& d, const Report& report, const BeginningApart& built) {
  d.parameters = built.tensors;
  d.ranks = built.ranks.empty() ? others(report, {}) : built.ranks;
  d.cause = "each rank initialised its model with random numbers of its own, and init_sync: false shares no parameters";
  d.why =
      "The constructor of DDP gives every rank the parameters of rank 0, unless init_sync is false. Then the ranks train the models "
      "that they built, and averaged gradients keep them as far apart as they were. The seeds of the ranks differ where the model is "
      "built.";
  d.fix = {"ddp: {init_sync: true}, the default", "DistributedDataParallel(..., init_sync=True), the default"};
  d.fix_lines = {alternative(
      "torch.manual_seed with one seed on every rank before the model is built, and seed + rank behind it")};
  d.cures.push_back({"ddp: {init_sync: true}",
                     [](Scenario& changed) { changed.ddp.options.init_sync = true; }, std::nullopt, true});
  d.cures.push_back({"model: {initial_values: same}",
                     [](Scenario& changed) { changed.model.same_initial_values = true; }, std::nullopt, true});
  if (const Note* options = first_note<notes::DdpOptions>(log_of(report.run, d.ranks.front())))
    d.evidence.push_back(evidence_of(d.ranks.front(), *options, "wraps a model that differs from the other ranks'"));
  add_span(d, report, Section::ddp, "shares no parameters", true);
  add_span(d, report, Section::model, "built from other random numbers on each rank", false);
}

// Buffers with which the ranks began to train, where DDP shares none.
std::optional<Diagnosis> buffers_apart(const Report& report) {
  const std::optional<BeginningApart> apart = beginning_apart(report, first_buffer_value);
  if (!apart) return std::nullopt;
  Diagnosis d;
  d.parameters = apart->tensors;
  d.ranks = apart->ranks.empty() ? others(report, {}) : apart->ranks;
  d.cause = "no call of the record explains it";
  d.fix = {"ddp: {broadcast_buffers: true}", "DistributedDataParallel(..., broadcast_buffers=True)"};
  d.cures.push_back({"ddp: {broadcast_buffers: true}",
                     [](Scenario& changed) { changed.ddp.options.broadcast_buffers = true; }, std::nullopt, true});
  d.fix_lines = {alternative("give every rank the same buffers before the first forward")};
  const Note* load = nullptr;
  const std::vector<Rank> loaders = loaded_alone(report, Time::max(), load);
  if (load != nullptr) tell_load(d, report, loaders, *load);
  d.headline = fmt::format("the replicas differ: {} begin{} training with a {} of {} own", ranks_text(d.ranks),
                           d.ranks.size() == 1 ? "s" : "", d.parameters.front(), d.ranks.size() == 1 ? "its" : "their");
  d.why += fmt::format("{}With broadcast_buffers: false DDP shares no buffers, so {} stay{} different on each rank, and what "
                       "one rank evaluates or saves is not the others' model.",
                       d.why.empty() ? "" : " ", list_text(d.parameters), d.parameters.size() == 1 ? "s" : "");
  if (d.evidence.empty())
    if (const Note* options = first_note<notes::DdpOptions>(log_of(report.run, d.ranks.front())))
      d.evidence.push_back(evidence_of(d.ranks.front(), *options, "broadcasts no buffers"));
  return d.evidence.empty() ? std::nullopt : std::optional(std::move(d));
}

}  // namespace

std::vector<std::string> parameters_apart(const Report& report) {
  const std::optional<ReplicasApart> apart = first_replicas_apart(report);
  return apart ? apart->parameters : std::vector<std::string>{};
}

std::optional<Diagnosis> replicas_differ(const Report& report) {
  if (report.outcome != Outcome::ok) return std::nullopt;
  const auto is_faulty = [](const RankResult& result) { return has_note<notes::Fault>(result.log); };
  if (std::any_of(report.run.ranks.begin(), report.run.ranks.end(), is_faulty)) return std::nullopt;
  const std::optional<ReplicasApart> apart = first_replicas_apart(report);
  if (!apart) {
    std::optional<Diagnosis> last = last_step_apart(report);
    return last ? last : buffers_apart(report);
  }
  const Note* step = step_note(log_of(report.run, 0), apart->step);
  if (step == nullptr) return std::nullopt;
  Diagnosis d;
  d.parameters = apart->parameters;
  d.ranks = apart->ranks.empty() ? others(report, {}) : apart->ranks;
  const std::string& first = apart->parameters.front();
  d.cause = "no call of the record explains it";
  d.why = "DDP gives every rank the parameters of rank 0 in its constructor and averages gradients; whatever else changes "
          "parameters on one rank alone stays there.";
  d.fix = "make the same change on every rank, or broadcast them from one rank afterwards";
  const Note* load = nullptr;
  if (const std::vector<Rank> ranks = loaded_alone(report, step->at, load); load != nullptr)
    tell_load(d, report, ranks, *load);
  const std::optional<BeginningApart> built =
      load == nullptr && apart->step == 0 ? beginning_apart(report, first_parameter_value) : std::nullopt;
  if (built) tell_built(d, report, *built);
  const std::optional<SkippedStep> skipped =
      load == nullptr && !built ? skipped_step(report, apart->step) : std::nullopt;
  const std::optional<SettingApart> setting =
      load == nullptr && !built && !skipped ? setting_apart(report, apart->step) : std::nullopt;
  if (setting) tell_setting(d, report, *setting);
  const std::string since = built ? "from before the first step on" : fmt::format("from the optimizer step {} on", site_text(step->site));
  d.headline = apart->ranks.empty() && d.ranks.size() == report.run.ranks.size()
                   ? fmt::format("the replicas differ: {} is not the same on all ranks {}", first, since)
                   : fmt::format("the replicas differ: {} of {} is not that of the other ranks {}", first,
                                 ranks_text(d.ranks), since);
  if (skipped) tell_skipped(d, report, *skipped);
  d.why += fmt::format(
      " After the optimizer step {}, {} differ{}: {}. No call failed.", site_text(step->site),
      apart->parameters.size() == 1 ? "one parameter" : fmt::format("{} parameters", apart->parameters.size()),
      apart->parameters.size() == 1 ? "s" : "", list_text(apart->parameters));
  d.evidence.push_back(evidence_of(0, *step, "the first step of the optimizer after which parameters differ"));
  add_span(d, report, step->site.line, step->site.column, "the first step after which parameters differ", d.spans.empty());
  const Note* wrapped = built ? first_note<notes::DdpOptions>(log_of(report.run, 0)) : nullptr;
  d.inevitable_at = load != nullptr ? load->at : wrapped != nullptr ? wrapped->at : step->at;
  d.inevitable = fmt::format("since {}: the replicas are different models", to_string(d.inevitable_at));
  return d;
}

constexpr std::string_view replicas_differ_text =
    R"(The parameters of two ranks are not the same although DDP wraps the model and no call failed. DDP shares rank 0's parameters in
its constructor, unless init_sync is false, and averages gradients after that; it never compares parameters again. What one rank
alone does to its own stays: a model that it built from random numbers of its own, a checkpoint loaded behind `if rank == 0`
after wrapping, weights that are copied or re-initialised on one rank, a step with a learning rate, a momentum or a scale of the
gradients of its own. With broadcast_buffers=False it does not share buffers either.

How to recognise it: losses that jump after a restart, validation that differs between ranks, a checkpoint that is worse than the
training was. Compare a sum over the parameters of each rank after the first step.

Fix: load on every rank, or before the wrapper is constructed; give every optimizer the same settings, decided together; or
broadcast the parameters after the change.)";

extern const DiagnosisRow replicas_differ_row;
const DiagnosisRow replicas_differ_row{605, "replicas-differ", "the parameters of the ranks are not the same any more",
                                       replicas_differ, replicas_differ_text};

}  // namespace pdsim::scenarios::diagnoses
