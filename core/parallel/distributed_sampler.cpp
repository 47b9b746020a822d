#include "core/parallel/distributed_sampler.h"

#include "core/base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace pdsim {

Result<DistributedSampler> DistributedSampler::make(std::int64_t dataset_length, int replicas, Rank rank,
                                                    SamplerOptions options) {
  if (dataset_length < 0)
    return Error{Code::invalid_argument, fmt::format("a data set cannot have {} samples", dataset_length), {}};
  if (replicas < 1)
    return Error{Code::invalid_argument, fmt::format("{} replicas: a sampler needs at least one", replicas), {}};
  if (rank < 0 || rank >= replicas)
    return Error{Code::invalid_argument,
                 fmt::format("Invalid rank {}, rank should be in the interval [0, {}]", rank, replicas - 1),
                 {}};
  DistributedSampler sampler;
  sampler.dataset_length_ = dataset_length;
  sampler.replicas_ = replicas;
  sampler.rank_ = rank;
  sampler.options_ = options;
  const std::int64_t round_up = options.drop_last ? 0 : replicas - 1;
  sampler.length_ = (dataset_length + round_up) / replicas;
  return sampler;
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(dataset_length_));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (!options_.shuffle) return share(order);
  Random random = Random(options_.seed + epoch_).stream("sampler");
  for (std::size_t left = order.size(); left > 1; --left) {
    const auto pick = static_cast<std::size_t>(random.below(left));
    std::swap(order[left - 1], order[pick]);
  }
  return share(order);
}

Result<std::vector<std::int64_t>> DistributedSampler::indices_from(std::span<const std::int64_t> permutation) const {
  if (static_cast<std::int64_t>(permutation.size()) == dataset_length_) return share(permutation);
  return Error{
      Code::invalid_argument,
      fmt::format("a permutation of {} indices for a data set of {} samples", permutation.size(), dataset_length_),
      {}};
}

std::vector<std::int64_t> DistributedSampler::share(std::span<const std::int64_t> order) const {
  std::vector<std::int64_t> mine;
  if (order.empty()) return mine;
  mine.reserve(static_cast<std::size_t>(length_));
  for (std::int64_t at = rank_; at < total_size(); at += replicas_)
    mine.push_back(order[static_cast<std::size_t>(at % dataset_length_)]);
  return mine;
}

std::vector<std::int64_t> chunk_sizes(std::int64_t batch, int devices) {
  std::vector<std::int64_t> sizes;
  if (batch <= 0 || devices < 1) return sizes;
  const std::int64_t piece = (batch + devices - 1) / devices;
  for (std::int64_t left = batch; left > 0; left -= piece) sizes.push_back(std::min(piece, left));
  return sizes;
}

}  // namespace pdsim
