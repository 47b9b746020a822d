// Ranks that built different models under one wrapper: another shape or number of parameters, or another order.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

using Parameters = std::vector<std::string>;  // "name [shape]", in order

struct Built {
  Rank rank = 0;
  const Note* note = nullptr;
  Parameters parameters;
};

std::vector<Built> models_of(const Report& report) {
  std::vector<Built> models;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::ModelBuilt>(result.log))
      models.push_back({result.log.rank, note, note->as<notes::ModelBuilt>().parameters});
  return models;
}

// The model that most ranks built; of several the one of the lowest rank.
const Built& usual(const std::vector<Built>& models) {
  std::map<Parameters, int> votes;
  for (const Built& model : models) ++votes[model.parameters];
  return *std::max_element(models.begin(), models.end(), [&](const Built& a, const Built& b) {
    return votes.at(a.parameters) < votes.at(b.parameters);
  });
}

// The first place at which two models differ: what stands there, in each.
std::pair<std::string, std::string> first_difference(const Parameters& a, const Parameters& b) {
  const auto at = [](const Parameters& p, std::size_t i) { return i < p.size() ? p[i] : std::string("nothing"); };
  std::size_t i = 0;
  while (at(a, i) == at(b, i) && i < std::max(a.size(), b.size())) ++i;
  return {at(a, i), at(b, i)};
}

struct Apart {
  std::vector<Built> models;
  Built usual, other;
};

// Those that are not the usual model become the culprits.
std::optional<Apart> apart(const Report& report, Diagnosis& d) {
  Apart found;
  found.models = models_of(report);
  if (found.models.empty()) return std::nullopt;
  found.usual = usual(found.models);
  for (const Built& model : found.models) {
    if (model.parameters == found.usual.parameters) continue;
    if (d.ranks.empty()) found.other = model;
    add_once(d.ranks, model.rank);
    d.evidence.push_back(evidence_of(model.rank, *model.note, "built a different model"));
  }
  if (d.ranks.empty()) return std::nullopt;
  d.evidence.push_back(evidence_of(found.usual.rank, *found.usual.note, "built this one"));
  return found;
}

void place(Diagnosis& d, const Report& report, const Apart& found) {
  add_model_spans(d, report, d.ranks.front(), fmt::format("{} a different model here", who(d.ranks, "builds", "build")));
  d.inevitable_at = found.other.note->at;
  d.inevitable = fmt::format("since {}: {} had a different model", to_string(d.inevitable_at), short_ranks(d.ranks));
}

}  // namespace

std::optional<Diagnosis> model_differs(const Report& report) {
  const auto is_meant = [](const RankError& e) { return e.code == Code::model_differs; };
  if (std::none_of(report.errors.begin(), report.errors.end(), is_meant)) return std::nullopt;
  Diagnosis d;
  const std::optional<Apart> found = apart(report, d);
  if (!found) return std::nullopt;
  const auto [theirs, usual] = first_difference(found->other.parameters, found->usual.parameters);
  d.parameters = {theirs};
  d.headline = fmt::format("{} a model whose parameters are not those of the others: {} where {} has {}",
                           who(d.ranks, "wraps", "wrap"), theirs, short_ranks({found->usual.rank}), usual);
  d.cause = fmt::format("{} {} parameters, and {} has {}", who(d.ranks, "has", "have"), found->other.parameters.size(),
                        short_ranks({found->usual.rank}), found->usual.parameters.size());
  d.why =
      "DDP's constructor compares the number of parameters on every rank, and then each rank's shapes with those of "
      "rank 0. A rank whose shapes differ raises an error; rank 0 has only compared itself with itself, continues, and "
      "waits for that rank.";
  d.fix = "build the same model on every rank, from one configuration";
  d.fix_lines = {"frozen layers count: requires_grad must be the same on every rank"};
  place(d, report, *found);
  return d;
}

std::optional<Diagnosis> parameter_order(const Report& report) {
  Diagnosis d;
  const std::optional<Apart> found = apart(report, d);
  if (!found || !has_note<notes::DdpOptions>(log_of(report.run, found->usual.rank))) return std::nullopt;
  Parameters a = found->usual.parameters, b = found->other.parameters;
  const auto [theirs, usual] = first_difference(b, a);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a != b) return std::nullopt;
  d.parameters = {theirs, usual};
  d.headline = fmt::format("{} {} where the others register {}, so gradients of different parameters are averaged with "
                           "each other",
                           who(d.ranks, "registers", "register"), theirs, usual);
  d.cause = fmt::format("the same parameters are in a different order on {}", short_ranks(d.ranks));
  d.why =
      "DDP identifies parameters by their position in module.parameters(), never by name. Number and shapes agree, so "
      "there is no error: the constructor copies rank 0's values by position, and every step averages the gradient of "
      "one parameter with that of another.";
  d.fix = "register layers in the same order on every rank";
  d.fix_lines = {"use no set and no dict with unsorted keys between the configuration and the constructor"};
  place(d, report, *found);
  return d;
}

std::optional<Diagnosis> nothing_to_train(const Report& report) {
  Diagnosis d;
  const Call* first = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    if (log.end != RankEnd::raised || log.error.code != Code::ddp_not_needed) continue;
    const Call* call = failed_operation(log, Code::ddp_not_needed);
    if (call == nullptr) continue;
    add_once(d.ranks, log.rank);
    d.evidence.push_back(evidence_of(log.rank, *call, "wraps a model in which no parameter requires a gradient"));
    if (first == nullptr) first = call;
  }
  if (first == nullptr) return std::nullopt;
  d.headline = fmt::format("{} a model in which no parameter requires a gradient", who(d.ranks, "wraps", "wrap"));
  d.cause = d.ranks.size() == report.run.ranks.size()
                ? "the model is frozen, or has no parameters, on every rank"
                : fmt::format("only the model of {} is frozen, or has no parameters", short_ranks(d.ranks));
  d.why =
      "DistributedDataParallel exists to average gradients, and rejects a module that has none before it sends "
      "anything. Ranks whose module has some continue to the constructor's collectives and wait there.";
  d.fix = "use the module without the wrapper, or make some of its parameters trainable before it is wrapped";
  d.fix_lines = {"a frozen teacher or encoder beside a trained model does not need a wrapper"};
  add_span(d, report, first->site.line, first->site.column, "wraps it", true);
  add_span(d, report, Section::model, "requires no gradient", false);
  d.inevitable_at = first->issued;
  d.inevitable = fmt::format("since {}: nothing to synchronise on {}", to_string(first->issued), short_ranks(d.ranks));
  return d;
}

constexpr std::string_view nothing_to_train_text =
    R"(DistributedDataParallel was given a module without parameters, or one in which all of them are frozen.

How to recognise it: "DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient",
on the ranks that have such a module; others hang in the constructor.

Fix: do not wrap it, or set requires_grad before wrapping, to the same values on every rank.)";

constexpr std::string_view model_differs_text =
    R"(The ranks wrapped different models: a different width, number of layers, or set of frozen layers, because a configuration,
a data set's vocabulary or an `if rank == 0` differs between them. DDP's constructor compares the number of parameters and
their shapes with rank 0's.

How to recognise it: "DDP expects same model across all ranks", or "params[0] in this process with sizes ... appears not to
match sizes of the same param in process 0", while rank 0 hangs in the constructor or sees its connection close.

Fix: one configuration for every rank; sizes that come from data are computed on one rank and broadcast.)";

constexpr std::string_view parameter_order_text =
    R"(DDP pairs parameters across ranks by their position in module.parameters(). Layers with the same shapes that one rank registers
in a different order pass every check: rank 0's values go to the wrong parameters, and gradients of different parameters are
averaged.

How to recognise it: no error; training on several ranks is worse than on one, and state_dicts of two ranks hold the same
tensors under swapped names.

Fix: build the model in the same order everywhere; sort the keys of every dict and set from which layers are created.)";

extern const DiagnosisRow nothing_to_train_row;
const DiagnosisRow nothing_to_train_row{100, "nothing-to-train", "DDP was given a model without trainable parameters",
                                        nothing_to_train, nothing_to_train_text};
extern const DiagnosisRow model_differs_row;
const DiagnosisRow model_differs_row{130, "model-differs", "ranks wrapped models with different parameters", model_differs,
                                     model_differs_text};
extern const DiagnosisRow parameter_order_row;
const DiagnosisRow parameter_order_row{480, "parameter-order",
                                       "ranks registered the same parameters in different orders", parameter_order,
                                       parameter_order_text};

}  // namespace pdsim::scenarios::diagnoses
