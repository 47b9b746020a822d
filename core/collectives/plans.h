// The collective algorithms, one plan each. Cost: alpha per message, beta per byte, gamma per byte combined; n is the
// vector's bytes, p the group size, k = ceil(log2 p). Each is a row of the table in algorithms.h.
#pragma once

#include "core/collectives/plan.h"

namespace pdsim {

// Reduce-scatter then all-gather around the ring.   2(p-1) rounds, 2n(p-1)/p bytes sent per rank
//   order   chunk c is summed in ring order starting at rank c
//   source  Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009
Plan ring_all_reduce(PlanArgs a);

// Exchanges whole vectors with partners at distance 1, 2, 4 ...; p - 2^floor(log2 p) ranks fold in and out.
//   cost    k rounds of n bytes (power of two), two more with a fold
//   source  Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005
Plan recursive_doubling_all_reduce(PlanArgs a);

// Binomial tree from the root.   k rounds at the deepest rank, p-1 messages of n bytes
Plan binomial_broadcast(PlanArgs a);

// The mirror: children combine into parents.   order: a parent adds its children from the nearest to the farthest
Plan binomial_reduce(PlanArgs a);

// In round j every rank signals rank + 2^j and waits for rank - 2^j.   k rounds, p k empty messages
//   source  Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", 1988
Plan dissemination_barrier(PlanArgs a);

Plan ring_all_gather(PlanArgs a);      // (p-1) rounds of one rank's part
Plan ring_reduce_scatter(PlanArgs a);  // (p-1) rounds of one rank's part; block b is summed starting at rank b+1
Plan linear_gather(PlanArgs a);        // one round at the root, p-1 messages
Plan linear_scatter(PlanArgs a);       // one round at the root, p-1 messages
Plan pairwise_all_to_all(PlanArgs a);  // (p-1) rounds; in round k to rank + k, from rank - k

// Rank r ends with the combination of ranks 0 .. r.   r rounds of waiting, p-1 messages
Plan linear_scan(PlanArgs a);
// The same with partners at distance 1, 2, 4 ...   k rounds
//   source  Hillis and Steele, "Data parallel algorithms", CACM 1986
Plan doubling_scan(PlanArgs a);
// Rank r ends with the combination of ranks 0 .. r-1, rank 0 with nothing: its output is not touched.
Plan linear_exscan(PlanArgs a);
Plan doubling_exscan(PlanArgs a);

// Recursive halving, then recursive doubling of chunks; folds as recursive doubling does.   2 log2 q rounds, and 2
//   source  Rabenseifner, "Optimization of collective reduction operations", ICCS 2004
Plan rabenseifner_all_reduce(PlanArgs a);

// Reduce-scatter then all-gather over the prime factors of p, each group exchanging at once.   2 rounds per factor
//   source  Gloo's bcube, whose base is one number; the smallest factors first serve every p
Plan bcube_all_reduce(PlanArgs a);

Plan reduce_broadcast_all_reduce(PlanArgs a);  // both binomial, rank 0 between them

constexpr int ring_segments = 2;
// The ring with each chunk in two segments, so that a large chunk needs little room.   4(p-1) rounds, bytes as the ring
//   source  Gloo's ring (at least 2p segments) and Open MPI's segmented ring
Plan segmented_ring_all_reduce(PlanArgs a);

constexpr int tree_segments = 8;  // of the pipelined trees
// Up and down two trees, half of the vector on each; a rank that is inner in one is a leaf in the other. Pipelined.
//   cost    8 + 2k rounds at most, about 2n bytes sent per rank
//   source  Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009; NCCL
Plan double_tree_all_reduce(PlanArgs a);

// Reduce-scatter on the node, all-reduce of each chunk across the nodes, all-gather on the node; rings all.
//   nodes   of different size: their first ranks lead, a tree to and from them, a ring among them
//   source  MVAPICH's two-level and Horovod's hierarchical all-reduce
Plan two_level_all_reduce(PlanArgs a);

constexpr int knomial_radix = 4;
// Recursive doubling by four: whole vectors to three partners at once; extra ranks go through a proxy.
//   source  UCC
Plan knomial_all_reduce(PlanArgs a);
Plan knomial_broadcast(PlanArgs a);  // ceil(log4 p) rounds at the root

constexpr int chain_segments = 8;  // of the pipelined chains

Plan linear_broadcast(PlanArgs a);  // one round at the root
Plan chain_broadcast(PlanArgs a);   // pipelined; passes segment s while receiving s + 1
Plan linear_reduce(PlanArgs a);     // one round; the root adds in rank order
Plan chain_reduce(PlanArgs a);      // pipelined; order: each rank adds the sum of those farther from the root

// Binomial scatter of p chunks, then a ring.   k + p - 1 rounds, at most 2n(p-1)/p bytes sent
//   source  Thakur, Rabenseifner, Gropp, 2005
Plan scatter_ring_broadcast(PlanArgs a);

// Binomial scatter of 2^f chunks, then recursive doubling; the other ranks get the whole from a partner.
//   source  Thakur, Rabenseifner, Gropp, 2005
Plan scatter_doubling_broadcast(PlanArgs a);
Plan binary_tree_broadcast(PlanArgs a);  // pipelined, in 8 segments
Plan binary_tree_reduce(PlanArgs a);     // likewise
// Recursive halving, then a binomial gather of the chunks to the root.   2f rounds, and 1 with a fold
//   source  Rabenseifner, 2004
Plan rabenseifner_reduce(PlanArgs a);

// Gloo's ring, chunk by chunk: the same last bits as Gloo's all_reduce.   2(p-1) rounds, about 2n(p-1)/p bytes sent
//   order   chunk c is summed from rank c - 1 downwards to rank c
//   source  gloo/allreduce.cc and gloo/reduce.cc. Above 1 MiB a segment Gloo's chunks are up to a few elements longer
Plan gloo_ring_all_reduce(PlanArgs a);
// Its reduce: the same reduce-scatter, then one round of chunks to the root.
Plan ring_gather_reduce(PlanArgs a);
Slice gloo_chunk(const PlanArgs& a, int i);  // of both; i >= 0, taken modulo size
// Its broadcast: from rank r, counted from the root, to r + 2^i for each 2^i > r, all at once.   2 rounds of a rank, k messages deep
//   source  gloo/broadcast.cc
Plan gloo_tree_broadcast(PlanArgs a);

Plan binomial_gather(PlanArgs a);   // k rounds, p-1 messages
Plan binomial_scatter(PlanArgs a);  // k rounds, p-1 messages

// k rounds for any p; blocks are rotated locally.
//   source  Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications", 1997
Plan bruck_all_gather(PlanArgs a);
Plan bruck_all_to_all(PlanArgs a);

// Distances 1, 2, 4 ... and ever more parts; folds as recursive doubling does.   f rounds, and 2
Plan recursive_doubling_all_gather(PlanArgs a);
// Pairs of parts from the two neighbours in turn; the ring where p is odd.   p/2 rounds
//   source  Chen, Zhang, Zhang, Yuan, "Performance evaluation of allgather algorithms on terascale linux cluster", 2005
Plan neighbour_exchange_all_gather(PlanArgs a);
// The mirror of the doubling all-gather: distances power/2 ... 2, 1, ever fewer parts.   f rounds, and 2
Plan recursive_halving_reduce_scatter(PlanArgs a);
Plan pairwise_xor_all_to_all(PlanArgs a);  // in round k with rank ^ k; shifts where p is no power of two, as MPICH

Plan linear_all_gather(PlanArgs a);        // one round of p-1 messages each
Plan linear_all_to_all(PlanArgs a);        // one round of p-1 messages each
Plan pairwise_reduce_scatter(PlanArgs a);  // (p-1) rounds; in round k to rank + k; summed from the own part downwards

Plan recursive_doubling_barrier(PlanArgs a);
Plan linear_barrier(PlanArgs a);       // to rank 0 and back
Plan tree_barrier(PlanArgs a);         // binomial, to rank 0 and back
Plan double_ring_barrier(PlanArgs a);  // a token goes round twice

Plan direct_send(PlanArgs a);  // root is the peer
Plan direct_receive(PlanArgs a);

}  // namespace pdsim
