#include "scenarios/diagnosis/explain/symptom_table.h"

namespace pdsim::scenarios {
namespace {

constexpr Symptom rows_of_groups[] = {
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
    {"interface-missing", true, "Unable to resolve hostname to a (local) address",
     "It proves that this host's name does not resolve to one of its addresses; set GLOO_SOCKET_IFNAME or repair "
     "/etc/hosts."},
    {"interface-missing", true, "[enforce fail at *device.cc:*] ifa != nullptr. Unable to find interface for: [*]",
     "It proves that this host's name resolves to an address that none of its interfaces has; set GLOO_SOCKET_IFNAME or "
     "repair /etc/hosts."},
    {"interface-missing", true, "[enforce fail at *device.cc:*] rp != nullptr. Unable to find address for: *",
     "It proves that this host does not have the interface that GLOO_SOCKET_IFNAME names."},
    {"parameter-mismatch", true, "ProcessGroupGloo::*: invalid tensor size at index * (expected (*), got (*))",
     "It proves that this rank passed tensors of different shapes to one call; its own lists do not match."},
    {"call-not-offered", true, "Cannot use ReduceOp.AVG with Gloo", "It proves that Gloo does not support this reduce "
                                                                    "operation."},
    {"unsupported", true, "RuntimeError: Invalid scalar type",
     "It proves that the backend does not support this element type; convert the tensor first."},
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
    {"rendezvous-closed", true, "RendezvousClosedError",
     "It proves that the rendezvous of this --rdzv-id was already closed when this node joined."},
    {"variable-missing", true, "error: unrecognized arguments: --local-rank=*",
     "It proves that the launcher passed the local rank as an argument that the script does not accept; read "
     "LOCAL_RANK from the environment instead."},
    {"variable-missing", true, "KeyError: 'LOCAL_RANK'",
     "It proves that the script was started without torchrun, which sets LOCAL_RANK."},
    {"host-unreachable", true, "The client socket has failed to connect to [*]:* (errno: 110 - Connection timed out).",
     "It proves that nothing answered at this address, not even with a refusal: a firewall drops the packets, or the host is wrong or down."},
    {"host-unreachable", true, "The client socket has failed to connect to [*]:* (errno: 113 - No route to host).",
     "It proves that this host has no way to the address: a firewall, a wrong address, or a network that the two hosts do not share."},
    {"not-in-build", true, "use_libuv was requested but PyTorch was built without libuv support, run with USE_LIBUV=0 to disable it.",
     "It proves that this build of PyTorch, most often one for Windows, has no libuv: set USE_LIBUV=0, or pass use_libuv=False to TCPStore."},
    {"store-gone", true, "torch.distributed.DistNetworkError: Connection reset by peer", store_ended},
    {"store-gone", true, "torch.distributed.DistStoreError: Connection reset by peer", store_ended},
    {"store-gone", true, "torch.distributed.DistStoreError: Broken pipe", store_ended},
    // Wrong calls
    {"device-without-backend", true, "No backend type associated with device type *",
     "It proves that the tensor is on a device that no backend of this group supports."},
    {"device-without-backend", true, "Tensors must be CUDA and dense",
     "It proves that a tensor on the CPU was passed to NCCL."},
    {"device-without-backend", true,
     "Could not run 'c10d::*' with arguments from the 'CPU' backend.",
     "It proves that a tensor on the CPU was passed to a group whose backend supports only GPUs."},
    {"not-in-build", true, "Distributed package doesn't have NCCL built in",
     "It proves that this build of PyTorch has no NCCL: a CPU build, or one for Windows or macOS."},
    {"gpu-missing", true, "ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
     "It proves that this process sees no GPU: there is none, or CUDA_VISIBLE_DEVICES hides them."},
    {"gpu-missing", true, "CUDA error: invalid device ordinal",
     "It proves that this rank asked for a GPU index that it does not see."},
    {"invalid-argument", true, "Argument ``scatter_list`` must be specified on source rank.",
     "It proves that this rank is the source of the scatter and passed no list."},
    {"invalid-argument", true, "Argument ``gather_list`` must NOT be specified on non-destination ranks.",
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
    {"missing-call", true,
     "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks "
     "for more than * seconds.",
     "It proves that some ranks of Horovod made a call that others have not made; the lines `Missing ranks` and `Stalled ranks` below it "
     "name both the tensors and the ranks."},
};

}  // namespace

std::span<const Symptom> symptoms_of_groups() { return rows_of_groups; }

}  // namespace pdsim::scenarios
