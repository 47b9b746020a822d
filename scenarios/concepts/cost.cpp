#include "scenarios/concepts/concepts.h"

namespace pdsim::scenarios {
namespace {

constexpr Concept cost_concepts[] = {
    {"algorithm",
     {"plan", "collective_algorithm"},
     "The way in which a collective is built from messages: which rank sends which data to whom in which round. The "
     "result is the same, but the time is not: trees need few rounds and win for small tensors, rings send the fewest "
     "bytes and win for large ones. Libraries choose by size and number of ranks; `pdsim list --what algorithms` shows "
     "those that pdsim can run, and `pdsim list --what tunings` the choices.",
     plan_of(CollectiveKind::all_reduce, "recursive_doubling"),
     {},
     {"all_reduce_closed_form"},
     {"ring_algorithm", "tree_algorithm", "alpha_beta"}},
    {"ring_algorithm",
     {"ring", "ring_all_reduce"},
     "The ranks form a circle, and each sends only to the next. An all_reduce cuts the tensor into p parts: in p-1 "
     "rounds the parts travel around and are added up, in p-1 more the finished parts travel around. Each rank sends "
     "2(p-1)/p of the tensor, the least possible, in 2(p-1) rounds: best for large tensors.",
     plan_of(CollectiveKind::all_reduce, "ring"),
     {},
     {"all_reduce_closed_form"},
     {"algorithm", "tree_algorithm", "busbw"},
     {"ring"}},
    {"tree_algorithm",
     {"tree", "binomial_tree", "binary_tree", "double_tree"},
     "Ranks pass a tensor on as a tree: in round k every rank that has it sends it to one that does not. p ranks need "
     "log2(p) rounds, so it wins when a message's latency matters more than its bytes. With large tensors the cost is "
     "that the whole tensor crosses every level.",
     plan_of(CollectiveKind::broadcast, "binomial"),
     {},
     {},
     {"algorithm", "ring_algorithm", "broadcast"},
     {"tree", "binomial", "knomial"}},
    {"alpha_beta",
     {"latency", "bandwidth", "loggp", "cost_model", "alpha", "beta", "logp"},
     "A message of n bytes takes alpha + n * beta: alpha is the latency, beta the time per byte (1 / bandwidth). The "
     "time of an algorithm follows from its rounds and bytes: a ring all_reduce of n bytes over p ranks takes 2(p-1) "
     "alpha + 2 n (p-1)/p beta. Small tensors pay for alpha, large ones for beta; LogGP adds the cost of a message for "
     "the processors at both ends.",
     {},
     {},
     {"all_reduce_closed_form"},
     {"algorithm", "busbw"}},
    {"busbw",
     {"bus_bandwidth", "algbw", "algorithm_bandwidth"},
     "Two figures of nccl-tests: algbw is the size of the tensor divided by the time, and busbw multiplies it by the least "
     "that each rank must send for the collective, 2(p-1)/p for all_reduce, (p-1)/p for all_gather and reduce_scatter, "
     "1 for broadcast, so that it can be compared with the speed of the links for any number of ranks.",
     {},
     {},
     {"all_reduce_closed_form"},
     {"alpha_beta", "ring_algorithm"}},
    {"overlap",
     {"backward_overlap", "communication_overlap", "overlap_communication_with_computation"},
     "Sending while computing: DDP starts the all_reduce of a bucket while backward still computes the gradients of "
     "earlier layers. The step pays only for the communication left after backward: at least the last bucket. Small "
     "buckets start early but pay the latency many times; a single large bucket overlaps with nothing.",
     run_of("backward_overlap", "one_bucket"),
     {"straggler"},
     {"backward_overlap", "resnet50_buckets"},
     {"bucket", "ddp_step"}},
    {"eager",
     {"eager_send", "rendezvous_send", "buffering"},
     "The way in which a send can end before its receive is posted: a small message is sent eagerly and kept in a "
     "buffer at the receiver, so send returns at once; a large one waits for the receiver (the rendezvous protocol). A "
     "program in which all ranks send first works with small tensors and hangs when they grow.",
     run_of("send_before_recv", "broken"),
     {"send-cycle"},
     {"send_before_recv"},
     {"send", "deadlock"}},
    {"slow_rank",
     {"straggler", "slow", "slow_worker", "slow_node"},
     "A rank that is late for every call. The others wait for it, so the whole job runs at its speed, and a profile of "
     "any other rank shows slow collectives. Look for the rank that waits least.",
     run_of("backward_overlap", "one_slow_rank"),
     {"straggler", "delayed-enter"},
     {"slow_rank_zero", "slow_checkpoint", "backward_overlap"},
     {"hang", "overlap"}},
};

}  // namespace

std::span<const Concept> concepts_of_cost() { return cost_concepts; }

}  // namespace pdsim::scenarios
