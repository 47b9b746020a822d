#include "scenarios/diagnosis/explain/symptom_table.h"

namespace pdsim::scenarios {
namespace {

constexpr std::string_view who_waited =
    "It proves that this rank waited in the call. The missing or late rank prints no such line: compare the calls that "
    "every rank enqueued and completed.";
constexpr std::string_view inner_check =
    "It proves that a check inside NCCL failed on this rank, often because of what a peer or the network sent. The text after `Last "
    "error`, or with NCCL_DEBUG=WARN the line above, says which check.";
constexpr std::string_view rejected_use =
    "It proves that NCCL rejected a call of this rank. Most often two ranks use one GPU; the text after `Last error`, or with "
    "NCCL_DEBUG=WARN the line above, names the reason.";
constexpr std::string_view no_answer =
    "It proves that an InfiniBand connection got no answer: the other host, its port or a switch between them stopped. The link counters "
    "show which.";

constexpr std::string_view transfer_failed =
    "It proves that an InfiniBand transfer with this peer failed. The number is the status that libibverbs gives: 12 means that the other "
    "host, its port or a switch between them did not answer, 5 that an earlier transfer had failed; others are errors of this side.";

constexpr Symptom rows_of_nccl[] = {
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
    {"store-gone", false,
     "[*] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '*', but store->get('*') got "
     "error: Connection reset by peer",
     store_ended},
    {"store-gone", false,
     "[*] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '*', but store->get('*') got "
     "error: Broken pipe",
     store_ended},
    {"process-aborted", false, "terminate called after throwing an instance of 'c10::DistBackendError'",
     "It proves that a thread of this process, most often NCCL's watchdog, ended it. The text after `what():` says why."},
    {"not-destroyed", true, "destroy_process_group() was not called before program exit, which can leak resources.",
     "A warning: this process ended with an open group. Training had ended by then, and its results are not affected."},
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
     "NCCL WARN NET/IB : Got completion from peer * with status=* opcode=* len=* vendor err * (Recv) localGid * remoteGids *", transfer_failed},
    {"connection-lost", false, "NCCL WARN NET/IB : Got completion from peer * with error *, opcode *, len *, vendor err *", transfer_failed},
    {"connection-lost", false, "NCCL WARN NET/IB : * Got async event : port error",
     "It proves that an InfiniBand port of this host went down: its cable, its switch or the subnet manager."},
    {"peer-closed", false, "NCCL WARN Net : Connection closed by remote peer *", somebody_left},
    {"peer-closed", false, "NCCL WARN Net : Call to recv from * failed : *", somebody_left},
    {"peer-closed", false, "NCCL INFO [Service thread] Connection closed by localRank *", somebody_left},
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
    {"shared-memory-small", true, "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-* (size *)",
     "It proves that /dev/shm is too small; in a container it has 64 MB unless the container is started with "
     "--shm-size or --ipc=host."},
    {"gpu-peer-access", true, "CUDA error: peer access is not supported between these two devices",
     "It proves that two GPUs cannot reach each other's memory; NCCL_P2P_DISABLE=1 makes NCCL copy through the host."},
    {"rank-died", true, "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
     "It proves that the process used CUDA before it forked this one: start ranks with torchrun or spawn."},
    {"rank-died", true, "ncclUnhandledCudaError: Call to CUDA function failed. Last error: Cuda failure *",
     "It proves that a CUDA call of this rank failed inside NCCL; the text after `Cuda failure` says how. The others "
     "wait for this rank."},
    {"shared-memory-small", true, "NCCL WARN Error: failed to extend /dev/shm/nccl-* to * bytes",
     "It proves that /dev/shm of this host or container is too small for NCCL (docker run --shm-size)."},
    {"interface-missing", true, "NCCL WARN Bootstrap : no socket interface found",
     "It proves that no network interface of this host matches NCCL_SOCKET_IFNAME."},
    {"connection-refused", false, "NCCL INFO Call to connect returned Connection refused, retrying",
     "It proves that nobody was listening at the peer's address at that moment: the peer ended, or a firewall is "
     "between."},
    {"parameter-mismatch", true, "NCCL WARN Message truncated : received * bytes instead of *",
     "It proves that two ranks passed tensors of different sizes to one call, or met in different calls."},
    {"host-unreachable", false, "NCCL WARN socketStartConnect: Connect to * failed : *",
     "It proves that this rank could not connect to the peer's address; the words at the end are the operating system's. The peer had "
     "published that address: it ended, is behind a firewall, or published an interface that others cannot reach (NCCL_SOCKET_IFNAME)."},
    {"connection-lost", false, "NCCL WARN Call to ibv_modify_qp failed with error *",
     "It proves that an InfiniBand connection could not be set up: the port is down, the GID or the subnet does not match "
     "(NCCL_IB_GID_INDEX, NCCL_IB_HCA), or the other host did not answer."},
};

}  // namespace

std::span<const Symptom> symptoms_of_nccl() { return rows_of_nccl; }

}  // namespace pdsim::scenarios
