#include "scenarios/program/alone.h"

#include "core/nn/autograd.h"
#include "core/nn/functional.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace pdsim::scenarios::operations {
namespace {

// The rows of the forward that a rank has in the place of this one, which may be inside of no_sync or repeat.
std::optional<std::int64_t> rows_of(const Scenario& whole, const std::string& input, const std::vector<Operation>& body,
                                    int rank, int step) {
  for (const Operation& op : body) {
    if (!op.when.selects(rank, whole.world.spec.node_of(rank), step)) continue;
    if (const auto inside = rows_of(whole, input, op.body, rank, step)) return inside;
    const auto* forward = op.if_is<ForwardOptions>();
    if (forward != nullptr && forward->input == input && forward->rows) return forward->rows;
  }
  return std::nullopt;
}

}  // namespace

Result<Batch> batch_for(Session& s, const ForwardOptions& asked, Widths widths) {
  const int step = std::max(s.step, 0);
  if (!s.scenario.stands_for)
    return next_batch(s.scenario, asked.input, s.scenario.data_rank(s.env.rank), step, widths, asked.rows);
  const Scenario& whole = *s.scenario.stands_for->whole;
  Batch joined;
  for (int rank = 0; rank < whole.world.spec.ranks(); ++rank) {
    if (!whole.is_first_part(rank)) continue;
    const auto rows = s.loop != nullptr ? rows_of(whole, asked.input, s.loop->body, rank, step) : asked.rows;
    const Result<Batch> part = next_batch(whole, asked.input, whole.data_rank(rank), step, widths, rows);
    if (!part.ok()) return part.error();
    joined.append(*part);
  }
  return joined;
}

Result<nn::Tensor> scaled_loss(const Session& s, const nn::Tensor& output, const Batch& batch, Widths widths) {
  const Result<nn::Tensor> loss = loss_of(s.scenario, output, batch, widths);
  if (!loss.ok() || !s.scenario.stands_for || s.scenario.loss != "sum") return loss;
  return nn::scale(*loss, 1.0 / s.scenario.stands_for->whole->data_ranks());
}

bool joins_batches(const Session& s) { return s.scenario.stands_for && s.scenario.stands_for->as == Reference::one_batch; }

void keep_batch(Session& s, const std::string& output, const Batch& batch, const std::string& path) {
  if (s.joined == nullptr) s.joined = std::make_shared<JoinedBatches>();
  s.joined->made[output] = batch;
  s.joined->path = path;
}

void gather_batches(Session& s, const std::vector<std::string>& losses) {
  if (s.joined == nullptr) return;
  for (const std::string& loss : losses) s.joined->gathered.append(s.joined->made[loss]);
}

void forget_batches(Session& s) {
  if (s.joined != nullptr) s.joined->gathered = {};
}

Status settle_batches(Session& s) {
  if (s.joined == nullptr || s.joined->gathered.rows == 0) return {};
  const Batch batch = std::exchange(s.joined->gathered, {});
  const Widths widths = widths_of(*s.module, s.joined->path);
  const auto output = s.module->forward(input_tensor(s.scenario, batch, widths), s.joined->path, {});
  if (!output.ok()) return output.error();
  const Result<nn::Tensor> loss = scaled_loss(s, *output, batch, widths);
  if (!loss.ok()) return loss.error();
  s.last_loss = loss->values();
  nn::BackwardPass pass;
  return pass.run(std::vector{*loss});
}

}  // namespace pdsim::scenarios::operations
