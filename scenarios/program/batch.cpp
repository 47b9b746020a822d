#include "scenarios/program/batch.h"

#include "core/base/random.h"
#include "core/nn/functional.h"
#include "core/parallel/distributed_sampler.h"

#include <fmt/format.h>

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

namespace {

// `rows` of them from the streams of one index.
Batch make_rows(const Scenario& scenario, const std::string& name, std::uint64_t index, std::int64_t rows,
                Widths widths) {
  const Random seeded(scenario.seed);
  Batch batch;
  batch.rows = rows;
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

}  // namespace

Widths widths_of(const nn::Module& module, const std::string& path) {
  return {std::max<std::int64_t>(module.input_width(path), 1), std::max<std::int64_t>(module.output_width(path), 1),
          module.input_indices(path)};
}

Result<Drawn> draw(const Scenario& scenario, int rank, int step) {
  const Data& data = scenario.data;
  const int ranks = scenario.data_ranks();
  const bool distributed = data.sampler == "distributed";
  Drawn drawn;
  drawn.seed = data.seed_per_rank ? scenario.seed + static_cast<std::uint64_t>(rank) : scenario.seed;
  auto sampler = DistributedSampler::make(data.over, distributed ? ranks : 1, distributed ? rank : 0,
                                          {data.shuffle, data.drop_last, drawn.seed});
  if (!sampler.ok()) return sampler.error();
  const std::int64_t steps = std::max<std::int64_t>((sampler->length() + scenario.batch - 1) / scenario.batch, 1);
  if (sampler->length() == 0)
    return Error{
        Code::invalid_argument,
        fmt::format("an epoch has no step: with drop_last the sampler gives each of {} ranks none of {} samples", ranks,
                    data.over),
        {{"samples", std::to_string(data.over)}}};
  drawn.epoch = step / steps;
  drawn.first_row = step % steps * scenario.batch;
  if (data.set_epoch) sampler->set_epoch(static_cast<std::uint64_t>(drawn.epoch));
  drawn.indices = sampler->indices();
  return drawn;
}

Result<Batch> next_batch(const Scenario& scenario, const std::string& name, int rank, int step, Widths widths,
                         std::optional<std::int64_t> rows) {
  if (!scenario.data.given)
    return make_rows(scenario, name, static_cast<std::uint64_t>(rank) * ranks_apart + static_cast<std::uint64_t>(step),
                     rows.value_or(scenario.batch), widths);
  const Result<Drawn> drawn = draw(scenario, rank, step);
  if (!drawn.ok()) return drawn.error();
  Batch batch;
  const auto end =
      std::min<std::int64_t>(drawn->first_row + scenario.batch, static_cast<std::int64_t>(drawn->indices.size()));
  for (std::int64_t row = drawn->first_row; row < end; ++row) {
    const std::int64_t index = drawn->indices[static_cast<std::size_t>(row)];
    if (index >= scenario.data.samples)
      return Error{Code::invalid_argument,
                   fmt::format("IndexError: list index out of range: the sampler drew sample {} of a data set of {}",
                               index, scenario.data.samples),
                   {{"index", std::to_string(index)}, {"samples", std::to_string(scenario.data.samples)}}};
    batch.append(make_rows(scenario, name, static_cast<std::uint64_t>(index), 1, widths));
  }
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

const Branch* branch_for(const Scenario& scenario, int rank, int step) {
  const int node = scenario.world.spec.node_of(rank);
  const auto& branches = scenario.model.branches;
  const auto found =
      std::find_if(branches.begin(), branches.end(), [&](const Branch& t) { return t.when.selects(rank, node, step); });
  return found == branches.end() ? nullptr : &*found;
}

}  // namespace pdsim::scenarios::operations
