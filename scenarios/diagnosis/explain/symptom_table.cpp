#include "scenarios/diagnosis/explain/symptom_table.h"

namespace pdsim::scenarios {
namespace {

constexpr std::string_view who_waited =
    "It proves that this rank waited in the call. The missing or late rank prints no such line: compare the calls that "
    "every rank enqueued and completed.";
constexpr std::string_view somebody_left =
    "It proves that the process at the other end closed the connection or ended. That process's own log shows the "
    "reason; the first error by time is the cause.";
constexpr std::string_view store_ended =
    "It proves that the process that serves the store (rank 0, or the launcher) ended or closed while this rank needed it. Its log says why.";
constexpr std::string_view process_ended =
    "It proves which process ended, and how. Later errors of the other ranks follow from it.";
constexpr std::string_view inner_check =
    "It proves that a check inside NCCL failed on this rank, often because of what a peer or the network sent. The text after `Last "
    "error`, or with NCCL_DEBUG=WARN the line above, says which check.";
constexpr std::string_view rejected_use =
    "It proves that NCCL rejected a call of this rank. Most often two ranks use one GPU; the text after `Last error`, or with "
    "NCCL_DEBUG=WARN the line above, names the reason.";
constexpr std::string_view no_answer =
    "It proves that an InfiniBand connection got no answer: the other host, its port or a switch between them stopped. The link counters "
    "show which.";
constexpr std::string_view keys_differ =
    "It proves that the checkpoint was written by a model with different names or shapes; `module.` in front of every "
    "name means with or without the wrapper.";

constexpr Symptom symptom_rows[] = {
    // NCCL's watchdog, as ProcessGroupNCCL prints it
    {"watchdog-timeout", false,
     "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=*, OpType=*, NumelIn=*, NumelOut=*, Timeout(ms)=*) "
     "ran for * milliseconds before timing out.",
     who_waited},
    {"watchdog-timeout", false,
     "Caught collective operation timeout: WorkNCCL(OpType=*, TensorShape=[*], Timeout(ms)=*) ran for * milliseconds "
     "before timing out.",
     who_waited},
    {"watchdog-timeout", false, "Timeout at NCCL work: *, last enqueued NCCL work: *, last completed NCCL work: *.",
     who_waited},
    {"watchdog-timeout", false,
     "failure detected by watchdog at work sequence id: * PG status: last enqueued work: *, last completed work: *",
     who_waited},
    {"watchdog-timeout", false,
     "Received a dump signal due to a collective timeout from * rank * and we will try our best to dump the debug "
     "info. "
     "Last enqueued NCCL work: *, last completed NCCL work: *.",
     "It proves how far this rank had come when another one timed out: a rank whose last enqueued number is below the "
     "call that timed out never made that call."},
    {"watchdog-timeout", false,
     "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU "
     "operations might run on "
     "corrupted/incomplete data.",
     who_waited},
    {"process-aborted", false, "To avoid data inconsistency, we are taking the entire process down.",
     "It proves that NCCL's watchdog ended this process. The line before it says which call timed out or failed."},
    {"process-aborted", false, "Process group watchdog thread terminated with exception: *",
     "It proves that NCCL's watchdog ended this process. The text after it says which call timed out or failed."},
    {"rank-hung", true,
     "ProcessGroupNCCL's watchdog got stuck for * seconds without making progress in monitoring enqueued collectives. "
     "This typically indicates a NCCL/CUDA API hang blocking the watchdog",
     "It proves that a thread of this process stopped inside CUDA or NCCL, or holds Python's lock. A native stack of "
     "the process shows which call it is in (py-spy dump --native, gdb)."},
    {"rank-hung", true,
     "Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=*",
     "It proves that this process's watchdog did not run for minutes. A native stack of the process shows which call "
     "holds it up."},
    {"missing-call", true,
     "To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are: [*] finished collective #*, "
     "but didn't join "
     "collective #* (count from 1)",
     "It proves which ranks did not make the call in which the others wait. Their stacks show where they were instead."},
    {"missing-call", true,
     "To our best knowledge, ranks [*] are the lagging ranks that caused this timeout. They never joined any "
     "collectives",
     "It proves which ranks never made a call on this group."},
    {"group-unusable", false,
     "Found key in store: NCCLABORTEDCOMM:*, from rank: *. This means that rank has aborted its NCCL communicators "
     "previously and is not in a "
     "healthy state.",
     "It proves that the named rank gave up first. Its log has the cause."},
    {"group-unusable", false, "NCCL communicator was aborted on rank *. Original reason for failure was: *",
     "It proves that an earlier error of this rank ended the communicator; the text after `was:` is that error."},
    {"store-key-missing", false,
     "[*] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '*', "
     "but store->get('*') got "
     "error: Timeout waiting for key",
     "It proves that rank 0 of the group did not begin its first call on this group in time: rank 0 never reached it, "
     "reached it late, or ended."},
    // NCCL itself
    {"device-shared", true, "Duplicate GPU detected : rank * and rank * both on CUDA device *",
     "It proves that two ranks of one host use one GPU: torch.cuda.set_device(local_rank) is missing or is called too "
     "late."},
    {"peer-closed", false,
     "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
     somebody_left},
    {"peer-closed", false, "NCCL WARN socketProgress: Connection closed by remote peer *", somebody_left},
    {"connection-lost", false,
     "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
     "It proves that NCCL could not open, write or read a socket, or get memory. NCCL_DEBUG=INFO prints which; a wrong "
     "NCCL_SOCKET_IFNAME "
     "and too small /dev/shm are the usual reasons."},
    {"connection-lost", false,
     "NCCL WARN Call to ibv_* failed with error * transport retry counter exceeded * Got completion from peer * with "
     "status=12", no_answer},
    {"connection-lost", false,
     "NCCL WARN NET/IB : Got completion from peer * with status=* opcode=* len=* vendor err * (Recv) localGid * remoteGids *", no_answer},
    {"collective-mismatch", true,
     "NCCL WARN Mismatched collective detected, please check your collective calls at and around rank *.",
     "It proves that ranks called different collectives, or one with different sizes."},
    {"rank-died", true, "NCCL error in: *, unhandled cuda error, NCCL version *",
     "It proves that a CUDA call of this rank failed inside NCCL; with NCCL_DEBUG=WARN the line above names it."},
    {"connection-lost", false, "NCCL error in: *, unhandled system error, NCCL version *",
     "It proves that a system call of this rank failed inside NCCL: a socket, memory, or a file in /dev/shm. The text after `Last "
     "error`, or with NCCL_DEBUG=WARN the line above, says which."},
    {"connection-lost", false, "NCCL error in: *, internal error - please report this issue to the NCCL developers, NCCL version *", inner_check},
    {"connection-lost", false, "ncclInternalError: Internal check failed.", inner_check},
    {"peer-closed", false, "NCCL error in: *, remote process exited or there was a network error, NCCL version *", somebody_left},
    {"device-shared", false, "NCCL error in: *, invalid usage, NCCL version *", rejected_use},
    {"invalid-argument", false, "NCCL error in: *, invalid argument, NCCL version *",
     "It proves that NCCL rejected an argument of this rank's call; with NCCL_DEBUG=WARN the line above names it."},
    {"rank-died", true, "NCCL WARN Cuda failure * '*'",
     "It proves that a CUDA call of this rank failed inside NCCL; the words in quotes are CUDA's."},
    {"device-shared", false, "ncclInvalidUsage: This usually reflects invalid usage of NCCL library", rejected_use},
    {"limit-exceeded", true, "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-* (size *)",
     "It proves that /dev/shm is too small; in a container it has 64 MB unless the container is started with "
     "--shm-size or --ipc=host."},
    {"unavailable", true, "CUDA error: peer access is not supported between these two devices",
     "It proves that two GPUs cannot reach each other's memory; NCCL_P2P_DISABLE=1 makes NCCL copy through the host."},
    {"rank-died", true, "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
     "It proves that the process used CUDA before it forked this one: start ranks with torchrun or spawn."},
    {"rank-died", true, "ncclUnhandledCudaError: Call to CUDA function failed. Last error: Cuda failure *",
     "It proves that a CUDA call of this rank failed inside NCCL; the text after `Cuda failure` says how. The others "
     "wait for this rank."},
    {"connection-lost", false, "NCCL WARN Error: failed to extend /dev/shm/nccl-* to * bytes",
     "It proves that /dev/shm of this host or container is too small for NCCL (docker run --shm-size)."},
    {"connection-lost", false, "NCCL WARN Bootstrap : no socket interface found",
     "It proves that no network interface of this host matches NCCL_SOCKET_IFNAME."},
    {"connection-refused", false, "NCCL INFO Call to connect returned Connection refused, retrying",
     "It proves that nobody was listening at the peer's address at that moment: the peer ended, or a firewall is "
     "between."},
    {"parameter-mismatch", true, "NCCL WARN Message truncated : received * bytes instead of *",
     "It proves that two ranks passed tensors of different sizes to one call, or met in different calls."},
    // TORCH_DISTRIBUTED_DEBUG=DETAIL
    {"collective-mismatch", true,
     "Detected mismatch between collectives on ranks. Rank * is running collective: "
     "CollectiveFingerPrint(SequenceNumber=*, OpType=*, "
     "TensorShape=[*]), but Rank * is running collective: CollectiveFingerPrint(SequenceNumber=*, OpType=*, "
     "TensorShape=[*]).",
     "It proves that these two ranks met in different calls. The other ranks' errors and the stacks show which of them "
     "is the odd one."},
    {"collective-mismatch", true,
     "Collectives differ in the following aspects: Sequence number: * vs * Op type: * vs *",
     "It proves that these two ranks met in different calls; a sequence number that differs shows which rank "
     "made more calls."},
    {"parameter-mismatch", true, "Collectives differ in the following aspects: Tensor Tensor shapes: * vs *",
     "It proves that two ranks passed tensors of different shapes or types to one call."},
    // monitored_barrier
    {"timeout", false,
     "Rank * timed out in monitoredBarrier after * ms. No ranks successfully processed in monitoredBarrier.",
     "It proves that some rank did not reach the barrier in time, but not which one."},
    {"missing-call", true, "Rank * failed to pass monitoredBarrier in * ms",
     "It proves that the named rank did not reach the barrier in time. Its own log or stack shows where it was."},
    {"missing-call", true, "Ranks * failed to pass monitoredBarrier in * ms",
     "It proves that the named ranks did not reach the barrier in time. Their own logs or stacks show where they were."},
    {"timeout", false, "Rank * timed out in monitoredBarrier after * ms. Successfully processed ranks: *",
     "It proves that a rank that is not among those processed did not come, but not which one."},
    {"timeout", false,
     "Rank * successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank *. "
     "Please check rank * logs for "
     "faulty rank.",
     "It proves that this rank reached the barrier. Rank 0's own error names the ranks that did not."},
    // Gloo
    {"peer-closed", false, "Connection closed by peer [*]:*", somebody_left},
    {"peer-closed", false, "Read error [*]:*: Connection reset by peer", somebody_left},
    {"peer-closed", false, "writev [*]:*: Broken pipe", somebody_left},
    {"timeout", false, "Timed out waiting *ms for send operation to complete",
     "It proves that this rank waited; the peer that did not receive is not named. Compare the calls of all ranks."},
    {"timeout", false, "Timed out waiting *ms for recv operation to complete",
     "It proves that this rank waited; the peer that did not send is not named. Compare the calls of all ranks."},
    {"timeout", false, "Application timeout caused pair closure",
     "It proves that an earlier timeout of this process closed its connections; that timeout is the error to look at."},
    {"parameter-mismatch", true, "[enforce fail at *pair.cc:*] op.preamble.length <= op.nbytes. * vs *",
     "It proves that a message was longer than the receiving buffer: two ranks passed tensors of different sizes to "
     "one call, or met in different calls. Gloo ends the process at once."},
    {"connection-refused", true,
     "Gloo connectFullMesh failed with * connect * SO_ERROR: Connection refused, remote=[*]:*",
     "It proves that nobody was listening at the address that the peer had published: an interface that others cannot "
     "reach (GLOO_SOCKET_IFNAME), or a peer that ended."},
    {"rendezvous-timeout", true, "Gloo connectFullMesh failed with * Connect timeout [*]:*",
     "It proves that the peer's address did not answer: a firewall, or an interface that others cannot reach "
     "(GLOO_SOCKET_IFNAME)."},
    {"variable-missing", false, "Unable to resolve hostname to a (local) address",
     "It proves that this host's name does not resolve to one of its addresses; set GLOO_SOCKET_IFNAME or repair "
     "/etc/hosts."},
    {"variable-missing", false, "[enforce fail at *device.cc:*] ifa != nullptr. Unable to find interface for: [*]",
     "It proves that this host's name resolves to an address that none of its interfaces has; set GLOO_SOCKET_IFNAME or "
     "repair /etc/hosts."},
    {"variable-missing", false, "[enforce fail at *device.cc:*] rp != nullptr. Unable to find address for: *",
     "It proves that this host does not have the interface that GLOO_SOCKET_IFNAME names."},
    {"parameter-mismatch", true, "ProcessGroupGloo::*: invalid tensor size at index * (expected (*), got (*))",
     "It proves that this rank passed tensors of different shapes to one call; its own lists do not match."},
    {"call-not-offered", true, "Cannot use ReduceOp.AVG with Gloo", "It proves that Gloo does not support this reduce "
                                                                    "operation."},
    {"unsupported", true, "RuntimeError: Invalid scalar type",
     "It proves that the backend does not support this element type; convert the tensor first."},
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
    {"invalid-argument", false, "Grad strides do not match bucket view strides.",
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
    {"invalid-argument", true, "ValueError: Attempting to unscale FP16 gradients.",
     "It proves that the model's parameters are in half precision: with a GradScaler they stay in f32, and autocast chooses f16."},
    {"shape-mismatch", true, "mat1 and mat2 shapes cannot be multiplied (* and *)",
     "It proves that the input of a layer does not have the layer's width."},
    // Fully sharded training
    {"collective-mismatch", true,
     "Forward order differs across ranks: rank * is all-gathering * parameters for [*] while rank * is all-gathering * "
     "parameters for [*]",
     "It proves that the ranks went through the units of the sharded model in different orders; a branch that depends on "
     "the rank or its data is the usual reason."},
    {"device-shared", true, "Inconsistent compute device and `device_id` on rank *: * vs *",
     "It proves that the model is not on the GPU that device_id names: torch.cuda.set_device(local_rank) is missing or "
     "is called too late."},
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
    {"invalid-argument", true,
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
    // init_process_group, stores and rendezvous
    {"not-initialized", true,
     "Default process group has not been initialized, please make sure to call init_process_group.",
     "It proves that this process used the group before it called init_process_group, or never called it."},
    {"not-initialized", true, "AssertionError: Default process group is not initialized",
     "It proves that this process used the group before it called init_process_group, or never called it."},
    {"initialized-twice", true, "trying to initialize the default process group twice!",
     "It proves that init_process_group was called while a group existed; a framework may have created one."},
    {"rendezvous-timeout", false,
     "Timed out initializing process group in store based barrier on rank: *, for key: store_based_barrier_key:* (world_size=*, "
     "worker_count=*, timeout=*)",
     "It proves how many ranks joined (worker_count) of how many (world_size); the logs of the missing ones show why."},
    {"rendezvous-timeout", false, "RuntimeError: Wait timeout",
     "It proves that this rank waited for another one's entry in the store; a shared file needs a file system that locks."},
    {"store-timeout", false, "RuntimeError: Socket Timeout",
     "It proves that this rank waited for the store, or for a key that another rank sets, for the store's whole timeout."},
    {"port-in-use", true,
     "The server socket has failed to listen on any local network address. port: *, useIpv6: *, code: -98, name: "
     "EADDRINUSE, message: address "
     "already in use",
     "It proves that another process of this host has the port: another job, or a leftover process of an earlier one."},
    {"port-in-use", true, "The server socket has failed to bind to [::]:* (errno: 98 - Address already in use).",
     "It proves that another process of this host has the port: another job, or a leftover process of an earlier one."},
    {"variable-missing", true,
     "Error initializing torch.distributed using env:// rendezvous: environment variable * expected, but not set",
     "It proves that the launcher's variables did not reach this process."},
    {"rendezvous-timeout", false, "Timed out after * seconds waiting for clients. */* clients joined.",
     "It proves how many processes reached the store in time, and that the others did not, but not which ones."},
    {"rendezvous-timeout", false, "The client socket has timed out after *ms while trying to connect to (*, *).",
     "It proves that nobody answered at MASTER_ADDR:MASTER_PORT in time: rank 0 did not start, or the address or a "
     "firewall is wrong."},
    {"rendezvous-timeout", true,
     "The IPv6 network addresses of (*, *) cannot be retrieved (gai error: * - Name or service not known).",
     "It proves that the name in MASTER_ADDR does not resolve on this host."},
    {"rendezvous-timeout", false, "connect() timed out. Original timeout was * ms.",
     "It proves that nobody answered at MASTER_ADDR:MASTER_PORT in time: rank 0 did not start, or the address or a "
     "firewall is wrong."},
    {"connection-refused", true, "The client socket has failed to connect to [*]:* (errno: 111 - Connection refused).",
     "It proves that nobody was listening there at that moment. It is only a warning while rank 0 is still starting."},
    {"store-timeout", false, "wait timeout after *ms, keys: *",
     "It proves that the key was not set in time. The process that should have set it ended, did not reach that point, "
     "or is in another group."},
    {"store-timeout", false, "torch.distributed.DistStoreError: Socket Timeout",
     "It proves that the store did not have the wanted key in time, but not which key, or which rank should have set "
     "it."},
    {"store-gone", true,
     "recvValue failed on SocketImpl(fd=*, addr=*, remote=*): Failed to recv, got 0 bytes. Connection was likely "
     "closed. Did the remote server "
     "shutdown or crash?",
     store_ended},
    {"store-gone", true, "sendBytes failed on SocketImpl(fd=*, addr=*, remote=*): Broken pipe", store_ended},
    {"store-gone", true,
     "Failed to check the \"should dump\" flag on TCPStore, (maybe TCPStore server has shut down too early)",
     store_ended},
    {"store-gone", true, "Stop_waiting response is expected", store_ended},
    {"connection-refused", true, "RendezvousConnectionError: The connection to the C10d store has failed.",
     "It proves that the launcher could not reach the rendezvous endpoint: its address, its port, or the host that "
     "serves it."},
    {"rendezvous-timeout", false, "RendezvousTimeoutError",
     "It proves that fewer nodes joined the rendezvous than --nnodes asks for, but not which ones are missing."},
    {"stale-rendezvous", true, "RendezvousClosedError",
     "It proves that the rendezvous of this --rdzv-id was already closed: an earlier run with the same id had ended, or "
     "this node restarted after the others had finished. Use a new id for each run."},
    {"variable-missing", true, "error: unrecognized arguments: --local-rank=*",
     "It proves that the launcher passed the local rank as an argument that the script does not accept; read "
     "LOCAL_RANK from the environment instead."},
    {"variable-missing", true, "KeyError: 'LOCAL_RANK'",
     "It proves that the script was started without torchrun, which sets LOCAL_RANK."},
    // Wrong calls
    {"device-without-backend", true, "No backend type associated with device type *",
     "It proves that the tensor is on a device that no backend of this group supports."},
    {"device-without-backend", true, "Tensors must be CUDA and dense",
     "It proves that a tensor on the CPU was passed to NCCL."},
    {"device-without-backend", true,
     "Could not run 'c10d::*' with arguments from the 'CPU' backend.",
     "It proves that a tensor on the CPU was passed to a group whose backend supports only GPUs."},
    {"unavailable", true, "Distributed package doesn't have NCCL built in",
     "It proves that this build of PyTorch has no NCCL: a CPU build, or one for Windows or macOS."},
    {"unavailable", true, "ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
     "It proves that this process sees no GPU: there is none, or CUDA_VISIBLE_DEVICES hides them."},
    {"device-shared", true, "CUDA error: invalid device ordinal",
     "It proves that this rank asked for a GPU that its host does not have: most often the global rank was used in "
     "place of the local one."},
    {"root-mismatch", true, "Argument ``scatter_list`` must be specified on source rank.",
     "It proves that this rank is the source of the scatter but passed no list: it expects another rank to be the "
     "source."},
    {"root-mismatch", true, "Argument ``gather_list`` must NOT be specified on non-destination ranks.",
     "It proves that this rank passed a list to receive into although another rank is the destination."},
    {"group-destroyed", true, "Invalid process group specified or has been destroyed.",
     "It proves that the group was destroyed before this call, or never created on this rank."},
    {"collective-mismatch", true, "broadcast_object_list RuntimeError: Trying to create tensor with negative dimension *",
     "It proves that the length of an object was received from another call: the ranks are not at the same call."},
    {"strided-view", true, "Tensors must be contiguous",
     "It proves that a view that is not contiguous was passed; call .contiguous() first."},
    {"call-not-offered", true, "Backend * does not support *",
     "It proves that the backend of this group does not support the call."},
    {"root-not-in-group", true, "Global rank * is not part of group *",
     "It proves that a call on a group named a rank that is not in it; src and dst are global ranks."},
    {"outside-of-group", true, "Running * on global rank * which does not belong to the given group.",
     "It proves that a rank made a call on a group that it does not belong to; the call did nothing there."},
    {"barrier-device", true,
     "using GPU * to perform barrier as devices used by this process are currently unknown. This can potentially cause "
     "a hang if this rank to "
     "GPU mapping is incorrect.",
     "A warning: barrier guessed the GPU from the rank. Pass device_id to init_process_group."},
    {"barrier-device", true,
     "Guessing device ID based on global rank. This can cause a hang if rank to GPU mapping is heterogeneous.",
     "A warning: barrier guessed the GPU from the rank. Pass device_id to init_process_group."},
    {"parameter-mismatch", true, "All tensor operands to scatter/gather must have the same number of elements",
     "It proves that this rank passed tensors of different sizes in one call; all_gather takes equal ones, or a list per size."},
    {"parameter-mismatch", true, "output tensor must have the same type as input tensor",
     "It proves that this rank passed one call an output of another dtype than its input."},
    {"parameter-mismatch", true, "output tensor size must be equal to world_size times input tensor size",
     "It proves that this rank's output does not have room for one input of every rank."},
    {"unsupported", true, "Input tensor data type is not supported for NCCL process group: *",
     "It proves that NCCL does not support this element type; convert the tensor first."},
    // Launchers and MPI
    {"rank-died", true,
     "Root Cause (first observed failure): rank : * (local_rank: *) exitcode : * (pid: *) traceback : Signal * "
     "received by PID *",
     process_ended},
    {"rank-died", true, "failed (exitcode: *) local_rank: * (pid: *) of binary: *", process_ended},
    {"rank-died", true, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError", process_ended},
    {"rank-died", true, "torch.multiprocessing.spawn.ProcessExitedException: process * terminated with signal *",
     process_ended},
    {"rank-died", false, "Sending process * closing signal SIGTERM",
     "It proves that the launcher ended this process because another one had failed; the one that failed is named "
     "later."},
    {"rank-died", true, "CUDA out of memory. Tried to allocate * GPU * has a total capacity of * of which * is free.",
     "It proves that this rank had no device memory left and raised. The others wait for it in their next call."},
    {"unavailable", true, "RuntimeError: Ninja is required to load C++ extensions",
     "It proves that this rank could not compile an extension and raised. The others wait for it in their next call."},
    {"rank-died", true, "CUDA error: device-side assert triggered",
     "It proves that a kernel of this rank failed, most often for an index out of range. The others wait for it."},
    {"rank-died", true, "CUDA error: an illegal memory access was encountered",
     "It proves that a kernel of this rank failed. Run it with CUDA_LAUNCH_BLOCKING=1 to see which. The others wait for it."},
    {"rank-died", true,
     "RuntimeError: DataLoader worker (pid *) is killed by signal: *. It is possible that dataloader's workers are out "
     "of shared memory.",
     "It proves that a worker process of this rank's loader was killed, most often for lack of memory; the rank raised "
     "and the others wait for it."},
    {"rank-died", false, "torch.distributed.elastic.multiprocessing.api.SignalException: Process * got signal: *",
     "It proves that the launcher itself was told to end: the scheduler cancelled or preempted the job, or somebody "
     "pressed Ctrl-C."},
    {"rank-died", true,
     "slurmstepd: error: Detected * oom_kill event in StepId=*. Some of the step tasks have been OOM Killed.",
     "It proves that the kernel killed a process of this step for lack of host memory."},
    {"rank-died", true, "srun: error: *: task *: Segmentation fault (core dumped)", process_ended},
    {"rank-died", true, "ORTE has lost communication with a remote daemon.",
     "It proves that mpirun lost a host: it went down, or the network to it did."},
    {"rank-died", true, "MPI_ABORT was invoked on rank * in communicator MPI_COMM_WORLD with errorcode *.",
     process_ended},
    {"rank-died", true, "mpirun noticed that process rank * with PID * on node * exited on signal * (*).",
     process_ended},
    {"rank-died", true, "Primary job terminated normally, but * process returned a non-zero exit code.", process_ended},
    {"unsupported", false, "A process has executed an operation involving a call to the \"fork()\" system call to create a child process.",
     "A warning: a process forked after MPI_Init, such as a DataLoader's worker. With some networks that corrupts memory; start "
     "workers by spawn, or before MPI_Init."},
    {"world-size", true,
     "There are not enough slots available in the system to satisfy the * slots that were requested by the application",
     "It proves that mpirun was asked for more ranks than its hosts offer; nothing was started."},
    {"root-not-in-group", true, "MPI_ERR_ROOT: invalid root",
     "It proves that a call named a root that its communicator does not have."},
    {"parameter-mismatch", true, "MPI_ERR_TRUNCATE: message truncated",
     "It proves that a message was longer than its receive: the counts differ, or the calls do not belong together."},
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

std::span<const Symptom> symptom_table() { return symptom_rows; }

}  // namespace pdsim::scenarios
