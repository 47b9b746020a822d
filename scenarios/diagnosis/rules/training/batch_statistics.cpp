#include "scenarios/diagnosis/rules/training/batch_statistics.h"

#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

bool is_statistics(const Call& call) {
  return call.purpose.kind == PurposeKind::batch_statistics || call.purpose.kind == PurposeKind::batch_gradients;
}

bool gathers_statistics(const RankLog& log) { return std::any_of(log.calls.begin(), log.calls.end(), is_statistics); }

struct Sides {
  CallCamp with, without;
};

std::optional<Sides> sides_of(const Report& report) {
  RankCalls calls;
  for (const Divergence::Entry& entry : report.divergence->entries)
    if (const Call* call = entry.id < 0 ? nullptr : call_by_id(log_of(report.run, entry.rank), entry.id)) calls.emplace_back(entry.rank, call);
  Sides sides;
  for (CallCamp& camp : camps_of(calls)) {
    const bool is_with = is_statistics(*camp.call);
    CallCamp& side = is_with ? sides.with : sides.without;
    const bool fits = std::all_of(camp.ranks.begin(), camp.ranks.end(),
                                  [&](Rank r) { return gathers_statistics(log_of(report.run, r)) == is_with; });
    if (side.call != nullptr || !fits || camp.call->purpose.kind == PurposeKind::none) return std::nullopt;
    side = std::move(camp);
  }
  if (sides.with.call == nullptr || sides.without.call == nullptr) return std::nullopt;
  return sides;
}

void convert(std::vector<nn::LayerSpec>& layers) {
  for (nn::LayerSpec& layer : layers)
    if (layer.kind == nn::LayerKind::batchnorm) layer.kind = nn::LayerKind::sync_batchnorm;
}

void convert_on_all_ranks(Scenario& s) {
  convert(s.model.spec.layers);
  for (ModelChange& change : s.model.per_rank) convert(change.layers);
}

}  // namespace

std::optional<Diagnosis> statistics_of_some(const Report& report) {
  if (!report.divergence || report.divergence->field == DivergenceKind::missing) return std::nullopt;
  const std::optional<Sides> sides = sides_of(report);
  if (!sides) return std::nullopt;
  const Divergence& at = *report.divergence;
  const auto& [with, without] = *sides;
  const std::string these = short_ranks(without.ranks), those = short_ranks(with.ranks), number = fmt::format("#{}", at.seq);
  Diagnosis d;
  d.ranks = at.minority;
  if (d.ranks.empty()) {
    d.ranks = without.ranks;
    d.ranks.insert(d.ranks.end(), with.ranks.begin(), with.ranks.end());
  }
  d.headline = fmt::format("{} no SyncBatchNorm, and {}: {} called {}, where {} statistics of the batch", who(without.ranks, "runs", "run"),
                           who(with.ranks, "does", "do"), these, call_text(*without.call), who(with.ranks, "gathers", "gather"));
  d.cause = fmt::format("{} no batch statistics in the whole record, and {}", who(without.ranks, "gathers", "gather"), who(with.ranks, "does", "do"));
  d.why = fmt::format(
      "Each training forward of a SyncBatchNorm layer gathers the statistics of the batch from all ranks. {} no such call in the whole "
      "record: {} model has plain BatchNorm layers there, its forward leaves the layers out, or it is in evaluation mode, in which nothing "
      "is gathered. Parameters and buffers are the same with both kinds of layers, so DDP's constructor accepts it. At {} {} of {} met {} "
      "of {}.",
      capitalised(who(without.ranks, "makes", "make")), without.ranks.size() == 1 ? "its" : "their", number, call_text(*without.call), these,
      call_text(*with.call), those);
  if (at.minority.empty()) d.why += " Both sides have the same number of ranks, so the record cannot say which of them is right.";
  d.fix = {"the same layers on every rank: sync_batchnorm on all of them, or on none",
           "call torch.nn.SyncBatchNorm.convert_sync_batchnorm(model) on every rank, before DistributedDataParallel, or on none"};
  d.fix_lines = {"nothing that differs between machines may decide it, such as torch.cuda.device_count()"};
  d.cures.push_back({"sync_batchnorm in place of batchnorm on every rank", convert_on_all_ranks, std::nullopt, true});
  for (const CallCamp* camp : {&without, &with})
    d.evidence.push_back(evidence_of(camp->ranks.front(), *camp->call, fmt::format("{} as {}", call_text(*camp->call), number)));
  add_model_spans(d, report, without.ranks.front(), fmt::format("{} other layers here", who(without.ranks, "has", "have")));
  add_span(d, report, without.call->site.line, without.call->site.column,
           fmt::format("{} called {}", these, call_text(*without.call)), d.spans.empty());
  d.inevitable_at = std::max(with.call->issued, without.call->issued);
  d.inevitable = fmt::format("since {}: {} called {} {}, {} called {} {}", to_string(d.inevitable_at), these, call_text(*without.call), number,
                             those, call_text(*with.call), number);
  return d;
}

}  // namespace pdsim::scenarios::diagnoses
