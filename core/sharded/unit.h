// ShardedUnit: parameters that are gathered and released together, as one flat tensor of which every rank holds an equal part.
//
//   flat      the parameters one after another, as registered, and zeros up to a multiple of the group's size. Each parameter
//             is a view of it
//   shard     this rank's part, which the optimizer works on. Where parameters are sharded it has memory of its own, and the
//             flat tensor's is free between gather and release; else it is a view of the flat tensor
//   gather    all_gather "unit NAME" of the shards into the flat tensor; nothing where the unit is whole
//   reduce    reduce_scatter "unit NAME" of the gradients, each divided by the number of ranks before the sum as in DDP, which
//             is added to the shard's gradient. A parameter without a gradient counts as zeros
//   errors    invalid_argument, with the fact unit, for parameters of several dtypes or of which some are frozen; the process
//             group's
//   source    PyTorch's torch/distributed/fsdp (_flat_param.py, _runtime_utils.py)
#pragma once

#include "core/group/process_group.h"
#include "core/nn/tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pdsim {

class ShardedUnit {
 public:
  // `stage` of ZeRO. The group must outlive the unit; the parameters may, and then keep their memory.
  static Result<std::unique_ptr<ShardedUnit>> make(std::string name, std::vector<nn::Tensor> parameters,
                                                   ProcessGroup& group, int stage);

  const std::string& name() const { return name_; }
  std::vector<nn::Tensor>& parameters() { return parameters_; }
  nn::Tensor& shard() { return shard_; }
  bool trained() const { return trained_; }
  bool empty() const { return parameters_.empty(); }

  bool whole() const;
  Status start_gather();   // does nothing if it is whole or on its way
  Status finish_gather();  // blocks
  Status release();        // stage 3; blocks while a gather is on its way
  // For stages 1 and 2, once the optimizer wrote the shard.
  Status start_exchange_of_shards();

  Status start_reduce();                    // takes the gradients away from the parameters
  Status finish_reduce();                   // blocks; does nothing if none was started
  void drop_gradient() { gradient_ = {}; }  // the flat one, which stage 1 keeps
  // Copies the whole flat parameter's values into the shard.
  void take_shard();

  // Bytes that this rank holds now.
  std::int64_t parameter_bytes() const;
  std::int64_t gradient_bytes() const;

 private:
  ShardedUnit(std::string name, std::vector<nn::Tensor> parameters, ProcessGroup& group, int stage);
  nn::Tensor make_flat() const;
  CallOptions call() const;
  Status gather_into_flat();

  std::string name_;
  std::vector<nn::Tensor> parameters_;
  ProcessGroup& group_;
  int stage_;
  bool trained_ = false;
  std::int64_t part_ = 0;  // elements of a shard
  nn::Tensor flat_, shard_;
  bool whole_ = false;
  WorkPtr gather_, reduce_;  // under way
  nn::Tensor gradient_, reduced_;
};

}  // namespace pdsim
