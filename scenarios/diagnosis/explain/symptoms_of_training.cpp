#include "scenarios/diagnosis/explain/symptom_table.h"

namespace pdsim::scenarios {
namespace {

constexpr std::string_view keys_differ =
    "It proves that the checkpoint was written by a model with different names or shapes; `module.` in front of every "
    "name means with or without the wrapper.";
constexpr std::string_view order_changed =
    "It proves that this rank used the units of the sharded model in another order than in its first iteration; if the others did not, they "
    "are at different calls.";

constexpr Symptom rows_of_training[] = {
    // The Reducer and DistributedDataParallel
    {"unused-parameters", true,
     "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
     "your module has "
     "parameters that were not used in producing loss.",
     "It proves that the last backward of this rank left parameters without a gradient. The list of indices at its end "
     "says which ones (TORCH_DISTRIBUTED_DEBUG=DETAIL prints names)."},
    {"unused-parameters", true, "Parameter indices which did not receive grad for rank *: *",
     "It proves which parameters got no gradient on that rank, by their position in model.parameters()."},
    {"unused-parameters", true, "Parameters which did not receive grad for rank *: *",
     "It proves which parameters got no gradient on that rank."},
    {"unused-parameters", false,
     "find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters in the "
     "forward pass. This flag "
     "results in an extra traversal of the autograd graph every iteration",
     "A warning: in this iteration every parameter was used, so the search cost time and found nothing."},
    {"marked-ready-twice", true,
     "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a "
     "module parameter outside "
     "the `forward` function. 2) Reused parameters in multiple reentrant backward passes.",
     "It proves that one backward accumulated twice into a parameter."},
    {"marked-ready-twice", true, "Parameter at index * with name * has been marked as ready twice.",
     "It proves that one backward accumulated twice into the named parameter."},
    {"static-graph-changed", true,
     "Your training graph has changed in this iteration, e.g., one parameter is unused in first iteration, but then "
     "got used in the second "
     "iteration. this is not compatible with static_graph set to True.",
     "It proves that the set of used parameters changed, although static_graph=True promises that it does not."},
    {"saved-tensor-modified", true,
     "one of the variables needed for gradient computation has been modified by an inplace operation: [*] is at "
     "version *; expected version * "
     "instead.",
     "It proves that a tensor which backward needs was written in place. With two forwards through DDP before one "
     "backward, its buffer "
     "broadcast is the writer (buffer-broadcast-inplace)."},
    {"gradient-layout", false, "Grad strides do not match bucket view strides.",
     "A warning: this gradient lies in memory in another order than in its bucket, which may cost time. The training is right; a contiguous "
     "parameter ends the warning."},
    {"model-differs", true,
     "DDP expects same model across all ranks, but Rank * has * params, while rank * has inconsistent * params.",
     "It proves that the ranks wrapped models with different numbers of parameters."},
    {"model-differs", true,
     "[*]: params[*] in this process with sizes [*] appears not to match sizes of the same param in process 0.",
     "It proves that a parameter has a different shape on this rank than on rank 0."},
    {"nothing-to-train", true,
     "DistributedDataParallel is not needed when a module doesn't have any parameters that require a gradient.",
     "It proves that every parameter was frozen when the module was wrapped."},
    {"device-without-backend", true,
     "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU "
     "modules or CPU modules, but got device_ids [*], output_device *, and module parameters {device(type=*)}.",
     "It proves that the model is not on the GPU that device_ids names: call model.to(device) first."},
    {"device-without-backend", true, "SyncBatchNorm expected input tensor to be on GPU",
     "It proves that the input of SyncBatchNorm is on the CPU; it works only on GPUs."},
    {"inputs-exhausted", true, "Detected at least one rank that exhausted inputs. Throwing across all ranks.",
     "It proves that some rank had fewer batches than others."},
    {"autograd-misuse", true, "element 0 of tensors does not require grad and does not have a grad_fn",
     "It proves that backward was called on a tensor that does not depend on any trainable parameter."},
    {"autograd-misuse", true,
     "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
     "been freed).",
     "It proves that a second backward went through a graph whose saved tensors were freed."},
    {"scaler-half-precision", true, "ValueError: Attempting to unscale FP16 gradients.",
     "It proves that the model's parameters are in half precision: with a GradScaler they stay in f32, and autocast chooses f16."},
    {"shape-mismatch", true, "mat1 and mat2 shapes cannot be multiplied (* and *)",
     "It proves that the input of a layer does not have the layer's width."},
    {"devices-differ", true, "Expected all tensors to be on the same device, but found at least two devices, * and *!",
     "It proves that one operation of this rank was given tensors of two devices; no collective is involved."},
    {"unused-parameters", true,
     "It looks like your LightningModule has parameters that were not used in producing the loss returned by training_step.",
     "It proves that the last backward of this rank left parameters without a gradient; this is Lightning's wording of DDP's error. With "
     "Lightning the option is strategy='ddp_find_unused_parameters_true'."},
    {"marked-ready-twice", true,
     "The parameter * has already been reduced. Gradient computed twice for this partition. Multiple gradient reduction is currently not "
     "supported",
     "It proves that one backward accumulated twice into the named parameter (DeepSpeed ZeRO 1 or 2): reentrant checkpointing, or a module "
     "that runs twice in one loss."},
    {"marked-ready-twice", true, "assert len(set(p.ds_id for p in self.params_in_ipg_bucket)) == len(self.params_in_ipg_bucket)",
     "It proves that one backward put a parameter into the bucket twice (DeepSpeed ZeRO 3): reentrant checkpointing, or a module that runs "
     "twice in one loss."},
    {"parameter-mismatch", true,
     "Cannot apply desired operation due to shape mismatches. All shapes across devices must be valid.",
     "It proves that the processes passed tensors of different shapes to one operation of Accelerate; the list below it has the shape of "
     "each. pad_across_processes makes them equal."},
    // Fully sharded training
    {"collective-mismatch", true,
     "Forward order differs across ranks: rank * is all-gathering * parameters for [*] while rank * is all-gathering * "
     "parameters for [*]",
     "It proves that the ranks went through the units of the sharded model in different orders; a branch that depends on "
     "the rank or its data is the usual reason."},
    {"device-shared", true, "Inconsistent compute device and `device_id` on rank *: * vs *",
     "It proves that the model is not on the GPU that device_id names: torch.cuda.set_device(local_rank) is missing or "
     "is called too late."},
    {"collective-mismatch", true,
     "All-gather order differs from that of the first iteration on rank * -- collectives are unsynchronized and may hang",
     order_changed},
    {"collective-mismatch", true,
     "Forward order differs from that of the first iteration on rank *. Collectives are unchecked and may give incorrect results or hang.",
     order_changed},
    {"collective-mismatch", true,
     "Expected no more all-gathers but got *",
     order_changed},
    {"collective-mismatch", true,
     "Expects the number of all-gathers to be * but got *",
     order_changed},
    {"collective-mismatch", true,
     "Expected to not all-gather any more parameters in the forward but trying to all-gather parameters for *",
     order_changed},
    {"collective-mismatch", true,
     "Expected to all-gather for * but trying to all-gather parameters for *",
     order_changed},
    // Remote procedure calls
    {"not-initialized", true, "RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.",
     "It proves that this process made a remote call before init_rpc, or after shutdown."},
    {"not-initialized", true,
     "Current RPC agent is not set! Did you initialize the RPC framework (e.g. by calling `rpc.init_rpc`)?",
     "It proves that this process made a remote call before init_rpc, or after shutdown."},
    {"peer-closed", false,
     "RPC agent for * encountered error when reading incoming request from *: eof (this error originated at tensorpipe*)",
     somebody_left},
    {"connection-refused", true,
     "RPC agent for * encountered error when sending outgoing request * to *: ECONNREFUSED: connection refused (this "
     "error originated at tensorpipe*)",
     "It proves that nobody was listening at the worker's address: it ended, or published an address that others "
     "cannot reach (TP_SOCKET_IFNAME)."},
    {"lazy-parameters", true,
     "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy forward pass",
     "It proves that a lazy layer does not know its shapes yet: run one forward on every rank before wrapping the model."},
    {"gradients-not-reduced", true, "'DistributedDataParallel' object has no attribute '*'",
     "It proves that the model's own attributes were looked up on the wrapper: they are in model.module. Read them "
     "there, but call the wrapper, because model.module(...) does not average gradients."},
    {"nothing-to-train", true, "ValueError: optimizer got an empty parameter list",
     "It proves that the optimizer was created for a model without parameters on this rank."},
    // Checkpoints
    {"checkpoint-keys", true,
     "Error(s) in loading state_dict for *: Missing key(s) in state_dict: \"*\". Unexpected key(s) in state_dict: "
     "\"module.*\"",
     keys_differ},
    {"checkpoint-keys", true,
     "size mismatch for *: copying a param with shape torch.Size([*]) from checkpoint, the shape in current model is "
     "torch.Size([*]).",
     keys_differ},
    {"checkpoint-keys", true, "FSDP assumes * is in the state_dict but the state_dict only has *", keys_differ},
    {"checkpoint-keys", true, "Missing key in checkpoint state_dict: *", keys_differ},
    {"checkpoint-race", true, "PytorchStreamReader failed reading zip archive: failed finding central directory",
     "It proves that the file was incomplete when it was read: another rank was still writing it, several wrote it at "
     "once, or the writer died."},
    // torch.distributed.rpc
    {"rpc-server-threads", false, "RPCErr:1:RPC ran for more than set timeout (* ms) and will now be marked with an error",
     "It proves that no reply was handled within the limit: the function still runs or waits at the callee, or no "
     "server thread was free for the call or its reply."},
    {"rpc-worker-left", false, "Followers [*] timed out in _all_gather after * seconds. The first exception is *",
     "It proves which workers did not reach shutdown. Their own logs show whether they ended, crashed or still work."},
    {"rpc-worker-left", false, "Followers [*] timed out in _all_gather after * seconds.",
     "It proves which workers did not reach shutdown. Their own logs show whether they ended, crashed or still work."},
    {"autograd-context-ended", true, "Could not find autograd context with id: *",
     "It proves that this worker has no such context: its block has ended, or the id belongs to another job."},
    {"invalid-argument", true, "could not find destination name *",
     "It proves that no worker of the job joined under this name; the init_rpc calls of the other workers give the names."},
};

}  // namespace

std::span<const Symptom> symptoms_of_training() { return rows_of_training; }

}  // namespace pdsim::scenarios
