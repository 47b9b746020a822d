#include "scenarios/diagnosis/explain/symptom_table.h"

namespace pdsim::scenarios {
namespace {

constexpr std::string_view process_ended =
    "It proves which process ended, and how. Later errors of the other ranks follow from it.";

constexpr Symptom rows_of_launchers[] = {
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
    {"program-raised", true, "RuntimeError: Ninja is required to load C++ extensions",
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
    {"rank-died", true, "srun: error: *: task *: Out Of Memory",
     "It proves that the kernel killed this task for lack of host memory."},
    {"rank-died", true, "Out of memory: Killed process * (*)",
     "It proves that the kernel killed this process for lack of host memory; the host's log (dmesg) says how much it used."},
    {"rank-died", true, "[*] [ERROR] [launch.py:*:sigkill_handler] [*] exits with return code = *",
     "It proves that DeepSpeed's launcher saw a process end with this code and ended the others. A negative one is a signal: -9 is most often "
     "the kernel, for lack of host memory."},
    {"job-cancelled", true, "slurmstepd: error: *** STEP * ON * CANCELLED AT * DUE TO TIME LIMIT ***",
     "It proves that Slurm ended the job because its time was over. Errors of ranks after this line follow from it."},
    {"job-cancelled", true, "slurmstepd: error: *** JOB * ON * CANCELLED AT * DUE TO TIME LIMIT ***",
     "It proves that Slurm ended the job because its time was over. Errors of ranks after this line follow from it."},
    {"program-raised", true, "DeadlockDetectedException: DeadLock detected from rank: *",
     "It proves that an exception on the named rank made Lightning end the others, which waited for it. The traceback below it is the cause."},
};

}  // namespace

std::span<const Symptom> symptoms_of_launchers() { return rows_of_launchers; }

}  // namespace pdsim::scenarios
