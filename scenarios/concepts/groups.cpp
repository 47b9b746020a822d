#include "scenarios/concepts/concepts.h"

namespace pdsim::scenarios {
namespace {

constexpr Concept group_concepts[] = {
    {"rank",
     {"global_rank", "group_rank", "local_rank"},
     "The number of a process in a group, from 0 to world size - 1. The global rank is the number in the group of all "
     "processes; a process has a separate rank in each smaller group, and its GPU is chosen by LOCAL_RANK, its number "
     "on its own machine. src and dst of torch.distributed's calls are global ranks, even on a smaller group.",
     {},
     {"root-not-in-group", "rank-claimed-twice", "device-shared"},
     {"global_rank_in_group", "local_rank_as_rank", "shared_gpu"},
     {"world_size", "process_group"}},
    {"collective",
     {"collectives", "collective_call", "collective_communication", "collective_operation"},
     "A call that every rank of a process group makes: broadcast, all_reduce, reduce, all_gather, gather, scatter, reduce_scatter, all_to_all and "
     "barrier. Each waits, sooner or later, for what the others bring: a rank that does not make the call leaves the others waiting, and two ranks that "
     "make different calls at the same place hang, fail or mix their values.",
     {},
     {"missing-call", "collective-mismatch", "parameter-mismatch"},
     {"what_each_rank_holds", "swapped_collectives"},
     {"all_reduce", "process_group", "sequence_number", "work"}},
    {"world_size",
     {"world", "number_of_processes"},
     "The number of processes in the job, which must be the same on every process: init_process_group waits until that many ranks have "
     "joined. The launcher sets WORLD_SIZE and RANK for each process.",
     {},
     {"world-size", "variable-missing"},
     {"world_size_too_large", "world_size_too_small", "env_variable_missing"},
     {"rank", "rendezvous"}},
    {"process_group",
     {"group", "pg", "init_process_group", "init", "destroy_process_group", "communicator"},
     "A set of ranks that make collectives together, with a backend (nccl, gloo, mpi) and a count of the calls made so "
     "far. init_process_group creates the group of all ranks. The n-th call of one rank meets the n-th call of the "
     "others, whatever these calls are: names and source lines play no part, so one extra call on one rank shifts all "
     "later ones.",
     {},
     {"collective-mismatch", "not-initialized", "initialized-twice"},
     {"swapped_collectives", "process_group_life", "init_missing"},
     {"new_group", "sequence_number", "backend"}},
    {"new_group",
     {"sub_group", "subgroup"},
     "Creates a process group of some ranks. Every rank of the world must call it, in the same order, even ranks that "
     "will not be in the group. Calls on two groups are independent: ranks that use two groups in different orders "
     "wait for each other in a cycle.",
     run_of("groups_in_two_orders", "broken"),
     {"new-group-mismatch", "group-cycle", "outside-of-group"},
     {"group_made_by_some", "groups_in_two_orders", "outside_of_group"},
     {"process_group", "deadlock"}},
    {"store",
     {"tcpstore", "filestore", "hashstore", "prefix_store", "key_value"},
     "A small table of keys and values that all ranks share before they can send each other anything: TCPStore is served by one "
     "process, usually rank 0; FileStore is a file that all machines see; HashStore lives in one process. get() waits for its key, "
     "300 s by default. Ranks put their addresses there when they rendezvous.",
     {},
     {"store-key-missing", "store-gone", "store-not-shared", "stale-rendezvous"},
     {"store_key_typo", "store_server_gone", "reused_store_file"},
     {"rendezvous", "timeouts"}},
    {"rendezvous",
     {"init_method", "master_addr", "env", "master_port", "init_process_group_hangs", "connect"},
     "The way in which the ranks of a job find each other: each learns its rank, the world size and where the store is "
     "(MASTER_ADDR and MASTER_PORT with env://, a file with file://), writes its address into the store and reads the "
     "others'. It ends when world size ranks have joined. A file that an earlier run left behind hands out addresses "
     "where nobody is listening.",
     run_of("reused_store_file", "broken"),
     {"stale-rendezvous", "world-size", "port-in-use", "variable-missing"},
     {"reused_store_file", "world_size_too_large", "port_in_use"},
     {"store", "world_size"}},
    {"backend",
     {"nccl", "gloo", "mpi", "library", "ucc", "choose_a_backend"},
     "The library that moves a group's data. NCCL moves CUDA tensors between GPUs, queued on streams; Gloo moves CPU "
     "tensors over TCP, in the calling program's time; Open MPI moves CPU tensors. They differ in the calls and dtypes "
     "that they support, in their timeouts, and in the effect of mismatched calls: `pdsim doctor` prints the table.",
     {},
     {"device-without-backend", "call-not-offered", "interface-counts"},
     {"cpu_tensor_on_nccl", "mean_on_gloo", "interface_counts"},
     {"process_group", "stream", "timeouts"}},
    {"monitored_barrier",
     {},
     "A barrier that names the missing ranks. Every rank reports to rank 0, which waits for each in turn, up to the "
     "timeout; it raises an error that names the first missing rank, or all of them if wait_all_ranks is set. Only "
     "Gloo has it. Placed before a suspect call it turns a hang into an error that names the culprit.",
     run_of("monitored_barrier", "named"),
     {"missing-call"},
     {"monitored_barrier"},
     {"barrier", "hang"}},
    {"launcher",
     {"torchrun", "mpirun", "srun", "mpiexec", "torch_distributed_launch", "torch_elastic", "elastic", "nproc_per_node"},
     "The program that starts the processes of a job and gives each its rank: torchrun, mpirun, srun, or `pdsim "
     "launch`. torchrun sets RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each process; when one ends "
     "with an error it ends the others, and with --max-restarts starts them all again. The error that it prints first "
     "may come from a rank that only waited: look for the earliest one.",
     {},
     {"variable-missing", "world-size", "rank-claimed-twice", "port-in-use"},
     {"env_variable_missing", "local_rank_as_rank", "port_in_use"},
     {"rendezvous", "rank", "world_size"}},
    {"sequence_number",
     {"seq", "collective_seq_id"},
     "The number of a collective within its group, counted on each rank separately. Two calls meet when their numbers "
     "are the same, and for no other reason. In dumps it is collective_seq_id, from 1; a rank whose last number is "
     "lower than the others' has not made the call in which they wait.",
     {},
     {"collective-mismatch", "missing-call"},
     {"swapped_collectives", "rank_zero_metric"},
     {"process_group", "flight_recorder"}},
};

}  // namespace

std::span<const Concept> concepts_of_groups() { return group_concepts; }

}  // namespace pdsim::scenarios
