#include "scenarios/engine/operations/batch.h"

#include "core/base/random.h"
#include "core/nn/functional.h"

#include <algorithm>

namespace pdsim::scenarios::operations {
namespace {

constexpr std::uint64_t ranks_apart = 1'000'003;  // more than steps of any training, so no two draws share a stream

std::vector<double> uniform(Random random, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = 2.0 * random.unit() - 1.0;
  return values;
}

template <class T>
void append_to(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void Batch::append(const Batch& other) {
  append_to(input, other.input);
  append_to(target, other.target);
  append_to(classes, other.classes);
  rows += other.rows;
}

Batch make_batch(const Scenario& scenario, const std::string& name, int rank, int step, Widths widths) {
  const auto index = static_cast<std::uint64_t>(rank) * ranks_apart + static_cast<std::uint64_t>(step);
  const Random seeded(scenario.seed);
  Batch batch;
  batch.rows = scenario.batch;
  batch.input = uniform(seeded.stream("input/" + name, index), batch.rows * widths.input);
  if (widths.indices > 0) {
    Random drawn = seeded.stream("indices/" + name, index);
    for (double& i : batch.input) i = static_cast<double>(drawn.below(static_cast<std::uint64_t>(widths.indices)));
  }
  Random target = seeded.stream("target/" + name, index);
  if (scenario.loss == "mse") batch.target = uniform(target, batch.rows * widths.output);
  if (scenario.loss == "cross_entropy")
    for (std::int64_t row = 0; row < batch.rows; ++row)
      batch.classes.push_back(static_cast<std::int64_t>(target.below(static_cast<std::uint64_t>(widths.output))));
  return batch;
}

nn::Tensor input_tensor(const Scenario& scenario, const Batch& batch, Widths widths) {
  return nn::Tensor::from(batch.input, {batch.rows, widths.input}, scenario.model.spec.dtype);
}

Result<nn::Tensor> loss_of(const Scenario& scenario, const nn::Tensor& output, const Batch& batch, Widths widths) {
  if (scenario.loss == "sum") return nn::sum(output);
  if (scenario.loss == "cross_entropy") return nn::cross_entropy_loss(output, batch.classes);
  return nn::mse_loss(output, nn::Tensor::from(batch.target, {batch.rows, widths.output}, output.dtype()));
}

const Take* take_for(const Scenario& scenario, int rank, int step) {
  const int node = scenario.world.spec.node_of(rank);
  const auto& takes = scenario.model.takes;
  const auto found =
      std::find_if(takes.begin(), takes.end(), [&](const Take& t) { return t.when.selects(rank, node, step); });
  return found == takes.end() ? nullptr : &*found;
}

}  // namespace pdsim::scenarios::operations
