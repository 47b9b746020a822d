// DistributedSampler: the samples of a data set that one rank draws in an epoch (torch/utils/data/distributed.py).
//
//   indices   length() of them on every rank: rank, rank + replicas, ... of the padded (or cut) order
//   padding   repeats the first indices, as often as needed; with drop_last the tail is dropped instead
//   shuffle   one permutation per seed + epoch, the same on all ranks, from pdsim's generator; a permutation from PyTorch
//             can be passed in, and gives PyTorch's indices
//   epoch     changes the order only through set_epoch: without it, every epoch has the same order
//   errors    invalid_argument: no replicas, a rank outside of them, a negative length, a permutation of another length
//   source    torch/utils/data/distributed.py
#pragma once

#include "core/base/result.h"
#include "core/base/types.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pdsim {

struct SamplerOptions {
  bool shuffle = true;
  bool drop_last = false;
  std::uint64_t seed = 0;
};

class DistributedSampler {
 public:
  static Result<DistributedSampler> make(std::int64_t dataset_length, int replicas, Rank rank,
                                         SamplerOptions options = {});

  void set_epoch(std::uint64_t epoch) { epoch_ = epoch; }
  // Samples per rank, the same everywhere.
  std::int64_t length() const { return length_; }
  // Samples of all ranks together.
  std::int64_t total_size() const { return length_ * replicas_; }

  std::vector<std::int64_t> indices() const;
  // The same from an external permutation; shuffle, seed and epoch are ignored.
  Result<std::vector<std::int64_t>> indices_from(std::span<const std::int64_t> permutation) const;

 private:
  DistributedSampler() = default;
  std::vector<std::int64_t> share(std::span<const std::int64_t> order) const;
  std::int64_t dataset_length_ = 0, length_ = 0;
  std::int64_t replicas_ = 1, rank_ = 0;
  SamplerOptions options_;
  std::uint64_t epoch_ = 0;
};

// Sizes of the pieces into which DataParallel splits a batch over devices: torch.chunk's, uneven, and fewer than
// `devices` when the batch does not fill them.
std::vector<std::int64_t> chunk_sizes(std::int64_t batch, int devices);

}  // namespace pdsim
