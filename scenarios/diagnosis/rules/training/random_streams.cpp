// Random numbers that should be each rank's own, and are the same on all.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

// The ranks of the largest set that draws from one stream; empty where every rank has its own.
std::vector<Rank> of_one_stream(const Report& report) {
  std::map<std::int64_t, std::vector<Rank>> by_stream;
  std::vector<Rank> largest;
  for (const RankResult& result : report.run.ranks)
    if (const Note* seeded = first_note<notes::NoiseSeeded>(result.log); seeded != nullptr)
      by_stream[seeded->as<notes::NoiseSeeded>().stream].push_back(result.log.rank);
  for (const auto& [stream, ranks] : by_stream)
    if (ranks.size() > largest.size()) largest = ranks;
  return largest.size() > 1 ? largest : std::vector<Rank>{};
}

}  // namespace

std::optional<Diagnosis> dropout_repeated(const Report& report) {
  if (report.outcome != Outcome::ok) return std::nullopt;
  Diagnosis d;
  d.ranks = of_one_stream(report);
  for (const Rank rank : d.ranks)
    if (const Note* options = first_note<notes::DdpOptions>(log_of(report.run, rank)); options != nullptr && d.evidence.size() < 4)
      d.evidence.push_back(evidence_of(rank, *options, "draws the same dropout masks as the others"));
  if (d.evidence.empty()) return std::nullopt;
  d.headline = fmt::format("{} the same dropout masks in every forward", who(d.ranks, "draws", "draw"));
  d.cause = fmt::format("{} the same seed, and dropout draws from it", who(d.ranks, "uses", "use"));
  d.why =
      "Ranks with replicas of one model drop the same elements for all their batches. Each rank's gradient is right, "
      "but their mean has the noise of one mask instead of one mask per rank, as if one mask covered the whole batch. "
      "One seed is right for building the model and for the sampler, and for ranks that share one layer (tensor "
      "parallelism).";
  d.fix = {"model: {noise: per_rank}, that is, torch.manual_seed(seed + rank) after the model is built",
           "torch.manual_seed(seed + rank) after the model is built"};
  d.fix_lines = {"augmentation in the data loader's workers needs a different seed on each rank too"};
  d.cures.push_back({"model: {noise: per_rank}", [](Scenario& changed) { changed.model.same_noise = false; }, std::nullopt, true});
  add_span(d, report, Section::model, "draws the same masks on every rank", true);
  return d;
}

constexpr std::string_view dropout_repeated_text =
    R"(All ranks have given PyTorch's generator the same seed, so dropout drops the same elements on every rank, in every step. DDP
does not need equal seeds: its constructor shares rank 0's parameters, and DistributedSampler has its own seed.

How to recognise it: no error. torch.initial_seed() is the same on all ranks while the model trains; torch.rand(1), printed on
each rank after the first step, gives the same number.

Fix: torch.manual_seed(seed + rank) after the model is built. Ranks that compute one layer together, as in tensor parallelism,
do need a common stream for the values that they share.)";

extern const DiagnosisRow dropout_repeated_row;
const DiagnosisRow dropout_repeated_row{607, "dropout-repeated", "the ranks draw the same dropout masks", dropout_repeated,
                                        dropout_repeated_text};

}  // namespace pdsim::scenarios::diagnoses
