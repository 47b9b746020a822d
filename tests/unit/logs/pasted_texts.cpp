#include "tests/unit/logs/pasted_texts.h"

namespace pdsim::scenarios {
namespace {

constexpr PastedText pasted_rows[] = {
    {"nccl", "watchdog-timeout",
     "[rank4]:[E318 07:39:53.792630246 ProcessGroupNCCL.cpp:616] [Rank 4] Watchdog caught collective operation "
     "timeout: WorkNCCL(SeqNum=610, OpType=COALESCED, NumelIn=56320, NumelOut=450560, Timeout(ms)=600000) ran for "
     "600086 milliseconds before timing out."},
    {"nccl", "watchdog-timeout",
     "[E ProcessGroupNCCL.cpp:566] [Rank 1] Watchdog caught collective operation timeout: "
     "WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1804406 milliseconds before timing out."},
    {"nccl", "watchdog-timeout",
     "RuntimeError: [Rank 0] Caught collective operation timeout: WorkNCCL(OpType=BROADCAST, TensorShape=[1], "
     "Timeout(ms)=1800000) ran for 1802710 milliseconds before timing out."},
    {"nccl", "watchdog-timeout",
     "[rank10]:[E ProcessGroupNCCL.cpp:1537] [PG 1 Rank 10] Timeout at NCCL work: 15734, last enqueued NCCL work: "
     "15735, last completed NCCL work: 15733."},
    {"nccl", "watchdog-timeout",
     "[PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence id: 20585 PG status: "
     "last enqueued work: 20589, last completed work: 20584"},
    {"nccl", "process-aborted",
     "[E ProcessGroupNCCL.cpp:583] [Rank 7] To avoid data inconsistency, we are taking the entire process down."},
    {"nccl", "rank-hung",
     "[rank25]:[F ProcessGroupNCCL.cpp:1169] [PG 0 Rank 25] [PG 0 Rank 25] ProcessGroupNCCL's watchdog got stuck "
     "for 600 seconds without making progress in monitoring enqueued collectives. This typically indicates a "
     "NCCL/CUDA API hang blocking the watchdog, and could be triggered by another thread holding the GIL inside a "
     "CUDA api, or other deadlock-prone behaviors."},
    {"nccl", "rank-hung",
     "Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=2"},
    {"nccl", "missing-call",
     "- To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n   [7] finished "
     "collective #182, but didn't join collective #183 (count from 1)"},
    {"nccl", "group-unusable",
     "[Rank 3] Found key in store: NCCLABORTEDCOMM:0f8a2c, from rank: 1. This means that rank has aborted its NCCL "
     "communicators previously and is not in a healthy state.. Aborting appropriate communicators"},
    {"nccl", "group-unusable",
     "torch.distributed.DistBackendError: NCCL communicator was aborted on rank 2.  Original reason for failure "
     "was: [Rank 2] error"},
    {"nccl", "store-key-missing",
     "torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] "
     "via c10d key-value store by key '0', but store->get('0') got error: Timeout waiting for key: "
     "default_pg/0//cuda//0 after 600000 ms"},
    {"nccl", "device-shared",
     "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, "
     "invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.18.6\nncclInvalidUsage: This usually "
     "reflects invalid usage of NCCL library.\nLast error:\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA "
     "device 1000"},
    {"nccl", "peer-closed",
     "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\nLast "
     "error:\nsocketProgress: Connection closed by remote peer node7<41892>"},
    {"nccl", "connection-lost",
     "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. \nLast "
     "error:\nsocketStartConnect: Connect to 172.17.0.2<45331> failed : Software caused connection abort"},
    {"nccl", "collective-mismatch",
     "init.cc:1247 NCCL WARN Mismatched collective detected, please check your collective calls at and around rank "
     "39. You can use NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=COLL to see the collective logs"},
    {"nccl", "barrier-device",
     "[rank0]:[W ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 to perform barrier as devices "
     "used by this process are currently unknown. This can potentially cause a hang if this rank to GPU mapping is "
     "incorrect."},
    {"nccl", "rank-died",
     "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, "
     "unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\nncclUnhandledCudaError: "
     "Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'"},
    {"nccl", "connection-lost",
     "RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, unhandled system error, NCCL version 2.14.3\n"
     "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error."},
    {"nccl", "connection-lost",
     "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:219, internal error - please report "
     "this issue to the NCCL developers, NCCL version 2.18.1\nncclInternalError: Internal check failed.\nLast error:\nBootstrap : mismatch"},
    {"nccl", "peer-closed",
     "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, remote process exited or there "
     "was a network error, NCCL version 2.20.5\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
     "prematurely."},
    {"nccl", "shared-memory-small",
     "misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-Fb7dLq to 9637892 bytes"},
    {"nccl", "interface-missing",
     "node12:4121:4121 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found"},
    {"nccl", "connection-refused",
     "node3:1185:1274 [1] NCCL INFO Call to connect returned Connection refused, retrying"},
    {"nccl", "parameter-mismatch",
     "gpu07:88214:88301 [2] NCCL WARN Message truncated : received 4194304 bytes instead of 1048576"},
    {"nccl", "connection-lost",
     "worker-4:512:733 [5] transport/net_ib.cc:1297 NCCL WARN NET/IB : Got completion from peer 10.2.0.14<37233> "
     "with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid fe80::1 remoteGids fe80::2"},
    {"gloo", "peer-closed",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer "
     "[10.244.1.7]:34127"},
    {"gloo", "peer-closed",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] Read error [127.0.1.1]:7396: Connection "
     "reset by peer"},
    {"gloo", "timeout",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for "
     "recv operation to complete"},
    {"gloo", "timeout",
     "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:129]\nTimed out waiting "
     "600000ms for send operation to complete"},
    {"gloo", "timeout", "[gloo/transport/tcp/pair.cc:575] Application timeout caused pair closure"},
    {"gloo", "parameter-mismatch",
     "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n  what():  [enforce fail at "
     "../third_party/gloo/gloo/transport/tcp/pair.cc:446] op.preamble.length <= op.nbytes. 8 vs 4"},
    {"gloo", "connection-refused",
     "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error: "
     "connect [127.0.1.1]:13265 SO_ERROR: Connection refused, remote=[127.0.1.1]:13265"},
    {"gloo", "interface-missing",
     "RuntimeError: [enforce fail at ../third_party/gloo/gloo/transport/tcp/device.cc:83] ifa != nullptr. Unable to "
     "find interface for: [0.0.3.232]"},
    {"gloo", "interface-missing",
     "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:48] rp != nullptr. "
     "Unable to find address for: enp5s0"},
    {"gloo", "rendezvous-timeout",
     "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:207] Connect "
     "timeout [10.8.4.33]:51264"},
    {"gloo", "parameter-mismatch",
     "ValueError: ProcessGroupGloo::allgather: invalid tensor size at index 3 (expected (16, 4), got (15, 4))"},
    {"gloo", "call-not-offered", "RuntimeError: Cannot use ReduceOp.AVG with Gloo"},
    {"gloo", "unsupported", "RuntimeError: Invalid scalar type"},
    {"c10d", "collective-mismatch",
     "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: "
     "CollectiveFingerPrint(SequenceNumber=1649, OpType=BARRIER), but Rank 1 is running collective: "
     "CollectiveFingerPrint(SequenceNumber=0, OpType=GATHER)."},
    {"c10d", "missing-call",
     "RuntimeError: Rank 1 failed to pass monitoredBarrier in 2000 ms\n Original "
     "exception:\n[gloo/transport/tcp/pair.cc:598] Connection closed by peer "
     "[2401:db00:eef0:1100:3560:0:1c05:25d]:8594"},
    {"c10d", "missing-call", "RuntimeError: [Rank 0]: Ranks 1, 2 failed to pass monitoredBarrier in 120000 ms"},
    {"c10d", "timeout",
     "RuntimeError: Rank 2 successfully reached monitoredBarrier, but received errors while waiting for send/recv "
     "from rank 0. Please check rank 0 logs for faulty rank."},
    {"c10d", "not-initialized",
     "RuntimeError: Default process group has not been initialized, please make sure to call init_process_group."},
    {"c10d", "initialized-twice", "ValueError: trying to initialize the default process group twice!"},
    {"c10d", "device-without-backend", "RuntimeError: No backend type associated with device type cpu"},
    {"c10d", "strided-view", "ValueError: Tensors must be contiguous"},
    {"c10d", "invalid-argument", "ValueError: Argument ``scatter_list`` must be specified on source rank."},
    {"c10d", "invalid-argument", "ValueError: Argument ``gather_list`` must NOT be specified on non-destination ranks."},
    {"c10d", "group-destroyed", "ValueError: Invalid process group specified or has been destroyed."},
    {"c10d", "not-in-build", "RuntimeError: Distributed package doesn't have NCCL built in"},
    {"c10d", "gpu-missing", "ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!"},
    {"c10d", "device-without-backend",
     "NotImplementedError: Could not run 'c10d::allreduce_' with arguments from the 'CPU' backend. This could be "
     "because the operator doesn't exist for this backend"},
    {"c10d", "collective-mismatch",
     "  File \"/opt/conda/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py\", line 2677, in "
     "broadcast_object_list\nRuntimeError: Trying to create tensor with negative dimension -7486152783281983488: "
     "[-7486152783281983488]"},
    {"c10d", "outside-of-group",
     "UserWarning: Running all_reduce on global rank 3 which does not belong to the given group."},
    {"c10d", "timeout",
     "RuntimeError: Rank 5 timed out in monitoredBarrier after 60000 ms. No ranks successfully processed in "
     "monitoredBarrier."},
    {"store", "port-in-use",
     "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. "
     "port: 29500, useIpv6: true, code: -98, name: EADDRINUSE, message: address already in use"},
    {"store", "port-in-use",
     "[W socket.cpp:464] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in "
     "use)."},
    {"store", "rendezvous-timeout",
     "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."},
    {"store", "rendezvous-timeout",
     "[E socket.cpp:1011] [c10d] The client socket has timed out after 60000ms while trying to connect to "
     "(10.0.3.4, 29500)."},
    {"store", "store-timeout",
     "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cpu//0/3"},
    {"store", "store-gone",
     "recvValue failed on SocketImpl(fd=97, addr=[localhost]:53748, remote=[localhost]:29500): Failed to recv, got "
     "0 bytes. Connection was likely closed. Did the remote server shutdown or crash?"},
    {"store", "rendezvous-timeout", "RuntimeError: connect() timed out. Original timeout was 1800000 ms."},
    {"store", "rendezvous-timeout",
     "[W socket.cpp:601] [c10d] The IPv6 network addresses of (trainer-0.job.svc, 29500) cannot be retrieved (gai "
     "error: -2 - Name or service not known)."},
    {"store", "store-gone", "RuntimeError: Stop_waiting response is expected"},
    {"store", "connection-refused",
     "[W socket.cpp:697] [c10d] The client socket has failed to connect to [gpu-01.cluster]:29400 (errno: 111 - "
     "Connection refused)."},
    {"store", "store-gone",
     "[rank2]:[W1112 08:44:21.531 TCPStore.cpp:125] [c10d] sendBytes failed on SocketImpl(fd=61, "
     "addr=[::ffff:10.0.0.7]:48122, remote=[::ffff:10.0.0.5]:29500): Broken pipe"},
    {"ddp", "unused-parameters",
     "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This "
     "error indicates that your module has parameters that were not used in producing loss. You can enable unused "
     "parameter detection by passing the keyword argument `find_unused_parameters=True` to "
     "`torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function outputs participate "
     "in calculating loss. \nParameter indices which did not receive grad for rank 1: 2 3"},
    {"ddp", "unused-parameters",
     "Parameters which did not receive grad for rank 0: classifier.bias, classifier.weight"},
    {"ddp", "marked-ready-twice",
     "RuntimeError: Expected to mark a variable ready only once. This error is caused by one of the following "
     "reasons: 1) Use of a module parameter outside the `forward` function. Please make sure model parameters are "
     "not shared across multiple concurrent forward-backward passes. 2) Reused parameters in multiple reentrant "
     "backward passes.\nParameter at index 195 with name base_model.model.lora_B.default.weight has been marked as "
     "ready twice."},
    {"ddp", "static-graph-changed",
     "RuntimeError: Your training graph has changed in this iteration, e.g., one parameter is unused in first "
     "iteration, but then got used in the second iteration. this is not compatible with static_graph set to True."},
    {"ddp", "saved-tensor-modified",
     "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
     "[torch.cuda.FloatTensor [64]] is at version 5; expected version 4 instead. Hint: enable anomaly detection"},
    {"ddp", "model-differs",
     "RuntimeError: DDP expects same model across all ranks, but Rank 0 has 164 params, while rank 1 has "
     "inconsistent 0 params."},
    {"ddp", "model-differs",
     "RuntimeError: [3]: params[0] in this process with sizes [30522, 768] appears not to match sizes of the same "
     "param in process 0."},
    {"ddp", "nothing-to-train",
     "RuntimeError: DistributedDataParallel is not needed when a module doesn't have any parameters that require a "
     "gradient."},
    {"ddp", "device-without-backend",
     "ValueError: DistributedDataParallel device_ids and output_device arguments only work with "
     "single-device/multiple-device GPU modules or CPU modules, but got device_ids [2], output_device 2, and module "
     "parameters {device(type='cpu')}."},
    {"ddp", "device-without-backend", "ValueError: SyncBatchNorm expected input tensor to be on GPU"},
    {"ddp", "inputs-exhausted",
     "RuntimeError: Detected at least one rank that exhausted inputs. Throwing across all ranks."},
    {"ddp", "unused-parameters",
     "[W reducer.cpp:1389] Warning: find_unused_parameters=True was specified in DDP constructor, but did not find "
     "any unused parameters in the forward pass. This flag results in an extra traversal of the autograd graph "
     "every iteration,  which can adversely affect performance."},
    {"fsdp", "collective-mismatch",
     "RuntimeError: Forward order differs across ranks: rank 0 is all-gathering 1 parameters for "
     "['layers.3.weight'] while rank 2 is all-gathering 1 parameters for ['layers.4.weight']"},
    {"fsdp", "collective-mismatch",
     "RuntimeError: Forward order differs across ranks: rank 0 is all-gathering 2 parameters while rank 1 is "
     "all-gathering 1 parameters"},
    {"fsdp", "device-shared", "ValueError: Inconsistent compute device and `device_id` on rank 3: cuda:0 vs cuda:3"},
    {"fsdp", "checkpoint-keys",
     "torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([0, 1])\nTraceback "
     "(most recent call last): (RANK 0)\nRuntimeError: Missing key in checkpoint state_dict: "
     "model.layers.0.attention.wq.weight."},
    {"fsdp", "checkpoint-keys",
     "RuntimeError: Error(s) in loading state_dict for FullyShardedDataParallel:\n\tsize mismatch for "
     "_fsdp_wrapped_module.lm_head.weight: copying a param with shape torch.Size([32000, 4096]) from checkpoint, "
     "the shape in current model is torch.Size([32008, 4096])."},
    {"rpc", "not-initialized",
     "RuntimeError: RPC has not been initialized. Call torch.distributed.rpc.init_rpc first."},
    {"rpc", "not-initialized",
     "RuntimeError: Current RPC agent is not set! Did you initialize the RPC framework (e.g. by calling "
     "`rpc.init_rpc`)?"},
    {"rpc", "rpc-server-threads",
     "RuntimeError: RPCErr:1:RPC ran for more than set timeout (60000 ms) and will now be marked with an error"},
    {"rpc", "rpc-worker-left", "RuntimeError: Followers {'trainer2'} timed out in _all_gather after 60.00 seconds."},
    {"rpc", "peer-closed",
     "[W tensorpipe_agent.cpp:725] RPC agent for worker1 encountered error when reading incoming request from "
     "worker0: eof (this error originated at tensorpipe/transport/shm/connection_impl.cc:259)"},
    {"rpc", "connection-refused",
     "[W tensorpipe_agent.cpp:916] RPC agent for ps0 encountered error when sending outgoing request #0 to "
     "trainer1: ECONNREFUSED: connection refused (this error originated at "
     "tensorpipe/transport/uv/connection_impl.cc:159)"},
    {"checkpoint", "checkpoint-keys",
     "RuntimeError: Error(s) in loading state_dict for ResNet:\n\tMissing key(s) in state_dict: \"conv1.weight\", "
     "\"bn1.weight\". \n\tUnexpected key(s) in state_dict: \"module.conv1.weight\", \"module.bn1.weight\"."},
    {"checkpoint", "checkpoint-keys",
     "size mismatch for fc.weight: copying a param with shape torch.Size([1000, 512]) from checkpoint, the shape in "
     "current model is torch.Size([10, 512])."},
    {"checkpoint", "checkpoint-race",
     "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory"},
    {"launcher", "variable-missing",
     "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable MASTER_ADDR "
     "expected, but not set"},
    {"launcher", "rank-died",
     "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 3 (pid: 812917) of "
     "binary: /opt/conda/bin/python"},
    {"launcher", "rank-died",
     "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGKILL"},
    {"launcher", "variable-missing", "train.py: error: unrecognized arguments: --local-rank=3"},
    {"launcher", "variable-missing",
     "    local_rank = int(os.environ['LOCAL_RANK'])\n  File \"/usr/lib/python3.10/os.py\", line 680, in "
     "__getitem__\n    raise KeyError(key) from None\nKeyError: 'LOCAL_RANK'"},
    {"launcher", "rendezvous-closed", "torch.distributed.elastic.rendezvous.api.RendezvousClosedError"},
    {"launcher", "rendezvous-timeout", "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"},
    {"launcher", "connection-refused",
     "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has "
     "failed. See inner exception for details."},
    {"launcher", "rank-died",
     "torch.distributed.elastic.multiprocessing.api.SignalException: Process 40213 got signal: 15"},
    {"launcher", "rank-died",
     "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: "
     "\n============================================================\ntrain.py FAILED"},
    {"launcher", "rank-died",
     "Root Cause (first observed failure):\n[0]:\n  time      : 2024-05-02_11:04:37\n  host      : gpu-11\n  rank   "
     "   : 13 (local_rank: 5)\n  exitcode  : -11 (pid: 2217)\n  error_file: <N/A>\n  traceback : Signal 11 "
     "(SIGSEGV) received by PID 2217"},
    {"launcher", "rank-died",
     "slurmstepd: error: Detected 1 oom_kill event in StepId=918273.0. Some of the step tasks have been OOM Killed."},
    {"launcher", "rank-died", "srun: error: gpu-b042: task 11: Segmentation fault (core dumped)"},
    {"torch", "rank-died",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 "
     "GiB of which 1.56 GiB is free. Process 41233 has 77.53 GiB memory in use."},
    {"torch", "gpu-missing",
     "RuntimeError: CUDA error: invalid device ordinal\nCUDA kernel errors might be asynchronously reported at some "
     "other API call, so the stacktrace below might be incorrect."},
    {"torch", "rank-died", "RuntimeError: CUDA error: device-side assert triggered"},
    {"torch", "rank-died", "RuntimeError: CUDA error: an illegal memory access was encountered"},
    {"torch", "rank-died",
     "RuntimeError: DataLoader worker (pid 31337) is killed by signal: Bus error. It is possible that dataloader's "
     "workers are out of shared memory. Please try to raise your shared memory limit."},
    {"nccl", "rank-died",
     "RuntimeError: NCCL error in: /pytorch/torch/lib/c10d/ProcessGroupNCCL.cpp:410, unhandled cuda error, NCCL version 2.4.8"},
    {"nccl", "rank-died", "n7:2657296:2658229 [0] include/alloc.h:102 NCCL WARN Cuda failure 1 'invalid argument'"},
    {"nccl", "device-shared",
     "ncclInvalidUsage: This usually reflects invalid usage of NCCL library (such as too many async ops, too many "
     "collectives at once, mixing streams in a group, etc)."},
    {"nccl", "shared-memory-small", "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-a1b2c3 (size 9637888)"},
    {"torch", "rendezvous-timeout",
     "RuntimeError: Timed out initializing process group in store based barrier on rank: 0, for key: "
     "store_based_barrier_key:1 (world_size=2, worker_count=1, timeout=0:30:00)"},
    {"torch", "rendezvous-timeout", "_default_pg = ProcessGroupGloo(store, rank, world_size)\nRuntimeError: Wait timeout"},
    {"torch", "store-timeout", "RuntimeError: Socket Timeout"},
    {"torch", "lazy-parameters",
     "RuntimeError: Modules with uninitialized parameters can't be used with `DistributedDataParallel`. Run a dummy "
     "forward pass to correctly initialize the modules"},
    {"torch", "gradients-not-reduced", "AttributeError: 'DistributedDataParallel' object has no attribute 'encoder'"},
    {"torch", "nothing-to-train", "ValueError: optimizer got an empty parameter list"},
    {"torch", "gpu-peer-access", "RuntimeError: CUDA error: peer access is not supported between these two devices"},
    {"torch", "rank-died",
     "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
     "'spawn' start method"},
    {"torch", "gradient-layout",
     "[W reducer.cpp:320] Warning: Grad strides do not match bucket view strides. This may indicate grad was not created according to "
     "the gradient layout contract, or that the param's strides changed since DDP was constructed.  This is not an error, but may "
     "impair performance."},
    {"torch", "scaler-half-precision", "ValueError: Attempting to unscale FP16 gradients."},
    {"torch", "checkpoint-keys",
     "AssertionError: FSDP assumes layer1.weight is in the state_dict but the state_dict only has dict_keys(['module.layer1.weight'])."},
    {"torch", "not-initialized", "AssertionError: Default process group is not initialized"},
    {"nccl", "parameter-mismatch", "RuntimeError: All tensor operands to scatter/gather must have the same number of elements"},
    {"nccl", "parameter-mismatch", "RuntimeError: output tensor must have the same type as input tensor"},
    {"nccl", "parameter-mismatch", "ValueError: output tensor size must be equal to world_size times input tensor size"},
    {"mpi", "unsupported",
     "A process has executed an operation involving a call\nto the \"fork()\" system call to create a child process.  Open MPI is "
     "currently\noperating in a condition that could result in memory corruption or\nother system errors; your job may hang, crash, or "
     "produce silent\ndata corruption."},
    {"torch", "program-raised", "RuntimeError: Ninja is required to load C++ extensions"},
    {"mpi", "rank-died", "mpirun noticed that process rank 2 with PID 0 on node gpu-07 exited on signal 9 (Killed)."},
    {"mpi", "rank-died", "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 1."},
    {"mpi", "parameter-mismatch",
     "[node1:12345] *** An error occurred in MPI_Recv\n*** MPI_ERR_TRUNCATE: message truncated"},
    {"mpi", "world-size",
     "There are not enough slots available in the system to satisfy the 16\nslots that were requested by the "
     "application:\n\n  ./train"},
    {"mpi", "root-not-in-group",
     "[host:2231] *** An error occurred in MPI_Bcast\n[host:2231] *** on communicator MPI_COMM_WORLD\n[host:2231] "
     "*** MPI_ERR_ROOT: invalid root"},
    {"mpi", "rank-died",
     "prterun noticed that process rank 1 with PID 5121 on node n02 exited on\nsignal 11 (Segmentation fault)."},
    {"mpi", "rank-died",
     "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[24219,0],0] on node head\n  Remote "
     "daemon: [[24219,0],3] on node n03"},
};

}  // namespace

std::span<const PastedText> pasted_texts() { return pasted_rows; }

}  // namespace pdsim::scenarios
