// Replicas that went apart although nothing failed: their states, compared where the program uses them (replica_states.h).
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/training/replicas/replica_causes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

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
      "DDP gives every rank the parameters of rank 0 only once, in its constructor: afterwards it averages gradients, "
      "so replicas that differ stay different. {} loaded {} into a model that was already wrapped.",
      capitalised(short_ranks(ranks)), path);
  d.fix = "load the checkpoint on every rank, or load it before DistributedDataParallel, whose constructor gives rank "
          "0's values to all ranks";
  d.fix_lines = {alternative("broadcast the parameters from the rank that loaded them")};
  d.evidence.push_back(evidence_of(ranks.front(), load, fmt::format("loaded {}", path)));
  add_span(d, report, load.site.line, load.site.column, fmt::format("only {} it", who(ranks, "loads", "load")), true);
  if (load.site.line <= 0) return;
  const Mark mark = mark_of(load.site);
  d.cures.push_back({fmt::format("every rank loads {} (line {})", path, mark.line),
                     [mark](Scenario& changed) {
                       for (Operation& op : changed.program)
                         if (op.mark.line == mark.line && op.mark.column == mark.column) op.when.any.clear();
                     },
                     std::nullopt});
}

struct BeginningApart {
  std::vector<std::string> tensors;
  std::vector<Rank> ranks;  // that are not as most are in the first of these; empty: no value is most ranks'
};

// Which buffers or parameters the ranks begin with unlike each other.
std::optional<BeginningApart> beginning_apart(const Report& report, bool buffers) {
  std::map<std::string, std::map<std::int64_t, std::vector<Rank>>> ranks_by_value;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::FirstValues>(result.log)) {
      const auto& first = note->as<notes::FirstValues>();
      if (first.buffers != buffers) continue;
      for (std::size_t i = 0; i < std::min(first.tensors.size(), first.digests.size()); ++i)
        ranks_by_value[first.tensors[i]][first.digests[i]].push_back(result.log.rank);
    }
  std::optional<BeginningApart> apart;
  for (const auto& [tensor, camps] : ranks_by_value) {
    if (camps.size() < 2) continue;
    if (!apart) apart = BeginningApart{{}, minority_of(camps)};
    apart->tensors.push_back(tensor);
  }
  return apart;
}

// The ranks built their models from random numbers of their own, and the wrapper shares none.
void tell_built(Diagnosis& d, const Report& report, const BeginningApart& built) {
  d.parameters = built.tensors;
  d.ranks = built.ranks.empty() ? others(report, {}) : built.ranks;
  d.cause = "each rank initialised its model with its own random numbers, and init_sync: false shares no parameters";
  d.why =
      "The constructor of DDP gives every rank the parameters of rank 0, unless init_sync is false. In that case the "
      "ranks train the models that they built, and averaged gradients keep the differences. The ranks have different "
      "seeds when the model is built.";
  d.fix = {"ddp: {init_sync: true}, the default", "DistributedDataParallel(..., init_sync=True), the default"};
  d.fix_lines = {alternative(
      "torch.manual_seed with the same seed on every rank before the model is built, and seed + rank after it")};
  d.cures.push_back({"ddp: {init_sync: true}",
                     [](Scenario& changed) { changed.ddp.options.init_sync = true; }, std::nullopt, true});
  d.cures.push_back({"model: {initial_values: same}",
                     [](Scenario& changed) { changed.model.same_initial_values = true; }, std::nullopt, true});
  if (const Note* options = first_note<notes::DdpOptions>(log_of(report.run, d.ranks.front())))
    d.evidence.push_back(evidence_of(d.ranks.front(), *options, "wraps a model that differs from the other ranks'"));
  add_span(d, report, Section::ddp, "shares no parameters", true);
  add_span(d, report, Section::model, "built from different random numbers on each rank", false);
}

// Buffers with which the ranks began to train, where DDP shares none.
std::optional<Diagnosis> buffers_apart(const Report& report) {
  const std::optional<BeginningApart> apart = beginning_apart(report, true);
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
  d.headline = fmt::format("the replicas differ: {} begin{} training with a {} of {} own", short_ranks(d.ranks),
                           d.ranks.size() == 1 ? "s" : "", d.parameters.front(), d.ranks.size() == 1 ? "its" : "their");
  d.why += fmt::format("{}With broadcast_buffers: false DDP shares no buffers, so {} stay{} different on each rank, and what "
                       "one rank evaluates or saves is not the others' model.",
                       d.why.empty() ? "" : " ", list_text(d.parameters), d.parameters.size() == 1 ? "s" : "");
  if (d.evidence.empty())
    if (const Note* options = first_note<notes::DdpOptions>(log_of(report.run, d.ranks.front())))
      d.evidence.push_back(evidence_of(d.ranks.front(), *options, "broadcasts no buffers"));
  return d.evidence.empty() ? std::nullopt : std::optional(std::move(d));
}

// Where the difference was seen, in words.
std::string seen_text(const ReplicasApart& apart, bool built) {
  if (built) return "from before the first step on";
  if (const Note* step = apart.step()) return fmt::format("from the optimizer step {} on", site_text(step->site));
  return fmt::format("in the forward {}", site_text(apart.windows.front().to->site));
}

std::string headline_of(const Report& report, const Diagnosis& d, const ReplicasApart& apart, const std::string& since) {
  const std::string what = apart.parameters.empty() ? "a parameter" : apart.parameters.front();
  if (apart.ranks.empty() && (d.ranks.empty() || d.ranks.size() == apart.windows.size())) {
    const bool are_all = apart.windows.size() == report.run.ranks.size();
    return fmt::format("the replicas differ: {} is not the same on {} {}", what,
                       are_all ? "all ranks" : short_ranks(apart.members()), since);
  }
  return fmt::format("the replicas differ: {} of {} is not that of the other ranks {}", what, short_ranks(d.ranks), since);
}

void cite(Diagnosis& d, const Report& report, const ReplicasApart& apart) {
  const std::string differ = apart.parameters.empty() ? "parameters differ"
                             : apart.parameters.size() == 1
                                 ? fmt::format("one parameter differs: {}", parameters_text(apart.parameters))
                                 : fmt::format("{} parameters differ: {}", apart.parameters.size(), parameters_text(apart.parameters));
  const Note* step = apart.step();
  const Note* to = apart.windows.front().to;
  d.why += step == nullptr ? fmt::format(" In the forward {}, {}. No call failed.", site_text(to->site), differ)
                           : fmt::format(" {} {}, {}. No call failed.", apart.at_end ? "At the end, after the optimizer step" : "After the optimizer step",
                                         site_text(step->site), differ);
  if (apart.ranks.empty())
    d.why += fmt::format(" {} have different values, and none has a majority, so the record cannot say which is right.",
                         capitalised(short_ranks(apart.members())));
  if (step != nullptr) {
    d.evidence.push_back(evidence_of(apart.rank_of_step(), *step, "the first step of the optimizer after which parameters differ"));
    add_span(d, report, step->site.line, step->site.column, "the first step after which parameters differ", d.spans.empty());
  } else {
    d.evidence.push_back(evidence_of(apart.windows.front().rank, *to, "a forward with parameters that differ"));
  }
  if (!apart.at_steps && !apart.at_end) add_span(d, report, to->site.line, to->site.column, "this forward uses them", d.spans.empty());
}

}  // namespace

std::optional<Diagnosis> replicas_differ(const Report& report) {
  if (report.outcome != Outcome::ok) return std::nullopt;
  const auto is_faulty = [](const RankResult& result) { return has_note<notes::Fault>(result.log); };
  if (std::any_of(report.run.ranks.begin(), report.run.ranks.end(), is_faulty)) return std::nullopt;
  const std::optional<ReplicasApart> apart = replicas_apart(report);
  if (!apart) return buffers_apart(report);
  const Note* step = apart->step();
  const Note* seen = step != nullptr ? step : apart->windows.front().to;
  Diagnosis d;
  d.parameters = apart->parameters;
  d.ranks = apart->ranks.empty() ? apart->members() : apart->ranks;
  d.cause = "no call of the record explains it";
  d.why = "DDP gives every rank the parameters of rank 0 in its constructor and averages gradients; any other change "
          "to one rank's parameters stays on that rank.";
  d.fix = "make the same change on every rank, or broadcast them from one rank afterwards";
  const Note* load = nullptr;
  if (const std::vector<Rank> ranks = loaded_alone(report, seen->at, load); load != nullptr)
    tell_load(d, report, ranks, *load);
  const std::optional<BeginningApart> built =
      load == nullptr && apart->at_steps && apart->nth == 0 ? beginning_apart(report, false) : std::nullopt;
  if (built) tell_built(d, report, *built);
  const bool is_known = load != nullptr || built;
  const bool is_told = is_known || tell_cause(d, report, *apart);
  if (!is_told && apart->hooked) return std::nullopt;
  if (!is_told && apart->at_steps && apart->at_end) return buffers_apart(report);  // ranks with fewer steps, in join()
  if (d.headline.empty()) d.headline = headline_of(report, d, *apart, seen_text(*apart, built.has_value()));
  cite(d, report, *apart);
  const Note* wrapped = built ? first_note<notes::DdpOptions>(log_of(report.run, 0)) : nullptr;
  d.inevitable_at = load != nullptr ? load->at : wrapped != nullptr ? wrapped->at : seen->at;
  d.inevitable = fmt::format("since {}: the replicas are different models", to_string(d.inevitable_at));
  return d;
}

constexpr std::string_view replicas_differ_text =
    R"(The parameters of two ranks are not the same although DDP wraps the model and no call failed. DDP shares rank 0's parameters in
its constructor, unless init_sync is false, and averages gradients after that; it never compares parameters again. A change that
one rank makes to its own parameters remains: a model built from its own random numbers, a checkpoint loaded behind `if rank ==
0` after wrapping, weights copied or re-initialised on one rank, or a step with its own learning rate, momentum or gradient
scale, with gradients that one rank changed after backward, or with an optimizer state that one rank loaded or reset. With
broadcast_buffers=False DDP does not share buffers either.

How to recognise it: the loss jumps after a restart, validation differs between ranks, a checkpoint is worse than the training
was. Compare a sum over each rank's parameters after the first step.

Fix: load on every rank, or before the wrapper is constructed; give every optimizer the same settings, decided together; or
broadcast the parameters after the change.)";

extern const DiagnosisRow replicas_differ_row;
const DiagnosisRow replicas_differ_row{605, "replicas-differ", "the parameters of the ranks are no longer the same",
                                       replicas_differ, replicas_differ_text};

}  // namespace pdsim::scenarios::diagnoses
