// Gradients of a sharded model that each rank clipped by the norm of its own shard.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

std::optional<Diagnosis> shard_norm(const Report& report) {
  Diagnosis d;
  const Note* first = nullptr;
  std::vector<std::string> norms;
  for (const RankResult& result : report.run.ranks) {
    const Note* note = first_note<notes::ShardClipped>(result.log);
    if (note == nullptr) continue;
    const auto& clipped = note->as<notes::ShardClipped>();
    if (first == nullptr) first = note;
    d.ranks.push_back(result.log.rank);
    norms.push_back(clipped.norm);
    d.evidence.push_back(evidence_of(result.log.rank, *note, fmt::format("clips by a norm of {}", clipped.norm)));
  }
  if (report.outcome != Outcome::ok || d.ranks.size() < 2) return std::nullopt;
  constexpr std::size_t shown = 4;
  const std::size_t left_out = norms.size() > shown ? norms.size() - shown : 0;
  norms.resize(norms.size() - left_out);
  const std::string more = left_out > 0 ? fmt::format(" and {} more", left_out) : "";
  d.headline = fmt::format("{} by the norm of its own shard", who(d.ranks, "clips", "each clip"));
  d.cause = fmt::format("the norms are {}{}, where all ranks should clip by the norm of the whole gradient",
                        fmt::join(norms, ", "), more);
  d.why =
      "torch.nn.utils.clip_grad_norm_ takes the norm of the gradients that this rank holds. In a sharded model these "
      "are only a part, so each rank has a different norm, smaller than that of the whole gradient, and scales its "
      "part by a different factor: the direction of the update changes, gradients are clipped too little, and the norm "
      "in the log depends on the number of ranks. No call fails.";
  d.fix = {"clip by the norm of all shards:  clip_grad_norm: {of: model}", "clip by the norm of all shards"};
  d.fix_lines = {"model.clip_grad_norm_(max_norm) of FullyShardedDataParallel, on every rank",
                 "fully_shard's parameters are DTensors, for which torch.nn.utils.clip_grad_norm_ does it too"};
  d.cures.push_back(norm_of_all_shards());
  add_span(d, report, first->site.line, first->site.column, "clips by the norm of a shard", true);
  d.inevitable_at = first->at;
  d.inevitable = fmt::format("since {}: the first step with shards scaled by different factors", to_string(first->at));
  return d;
}

constexpr std::string_view shard_norm_text =
    R"(Gradients of a sharded model were clipped with torch.nn.utils.clip_grad_norm_, which knows only this rank's shard. Each rank
clips by a different norm, and the parts of one gradient are scaled by different factors.

How to recognise it: the gradient norm in the log is smaller than that of the same model under DDP, by about the square root of
the number of ranks; it differs between ranks and changes with their number; the loss has spikes that clipping should prevent.

Fix: model.clip_grad_norm_(max_norm) of FullyShardedDataParallel, called on every rank: it sums the squares over all shards.)";

extern const DiagnosisRow shard_norm_row;
const DiagnosisRow shard_norm_row{56, "shard-norm", "each rank clipped gradients by the norm of its own shard",
                                  shard_norm, shard_norm_text};

}  // namespace pdsim::scenarios::diagnoses
