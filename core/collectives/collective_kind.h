// THE table of collectives: a row gives a kind's name, the shapes of its input and output, and whose inputs the output is
// computed from. Element counts, in-place forms, the reference, test data, bounds, captions and the plan checker's expectations
// follow from the row (collective_shape.h); no code asks for a kind by name to work them out.
//
// Adding one: an enumerator and a row here, an algorithm in a family's file, a function of ProcessGroup, a row of the operations'
// table, and a native call for each library that has one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

// The ranks that have a buffer.
enum class Holders : std::uint8_t { nobody, root, all_but_first, everybody };

// A buffer's length: `count` elements, or a part of `count` for each rank (parts of their own sizes where a call has splits).
enum class Extent : std::uint8_t { one_part, part_per_rank };

struct BufferShape {
  Holders holders = Holders::nobody;
  Extent extent = Extent::one_part;
};

// The ranks whose inputs an element of a rank's output is computed from; several are combined in rank order.
enum class Sources : std::uint8_t { none, root, owner_of_part, everybody, ranks_up_to_own, ranks_before_own };

struct CollectiveShape {
  BufferShape input{}, output{};
  Sources sources = Sources::none;
  bool uneven = false;  // the parts may differ in size from rank to rank
};

// The names of the libraries' functions, without prefixes: gloo::allreduce, MPI_Iallreduce, ncclAllReduce. Empty: there is none.
struct NativeNames {
  std::string_view gloo{}, mpi{}, nccl{};
};

struct CollectiveRow {
  CollectiveKind kind;
  std::string_view name;
  CollectiveShape shape{};
  NativeNames native{};
  std::array<std::string_view, 3> torch{};  // functions of PyTorch that make this call, besides one of the same name
  bool composed = false;                    // pdsim builds it from messages; no algorithm, no native call

  // Derived from the fields above by with_what_follows().
  bool has_input = false, has_output = false;
  bool point_to_point = false;  // Collective::root is the peer then
  bool rooted = false;
  bool prefix = false;  // the output combines the ranks up to this one, or before it
  bool reduces = false;
  bool input_in_parts = false, output_in_parts = false;
  bool in_parts = false;    // either
  bool own_splits = false;  // uneven, and each rank's splits are its own; else all ranks pass the same ones
  bool planned = false;     // every rank of the group takes part, by an algorithm or a native call
};

constexpr CollectiveRow with_what_follows(CollectiveRow r) {
  const CollectiveShape& s = r.shape;
  r.has_input = s.input.holders != Holders::nobody;
  r.has_output = s.output.holders != Holders::nobody;
  r.point_to_point = r.has_input != r.has_output;
  r.rooted = !r.point_to_point && (s.input.holders == Holders::root || s.output.holders == Holders::root);
  r.prefix = s.sources == Sources::ranks_up_to_own || s.sources == Sources::ranks_before_own;
  r.reduces = r.prefix || s.sources == Sources::everybody;
  r.input_in_parts = s.input.extent == Extent::part_per_rank;
  r.output_in_parts = s.output.extent == Extent::part_per_rank;
  r.in_parts = r.input_in_parts || r.output_in_parts;
  r.own_splits = s.uneven && r.input_in_parts && r.output_in_parts;
  r.planned = !r.point_to_point && !r.composed;
  return r;
}

namespace collective_rows {

inline constexpr BufferShape nowhere{};
inline constexpr BufferShape on_root{Holders::root, Extent::one_part};
inline constexpr BufferShape everywhere{Holders::everybody, Extent::one_part};
inline constexpr BufferShape parts_on_root{Holders::root, Extent::part_per_rank};
inline constexpr BufferShape parts_everywhere{Holders::everybody, Extent::part_per_rank};
inline constexpr BufferShape all_but_first{Holders::all_but_first, Extent::one_part};

}  // namespace collective_rows

constexpr auto collective_table = [] {
  using namespace collective_rows;
  using K = CollectiveKind;
  using S = Sources;
  std::array<CollectiveRow, static_cast<std::size_t>(K::count_)> rows{{
      {.kind = K::broadcast,
       .name = "broadcast",
       .shape = {on_root, everywhere, S::root},
       .native = {"broadcast", "bcast", "Broadcast"},
       .torch = {"_broadcast_oop"}},
      {.kind = K::all_reduce,
       .name = "all_reduce",
       .shape = {everywhere, everywhere, S::everybody},
       .native = {"allreduce", "allreduce", "AllReduce"},
       .torch = {"allreduce"}},
      {.kind = K::reduce,
       .name = "reduce",
       .shape = {everywhere, on_root, S::everybody},
       .native = {"reduce", "reduce", "Reduce"},
       .torch = {"_reduce_oop"}},
      {.kind = K::all_gather,
       .name = "all_gather",
       .shape = {everywhere, parts_everywhere, S::owner_of_part},
       .native = {"allgather", "allgather", "AllGather"},
       .torch = {"_all_gather_base", "all_gather_single", "all_gather_into_tensor"}},
      {.kind = K::gather,
       .name = "gather",
       .shape = {everywhere, parts_on_root, S::owner_of_part},
       .native = {"gather", "gather", "Gather"}},
      {.kind = K::scatter,
       .name = "scatter",
       .shape = {parts_on_root, everywhere, S::root},
       .native = {"scatter", "scatter", "Scatter"}},
      {.kind = K::reduce_scatter,
       .name = "reduce_scatter",
       .shape = {parts_everywhere, everywhere, S::everybody},
       .native = {{}, "reduce_scatter_block", "ReduceScatter"},
       .torch = {"_reduce_scatter_base", "reduce_scatter_single", "reduce_scatter_tensor"}},
      {.kind = K::all_to_all,
       .name = "all_to_all",
       .shape = {parts_everywhere, parts_everywhere, S::owner_of_part},
       .native = {"alltoall", "alltoall", "AlltoAll"},
       .torch = {"all_to_all_single", "all_to_all_v_single"}},
      {.kind = K::barrier, .name = "barrier", .native = {"barrier", "barrier"}, .torch = {"all_reduce_barrier"}},
      {.kind = K::send, .name = "send", .shape = {everywhere, nowhere}},
      {.kind = K::recv, .name = "recv", .shape = {nowhere, everywhere, S::root}},
      {.kind = K::all_gather_v,
       .name = "all_gather_v",
       .shape = {everywhere, parts_everywhere, S::owner_of_part, true},
       .native = {{}, "allgatherv"}},
      {.kind = K::reduce_scatter_v,
       .name = "reduce_scatter_v",
       .shape = {parts_everywhere, everywhere, S::everybody, true},
       .native = {{}, "reduce_scatter"}},
      {.kind = K::all_to_all_v,
       .name = "all_to_all_v",
       .shape = {parts_everywhere, parts_everywhere, S::owner_of_part, true},
       .native = {{}, "alltoallv"}},
      {.kind = K::scan, .name = "scan", .shape = {everywhere, everywhere, S::ranks_up_to_own}, .native = {{}, "scan"}},
      {.kind = K::exscan,
       .name = "exscan",
       .shape = {everywhere, all_but_first, S::ranks_before_own},
       .native = {{}, "exscan"}},
      {.kind = K::monitored_barrier, .name = "monitored_barrier", .composed = true},
  }};
  for (CollectiveRow& r : rows) r = with_what_follows(r);
  return rows;
}();

constexpr const CollectiveRow& row(CollectiveKind k) { return collective_table[static_cast<std::size_t>(k)]; }
constexpr std::string_view name_of(CollectiveKind k) { return row(k).name; }

// PyTorch's name for the rank in Collective::root: "src", "dst", or nothing where a call has none.
constexpr std::string_view named_rank(CollectiveKind k) {
  if (row(k).shape.sources == Sources::root) return "src";
  return row(k).rooted || row(k).point_to_point ? "dst" : "";
}

constexpr bool collective_rows_are_in_order() {
  for (std::size_t i = 0; i < collective_table.size(); ++i)
    if (collective_table[i].kind != static_cast<CollectiveKind>(i)) return false;
  return true;
}
static_assert(collective_rows_are_in_order(), "the rows stand in the order of their enumerators");

// Returns null for an unknown name.
constexpr const CollectiveRow* collective_named(std::string_view name) {
  for (const CollectiveRow& r : collective_table)
    if (r.name == name) return &r;
  return nullptr;
}

// The same for a function of PyTorch, which may have another name.
constexpr const CollectiveRow* collective_of_torch(std::string_view function) {
  for (const CollectiveRow& r : collective_table) {
    if (r.name == function) return &r;
    for (const std::string_view name : r.torch)
      if (!name.empty() && name == function) return &r;
  }
  return nullptr;
}

}  // namespace pdsim
