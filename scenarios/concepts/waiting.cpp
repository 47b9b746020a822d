#include "scenarios/concepts/concepts.h"

namespace pdsim::scenarios {
namespace {

constexpr Concept waiting_concepts[] = {
    {"deadlock",
     {"dead_lock", "cycle", "deadlocked"},
     "Ranks wait for each other in a cycle, so that none can continue: rank 0 in call A for rank 1, rank 1 in call B "
     "for rank 0. Only a timeout ends it, and its error names the call that waited, not the rank that did something "
     "else. The cause is where the ranks first did different things, often long before the call that hangs.",
     run_of("swapped_collectives", "nccl"),
     {"collective-mismatch", "group-cycle", "send-cycle", "missing-call"},
     {"swapped_collectives", "groups_in_two_orders", "send_before_recv"},
     {"hang", "sequence_number", "flight_recorder"}},
    {"hang",
     {"stuck", "job_hangs", "hung", "freeze", "frozen", "culprit"},
     "A job that makes no progress and raises no error. The waiting ranks are not to blame; the rank that they wait "
     "for, and that waits for nobody, is: it left the loop, took another branch, died, or is still computing. Compare "
     "the last call of every rank: `pdsim diagnose` does it from logs or dumps, `pdsim run` from the script.",
     run_of("rank_hangs", "broken"),
     {"missing-call", "rank-hung", "rank-died", "all-stuck"},
     {"rank_hangs", "early_stop", "rank_killed"},
     {"deadlock", "watchdog", "flight_recorder"}},
    {"crash",
     {"crashed", "crashes", "killed", "died", "out_of_memory", "oom", "segfault", "sigkill", "exit_code"},
     "A process of the job ends before its work is done: an exception, the machine out of memory (SIGKILL, status 137 "
     "or -9), a signal. The others notice later, and each library in its own words: Gloo reports a closed connection, "
     "NCCL a remote error or a timeout, the store a connection reset. Only the log of the rank that ended has the "
     "reason; the launcher prints its exit code.",
     run_of("rank_killed", "gloo"),
     {"rank-died", "connection-lost", "store-gone"},
     {"rank_killed", "store_server_gone"},
     {"hang", "launcher", "watchdog"}},
    {"timeouts",
     {"timeout", "timed_out", "nccl_timeout", "gloo_timeout", "change_the_timeout"},
     "How long a call may wait. Gloo: 30 minutes for each operation, then an error that Python can catch, and the connection is unusable "
     "afterwards. NCCL: 10 minutes (30 before PyTorch 2.2), watched by a thread that ends the process. Open MPI: none. Stores: 5 "
     "minutes; init_process_group(timeout=...) sets the group's and, for a store it makes itself, the store's. A timeout that is too "
     "short ends healthy jobs; a long one leaves GPUs idle.",
     run_of("slow_checkpoint", "broken"),
     {"timeout-too-short", "delayed-enter"},
     {"timeout_too_short", "slow_checkpoint", "slow_rank_zero"},
     {"watchdog", "store", "monitored_barrier"}},
    {"watchdog",
     {"nccl_watchdog", "heartbeat", "nccl_async_error_handling", "torch_nccl_async_error_handling", "nccl_blocking_wait", "torch_nccl_blocking_wait", "torch_nccl_heartbeat_timeout_sec"},
     "A thread of PyTorch's NCCL backend that looks at the calls in flight. When one is older than its timeout it "
     "prints \"Watchdog caught collective operation timeout\", writes the flight record, and ends the process, because "
     "a waiting GPU cannot be interrupted. The rank that prints it waited; the culprit is often a rank that printed "
     "nothing.",
     run_of("nccl_watchdog", "asynchronous"),
     {"missing-call", "timeout-too-short"},
     {"nccl_watchdog"},
     {"timeouts", "flight_recorder", "stream"}},
    {"flight_recorder",
     {"flight_record", "fr_trace", "dump", "dumps", "torch_nccl_trace_buffer_size", "torch_fr_buffer_size", "torch_nccl_dump_on_timeout"},
     "A ring of the newest calls that PyTorch keeps on each rank, with sequence number, sizes, state and Python stack. "
     "TORCH_FR_BUFFER_SIZE (formerly TORCH_NCCL_TRACE_BUFFER_SIZE) sets its length, and with "
     "TORCH_NCCL_DUMP_ON_TIMEOUT=1 it is written when the watchdog fires, one file per rank. `pdsim diagnose FOLDER` "
     "compares them.",
     {},
     {"missing-record", "missing-call"},
     {},
     {"watchdog", "sequence_number"}},
    {"desync",
     {"desynchronization", "mismatch", "divergence", "out_of_sync", "order_of_collectives"},
     "Ranks of one group that are no longer at the same call: one made a call more or fewer, or in a different order. "
     "If kinds and sizes happen to agree, nothing hangs: tensors of different calls are mixed silently. The first call "
     "that differs is the divergence; everything after it is a consequence.",
     run_of("rank_zero_metric", "broken"),
     {"collective-mismatch", "parameter-mismatch"},
     {"same_calls_other_tensors", "rank_zero_metric", "swapped_collectives"},
     {"sequence_number", "deadlock", "debug_detail"}},
    {"debug_detail",
     {"torch_distributed_debug", "detail", "debug", "debugging"},
     "TORCH_DISTRIBUTED_DEBUG=DETAIL makes the ranks compare, before each collective, the call that they are about to "
     "make: kind, order, dtype, device and shape. A mismatch becomes an error that names the ranks, instead of a hang. "
     "It takes extra messages for each call: use it for debugging, not for training. Scenarios write `world: {debug: "
     "detail}`.",
     run_of("swapped_collectives", "checked"),
     {"collective-mismatch", "parameter-mismatch"},
     {"swapped_collectives", "different_counts"},
     {"desync", "monitored_barrier"}},
    {"stream",
     {"cuda_stream", "streams", "synchronize", "cuda", "asynchronous_kernel"},
     "A queue of work on a GPU. A call with CUDA tensors is put into a queue and returns at once; the work in one "
     "stream runs in order, streams run in parallel and wait for each other through events. So an NCCL call can return "
     "on a rank that will never finish it, and the program stops much later, where it first needs a value.",
     run_of("wait_is_not_synchronize", "broken"),
     {"read-before-synchronize", "hung-gpu", "not-started"},
     {"wait_is_not_synchronize", "when_does_it_synchronise"},
     {"work", "watchdog"}},
    {"silent_error",
     {"silent", "replica", "replicas", "silently_wrong", "diverge", "loss_differs", "wrong_result", "drift", "nan"},
     "Training that ends well with wrong results: gradients that were not averaged, replicas that differ, every rank "
     "on the same data, a mean of means. Nothing waits and nothing raises. Compare a checksum of the parameters across "
     "the ranks now and then: an all_gather of one number per rank is enough.",
     {},
     {"replicas-differ", "gradients-not-reduced", "sampler-missing", "batch-sizes-differ"},
     {"silent_corruption", "module_bypass", "mean_of_means"},
     {"ddp", "desync"}},
    {"reproducibility",
     {"seed", "determinism", "fingerprint", "replay", "deterministic", "reproduce"},
     "Every decision of the simulated world follows from the seed: the same file and seed give the same order of events, the same bytes "
     "and the same fingerprint on every machine and compiler. `--seed N` tries another order, `--seeds N` many, and the `replay` line "
     "of a report repeats a run exactly.",
     {},
     {},
     {},
     {"deadlock"}},
};

}  // namespace

std::span<const Concept> concepts_of_waiting() { return waiting_concepts; }

}  // namespace pdsim::scenarios
