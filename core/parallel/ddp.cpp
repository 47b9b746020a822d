#include "core/parallel/ddp.h"

#include "core/parallel/agreement.h"
#include "core/parallel/bucket_layout.h"
#include "core/parallel/coalesced.h"
#include "core/parallel/model_check.h"
#include "core/parallel/reducer.h"

#include <algorithm>
#include <utility>

namespace pdsim {
namespace {

void note_tensor_event(FlightRecorder& recorder, const nn::TensorEvent& event) {
  if (event.saved)
    recorder.note(notes::TensorSaved{event.tensor, event.version, event.by});
  else
    recorder.note(notes::TensorWritten{event.tensor, event.version, event.by, false});
}

}  // namespace

DistributedDataParallel::DistributedDataParallel(nn::Module& module, ProcessGroup& group, const DdpOptions& options)
    : module_(module), group_(group), options_(options) {}

DistributedDataParallel::~DistributedDataParallel() = default;

Result<std::unique_ptr<DistributedDataParallel>> DistributedDataParallel::wrap(nn::Module& module, ProcessGroup& group,
                                                                               const DdpOptions& options) {
  std::vector<nn::Tensor> trained;
  std::copy_if(module.parameters().begin(), module.parameters().end(), std::back_inserter(trained),
               [](const nn::Tensor& p) { return p.requires_grad(); });
  if (trained.empty())
    return Error{Code::ddp_not_needed,
                 "no parameter of the module requires a gradient, so DDP has nothing to synchronise; use the module as "
                 "it is",
                 {}};
  std::unique_ptr<DistributedDataParallel> ddp(new DistributedDataParallel(module, group, options));
  if (options.check_reduction) group.recorder().note(notes::Warning{notes::WarningKind::check_reduction, 0});
  if (options.init_sync) {
    PDSIM_TRY(verify_same_model(group, trained));
    PDSIM_TRY(ddp->share_state_of(0));
  }
  ddp->build_reducer(std::move(trained));
  Result<std::unique_ptr<CommHook>> hook = CommHook::make(options.comm_hook, group);
  if (!hook.ok()) return hook.error();
  ddp->reducer_->set_hook(std::move(hook).value());
  return ddp;
}

Status DistributedDataParallel::share_state_of(Rank root) {
  std::vector<nn::Tensor> state = module_.parameters();
  const bool skip_buffers = options_.profile.skip_buffer_broadcast_in_constructor && !options_.broadcast_buffers;
  if (!skip_buffers) state.insert(state.end(), module_.buffers().begin(), module_.buffers().end());
  CoalescedOptions how;
  how.purpose = PurposeKind::parameters;
  how.root = root;
  return broadcast_coalesced(group_, state, how);
}

void DistributedDataParallel::build_reducer(std::vector<nn::Tensor> parameters) {
  const BucketLayout layout = initial_layout(sizes_of(parameters), options_);
  FlightRecorder& recorder = group_.recorder();
  const Site site = recorder.site();
  recorder.note(notes::DdpOptions{options_.find_unused_parameters, options_.broadcast_buffers,
                                  name_of(options_.comm_hook.kind), static_cast<std::int64_t>(layout.size()), site.line,
                                  site.column});
  reducer_ = Reducer::make(std::move(parameters), layout, group_, options_);
  initial_bucket_bytes_ = reducer_->bucket_bytes();
}

bool DistributedDataParallel::buffers_due() const {
  return require_forward_param_sync_ && options_.broadcast_buffers && !module_.buffers().empty();
}

// From rank 0; where ranks may have joined, from the highest that has inputs.
Status DistributedDataParallel::broadcast_buffers(bool has_inputs) {
  CoalescedOptions how;
  how.purpose = PurposeKind::buffers;
  how.raises_versions = options_.profile.buffer_broadcast_raises_versions;
  if (join_) {
    const Result<Rank> root = highest_rank(group_, has_inputs, PurposeKind::buffer_rank);
    if (!root.ok()) return root.error();
    how.root = *root;
  }
  how.written = [this](const nn::Tensor& buffer) {
    group_.recorder().note(notes::TensorWritten{buffer.name(), buffer.version(), "buffer broadcast", true});
  };
  return broadcast_coalesced(group_, module_.buffers(), how);
}

Result<nn::Tensor> DistributedDataParallel::forward(const nn::Tensor& input, std::string_view path,
                                                    nn::ForwardMode mode, const nn::TensorWatcher& watch) {
  const bool synchronised = mode.grad && require_backward_grad_sync_;
  if (synchronised) {
    reducer_->begin_iteration();
    reducer_->times().forward_began(group_.recorder().now());
  }
  if (join_) PDSIM_TRY(tell_that_inputs_are_left());
  if (mode.grad) PDSIM_TRY(reducer_->rebuild_if_due());
  if (buffers_due()) PDSIM_TRY(broadcast_buffers(true));
  if (join_) PDSIM_TRY(tell_whether_backward_syncs());

  const nn::TensorWatcher record = [this](const nn::TensorEvent& e) { note_tensor_event(group_.recorder(), e); };
  Result<nn::Tensor> output = module_.forward(input, path, mode, watch ? watch : record);
  if (!output.ok()) return output;
  require_forward_param_sync_ = synchronised;
  if (synchronised) reducer_->arm(*output);
  return output;
}

Status DistributedDataParallel::backward(std::span<const nn::Tensor> losses) {
  PDSIM_TRY(reducer_->backward(losses));
  reducer_->times().end_iteration();
  return {};
}

Status DistributedDataParallel::backward(std::span<const nn::Tensor> losses,
                                         std::span<DistributedDataParallel* const> wrapped) {
  nn::BackwardPass pass;
  for (DistributedDataParallel* ddp : wrapped) ddp->reducer_->begin_backward(pass);
  Status status = pass.run(losses);
  for (DistributedDataParallel* ddp : wrapped) {
    ddp->reducer_->end_backward(status);
    if (status.ok()) ddp->reducer_->times().end_iteration();
  }
  return status;
}

void DistributedDataParallel::set_require_backward_grad_sync(bool on) { require_backward_grad_sync_ = on; }

bool DistributedDataParallel::gradients_synchronised() const {
  return reducer_->finished() && !reducer_->has_local_gradients();
}

DdpLogging DistributedDataParallel::logging() const {
  DdpLogging log;
  log.world_size = group_.size();
  log.rank = group_.rank();
  log.bucket_sizes = initial_bucket_bytes_;
  log.has_rebuilt_buckets = reducer_->has_rebuilt();
  if (log.has_rebuilt_buckets) {
    log.rebuilt_bucket_sizes = reducer_->bucket_bytes();
    log.rebuilt_per_bucket_param_indices = reducer_->layout();
  }
  log.prev_iteration_grad_ready_order_indices = reducer_->last_ready_order();
  log.bucket_cap_bytes = options_.bucket_cap.count;
  log.broadcast_buffers = options_.broadcast_buffers;
  log.find_unused_parameters = options_.find_unused_parameters;
  log.gradient_as_bucket_view = options_.gradient_as_bucket_view;
  log.static_graph = options_.static_graph;
  log.comm_hook = name_of(options_.comm_hook.kind);
  log.iteration = reducer_->iterations();
  log.unused_parameter_size = reducer_->unused_bytes();
  log.num_buckets_reduced = static_cast<std::int64_t>(reducer_->buckets_reduced());
  log.last = reducer_->times().last();
  log.average = reducer_->times().average();
  for (const nn::LayerSpec& layer : module_.spec().layers)
    log.has_sync_bn = log.has_sync_bn || layer.kind == nn::LayerKind::sync_batchnorm;
  for (const nn::Tensor& p : reducer_->parameters()) {
    ++log.num_parameter_tensors;
    log.total_parameter_size_bytes += p.view().bytes();
    const std::string dtype = p.dtype() == DType::f64 ? "double" : "float";
    if (log.dtypes.find(dtype) == std::string::npos) log.dtypes += (log.dtypes.empty() ? "" : ", ") + dtype;
  }
  return log;
}

}  // namespace pdsim
