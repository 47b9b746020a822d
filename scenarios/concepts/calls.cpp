#include "scenarios/concepts/concepts.h"

namespace pdsim::scenarios {
namespace {

constexpr Concept call_concepts[] = {
    {"broadcast",
     {"bcast"},
     "One rank's tensor is copied to every rank of the group. `src` is the rank that has it, given as a rank of the "
     "world, and every rank passes the same one. Before the call the other ranks' tensors may hold any values of the "
     "same shape; afterwards they hold src's values. DDP sends its parameters this way when it is constructed, and its "
     "buffers before each forward.",
     values_of(CollectiveKind::broadcast),
     {"root-mismatch", "buffer-broadcast-inplace", "parameter-mismatch"},
     {"different_roots", "inplace_buffer_broadcast", "what_each_rank_holds"},
     {"scatter", "tree_algorithm", "buffers"}},
    {"all_reduce",
     {"allreduce", "all-reduce", "average_gradients", "sum", "average", "mean", "metric"},
     "Every rank passes a tensor of the same shape, and every rank ends with the sum (or product, minimum, maximum) of all of them, "
     "element by element. DDP averages gradients with it: it divides by the world size and sums. No rank leaves the call before every "
     "rank has entered it.",
     values_of(CollectiveKind::all_reduce),
     {"missing-call", "collective-mismatch", "parameter-mismatch", "timeout-too-short"},
     {"different_counts", "different_reduce_ops", "rank_zero_metric"},
     {"reduce", "reduce_scatter", "ring_algorithm", "ddp"}},
    {"reduce",
     {"reduce_to_one"},
     "Like all_reduce, but only the rank `dst` ends with the result. The other ranks' tensors are undefined "
     "afterwards: with Gloo they hold partial sums. Code that uses the total on every rank needs all_reduce.",
     values_of(CollectiveKind::reduce),
     {"result-elsewhere", "root-mismatch"},
     {"reduce_used_elsewhere", "what_each_rank_holds"},
     {"all_reduce", "gather"}},
    {"all_gather",
     {"allgather", "all_gather_into_tensor"},
     "Every rank contributes a tensor, and every rank ends with all of them, in the order of the ranks. The "
     "contributions must have the same shape; all_gather_v and all_gather_object accept different sizes. Fully sharded "
     "training collects the parameters of a unit this way just before it needs them.",
     values_of(CollectiveKind::all_gather),
     {"parameter-mismatch", "missing-call"},
     {"different_counts", "whole_vocabulary", "what_each_rank_holds"},
     {"gather", "reduce_scatter", "fsdp"}},
    {"gather",
     {},
     "Every rank contributes a tensor, and only the rank `dst` ends with all of them, in the order of the ranks. The "
     "others pass no list to receive into.",
     values_of(CollectiveKind::gather),
     {"root-mismatch"},
     {"whole_vocabulary", "what_each_rank_holds"},
     {"all_gather", "scatter"}},
    {"scatter",
     {},
     "The rank `src` has one tensor per rank, and rank r ends with the r-th of them. The others pass no list.",
     values_of(CollectiveKind::scatter),
     {"root-mismatch"},
     {"whole_vocabulary", "what_each_rank_holds"},
     {"broadcast", "gather"}},
    {"reduce_scatter",
     {"reduce_scatter_tensor"},
     "Every rank contributes one tensor per rank; the r-th tensors of all ranks are summed, and rank r ends with that "
     "sum. A ring all_reduce is a reduce_scatter followed by an all_gather. Fully sharded training reduces gradients "
     "with it, since each rank needs only the part that it owns.",
     values_of(CollectiveKind::reduce_scatter),
     {"parameter-mismatch"},
     {"whole_vocabulary", "what_each_rank_holds"},
     {"all_gather", "all_reduce", "fsdp"}},
    {"all_to_all",
     {"alltoall", "all_to_all_single"},
     "Every rank has one tensor for every rank, and sends each to its own: the transpose of a table whose rows are the "
     "ranks. Mixtures of experts send tokens to the ranks of their experts this way, with parts of different sizes "
     "(input_split_sizes and output_split_sizes of all_to_all_single), which must agree for every pair of ranks.",
     values_of(CollectiveKind::all_to_all),
     {"parameter-mismatch"},
     {"oversubscribed_fat_tree", "whole_vocabulary", "what_each_rank_holds"},
     {"all_gather", "reduce_scatter"}},
    {"barrier",
     {},
     "No rank leaves the call before every rank of the group has entered it; no tensor is involved. It aligns ranks, "
     "but copies nothing and does not wait for GPU work that other ranks have queued. If only some ranks reach a "
     "barrier, it pairs with whatever the others call next.",
     run_of("rank_zero_barrier", "broken"),
     {"missing-call", "collective-mismatch", "barrier-device"},
     {"rank_zero_barrier", "barrier_hang"},
     {"monitored_barrier", "deadlock"}},
    {"scan",
     {"prefix_sum", "exscan"},
     "Rank r ends with the combination of the tensors of ranks 0 to r; with exscan, of ranks 0 to r-1, and rank 0 ends with nothing. "
     "Open MPI has both, PyTorch neither. It answers questions such as where a rank's rows begin in a file that all of them write.",
     values_of(CollectiveKind::scan),
     {"parameter-mismatch"},
     {"whole_vocabulary", "what_each_rank_holds"},
     {"all_reduce"}},
    {"send",
     {"recv", "point_to_point", "isend", "irecv", "send_recv", "p2p", "message", "tag"},
     "A message from one rank to one other: send names its dst, recv its src, and each needs the other. send returns "
     "when its tensor may be used again, which for a large one means that the receiver has taken it; two ranks that "
     "both send first may work with small tensors and hang with large ones. isend and irecv return at once with a Work "
     "to wait for. Gloo and MPI match messages by tag; NCCL ignores tags and matches by order.",
     run_of("send_before_recv", "broken"),
     {"send-cycle", "unmatched-message", "ignored-tags", "pair-stream"},
     {"send_before_recv", "unmatched_message", "ignored_tags"},
     {"eager", "batch_isend_irecv", "pipeline"}},
    {"batch_isend_irecv",
     {"p2pop", "batch"},
     "Starts a list of sends and receives together, so that their order within the list does not matter. With NCCL the first batch of "
     "a group creates its communicator, so every rank of the group must take part in it; later batches need only the ranks that "
     "exchange messages.",
     {},
     {"communicator-incomplete", "pair-stream", "unmatched-message"},
     {"interleaved_messages"},
     {"send", "pipeline"}},
    {"object_collectives",
     {"all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list", "object_collective", "pickle"},
     "Collectives of Python objects: each object is pickled, its size and then its bytes are sent as tensors. One call "
     "is therefore two collectives: all_gather_object makes an all_gather of the sizes and one of the bytes, padded to "
     "the longest. With NCCL the bytes go through the current GPU, so torch.cuda.set_device must have been called. "
     "These calls are slow for large objects.",
     {},
     {"missing-call", "collective-mismatch", "device-shared"},
     {"rank_zero_metric"},
     {"all_gather", "broadcast"}},
    {"work",
     {"async_op", "wait", "asynchronous", "async", "async_op_true", "handle"},
     "The handle that a call with async_op=True returns at once. The tensor must be neither read nor written until "
     "wait() has returned. For CPU tensors wait() blocks the program; for CUDA tensors it makes the current stream "
     "wait, and the program continues: only synchronising with the device, or reading the value, waits for the result.",
     {},
     {"read-before-wait", "write-before-wait", "read-before-synchronize"},
     {"read_before_wait", "write_before_wait", "wait_is_not_synchronize"},
     {"stream", "all_reduce"}},
};

}  // namespace

std::span<const Concept> concepts_of_calls() { return call_concepts; }

}  // namespace pdsim::scenarios
