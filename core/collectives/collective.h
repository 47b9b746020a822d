// A collective call as a value, and THE table of collectives.
//
//   count    elements of the tensor that PyTorch's user passes as input (all_gather, gather: each rank's part; scatter,
//            reduce_scatter: the part each rank ends with; all_to_all: elements sent to each peer)
//   input    what this rank contributes; may alias output (in place)
//   output   what this rank ends with; sizes per kind in the table. Null data moves sizes only.
//   tag      separates concurrent operations of one group; the process group derives it from the sequence number
#pragma once

#include "core/base/types.h"
#include "core/base/views.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

enum class CollectiveKind : std::uint8_t {
  broadcast,
  all_reduce,
  reduce,
  all_gather,
  gather,
  scatter,
  reduce_scatter,
  all_to_all,
  barrier,
  send,
  recv,
  all_gather_v,
  reduce_scatter_v,
  all_to_all_v,
  scan,
  exscan,
  monitored_barrier,
  count_
};

struct CollectiveRow {
  CollectiveKind kind;
  std::string_view name;
  bool rooted;
  bool reduces;
  bool input_times_size;   // input holds count x group size elements (on the root only, if rooted)
  bool output_times_size;  // output holds count x group size elements (on the root only, if rooted)
  bool point_to_point;
};

constexpr std::array<CollectiveRow, static_cast<std::size_t>(CollectiveKind::count_)> collective_table{{
    {CollectiveKind::broadcast, "broadcast", true, false, false, false, false},
    {CollectiveKind::all_reduce, "all_reduce", false, true, false, false, false},
    {CollectiveKind::reduce, "reduce", true, true, false, false, false},
    {CollectiveKind::all_gather, "all_gather", false, false, false, true, false},
    {CollectiveKind::gather, "gather", true, false, false, true, false},
    {CollectiveKind::scatter, "scatter", true, false, true, false, false},
    {CollectiveKind::reduce_scatter, "reduce_scatter", false, true, true, false, false},
    {CollectiveKind::all_to_all, "all_to_all", false, false, true, true, false},
    {CollectiveKind::barrier, "barrier", false, false, false, false, false},
    {CollectiveKind::send, "send", false, false, false, false, true},
    {CollectiveKind::recv, "recv", false, false, false, false, true},
    {CollectiveKind::all_gather_v, "all_gather_v", false, false, false, true, false},
    {CollectiveKind::reduce_scatter_v, "reduce_scatter_v", false, true, true, false, false},
    {CollectiveKind::all_to_all_v, "all_to_all_v", false, false, true, true, false},
    {CollectiveKind::scan, "scan", false, true, false, false, false},
    {CollectiveKind::exscan, "exscan", false, true, false, false, false},
    {CollectiveKind::monitored_barrier, "monitored_barrier", false, false, false, false, false},
}};

constexpr const CollectiveRow& row(CollectiveKind k) { return collective_table[static_cast<std::size_t>(k)]; }
constexpr std::string_view name_of(CollectiveKind k) { return row(k).name; }

// Where the parts of an uneven call begin: part i of a buffer is the elements offsets[i] .. offsets[i + 1].
struct Splits {
  std::vector<std::int64_t> input;   // of the ranks that the parts go to; size group size + 1, or empty: not split
  std::vector<std::int64_t> output;  // of the ranks that the parts come from; likewise
};

// Messages that pdsim itself sends, besides a program's, use tags from here on; users' are below. They fit Gloo's 32 bits.
constexpr Tag first_inner_tag = Tag{0x7b} << 24;

struct Algorithm;

struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  ConstView input{};
  MutableView output{};
  DType dtype = DType::f32;
  std::int64_t count = 0;
  ReduceOp op = ReduceOp::sum;
  double premul = 1.0;  // factor of premul_sum
  Rank root = 0;        // group rank; the peer for send and recv (any_source allowed for recv)
  Seq seq = 0;
  Tag user_tag = 0;                        // send and recv only
  std::shared_ptr<const Splits> splits{};  // of the _v kinds; null: every part has `count` elements
  std::shared_ptr<Rank> source{};          // recv only: where the sender's group rank goes
  std::string_view algorithm = "auto";
  const Algorithm* own_algorithm = nullptr;  // a row that is in no table, instead of a name; outlives the call
  bool unproven = false;                     // run it although no proof was asked for (CallOptions)
  Time timeout = Time::max();                // relative to the start; who enforces it and how is the backend's
};

}  // namespace pdsim
