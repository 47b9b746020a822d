// FullyShardedDataParallel: a model whose optimizer state, gradients or parameters are split into equal parts over the ranks of a
// group.
//
//   forward   stage 3: all_gather "unit NAME" of the root, then of each unit before its first layer; released after its last
//             one (reshard_after_forward; the root stays whole)
//   backward  stage 3: all_gather of a released unit when the gradient of its output arrives, and of the unit that ran before
//             it (backward_prefetch: pre) at the same moment, or (post) after the unit's own backward. reduce_scatter "unit
//             NAME" when all of its gradients are ready, the root's last; in stage 1 all at the end. Blocks until all are done
//   step      over shards(), then step_done(): in stages 1 and 2 all_gather of every unit
//   skipped   a unit that a forward does not reach is not gathered, and not reduced in the backward: ranks that differ in this
//             hang
//   values    those of DistributedDataParallel, with the optimizer's arithmetic element by element: bit for bit with two
//             ranks, with more up to the order of the sums (an all_reduce and a reduce_scatter add up the ranks' parts in
//             different orders)
//   errors    invalid_argument for a layer in two units or in none of the model's, several devices, and ShardedUnit's;
//             autograd_misuse for a backward that is not this one's; the process group's
//   threads   the rank's own
//   source    PyTorch's torch/distributed/fsdp/_runtime_utils.py; ZeRO: Rajbhandari et al., 2020
//
//   auto model = FullyShardedDataParallel::wrap(module, *group, {.units = {{"block", {"fc1", "fc2"}}}});
//   if (!model.ok()) return model.error();
//   auto optimizer = nn::Optimizer::make({}, (*model)->shards());
//   ...                                       // as with DistributedDataParallel, and after each optimizer->step()
//   PDSIM_TRY((*model)->step_done());
#pragma once

#include "core/nn/autograd.h"
#include "core/nn/clip.h"
#include "core/nn/module.h"
#include "core/sharded/options.h"
#include "core/sharded/unit.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// Bytes that this rank holds now, besides buffers and activations.
struct ShardedMemory {
  std::int64_t parameters = 0;
  std::int64_t gradients = 0;
  std::int64_t most_parameters = 0;  // at any moment since wrap
};

class FullyShardedDataParallel : public std::enable_shared_from_this<FullyShardedDataParallel> {
 public:
  // Blocks if the options ask for sync_module_states. The module and the group must outlive it; from here on it owns the module's
  // parameters.
  static Result<std::shared_ptr<FullyShardedDataParallel>> wrap(nn::Module& module, ProcessGroup& group,
                                                                const ShardedOptions& options);

  Result<nn::Tensor> forward(const nn::Tensor& input, std::string_view path, nn::ForwardMode mode,
                             const nn::TensorWatcher& watch = {});
  Status backward(std::span<const nn::Tensor> losses);
  // While off (no_sync), a backward leaves whole gradients at the parameters, and the next one that reduces includes them.
  void set_require_backward_grad_sync(bool on) { synchronises_ = on; }
  bool require_backward_grad_sync() const { return synchronises_; }
  bool gradients_synchronised() const { return !local_; }

  // The shards of the trained units, in the order of the model, the root's last.
  std::vector<nn::Tensor> shards() const;
  // Clears the gradients of shards and, where a no_sync left some, of parameters.
  void zero_grad();
  Status step_done();

  // Clips by the norm over all shards, all_reduce "gradient norm"; returns that norm. As FSDP.clip_grad_norm_.
  Result<double> clip_grad_norm(const nn::ClipOptions& options);
  // Gathers all units, and shards them again (FSDP.summon_full_params); collective.
  Status gather();
  Status release();
  // Updates the shards from the module's whole parameters, after these were written.
  void take_shards();

  ShardedMemory memory() const;
  nn::Module& module() { return module_; }

 private:
  struct Place {  // a unit and its state in the current forward and backward
    std::unique_ptr<ShardedUnit> unit;
    std::vector<bool> reached, fired;  // by parameter
    bool in_backward = false, reduced = false;
  };
  class Arrival;

  FullyShardedDataParallel(nn::Module& module, ProcessGroup& group, ShardedOptions options);
  Status make_units();
  void watch_gradients();
  std::size_t root() const { return places_.size() - 1; }
  std::size_t place_of(const std::string& layer) const;
  Result<nn::Tensor> forward_in(std::size_t place, std::span<const std::string> layers, const nn::Tensor& at,
                                nn::ForwardMode mode, const nn::TensorWatcher& watch);
  Status enter(std::size_t place);
  nn::Tensor announce(std::size_t place, const nn::Tensor& output);
  Status gradient_arrived(std::size_t place);  // of the unit's output
  Status gradient_ready(std::size_t place, std::size_t parameter);
  Status backward_done(std::size_t place);
  Status prefetch_before(std::size_t place);
  Status finish_backward();
  bool all_fired(const Place& p) const;
  void look_at_memory();

  nn::Module& module_;
  ProcessGroup& group_;
  ShardedOptions options_;
  std::vector<Place> places_;                    // the root last
  std::vector<std::size_t> unit_of_layer_;       // by layer of the module
  std::vector<std::size_t> order_, last_order_;  // units as this forward ran through them, and the one before
  bool new_iteration_ = true;
  bool synchronises_ = true;
  bool local_ = false;  // a backward left gradients that are not reduced
  nn::BackwardPass* pass_ = nullptr;
  std::int64_t most_parameters_ = 0;
};

}  // namespace pdsim
