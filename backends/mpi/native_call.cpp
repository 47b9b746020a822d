#include "backends/mpi/native_call.h"

#include "core/collectives/collective_shape.h"
#include "core/collectives/reduce.h"

#include <climits>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace pdsim {
namespace {

int all_reduce(NativeCall& c) {
  return MPI_Iallreduce(c.input, c.output, c.count, c.type, c.op, c.group.comm, &c.request);
}
int reduce_to_root(NativeCall& c) {
  return MPI_Ireduce(c.input, c.is_root() ? c.output : nullptr, c.count, c.type, c.op, c.call.root, c.group.comm,
                     &c.request);
}
int broadcast(NativeCall& c) {
  if (c.is_root() && c.call.input.data != nullptr && c.call.input.data != c.call.output.data && c.count > 0)
    std::memmove(c.output, c.call.input.data, static_cast<std::size_t>(c.call.input.bytes()));
  return MPI_Ibcast(c.output, c.count, c.type, c.call.root, c.group.comm, &c.request);
}
int all_gather(NativeCall& c) {
  return MPI_Iallgather(c.input, c.count, c.type, c.output, c.count, c.type, c.group.comm, &c.request);
}
int gather(NativeCall& c) {
  return MPI_Igather(c.input, c.count, c.type, c.is_root() ? c.output : nullptr, c.count, c.type, c.call.root,
                     c.group.comm, &c.request);
}
int scatter(NativeCall& c) {
  return MPI_Iscatter(c.is_root() ? c.input : nullptr, c.count, c.type, c.output, c.count, c.type, c.call.root,
                      c.group.comm, &c.request);
}
int reduce_scatter(NativeCall& c) {
  return MPI_Ireduce_scatter_block(c.input, c.output, c.count, c.type, c.op, c.group.comm, &c.request);
}
int all_to_all(NativeCall& c) {
  return MPI_Ialltoall(c.input, c.count, c.type, c.output, c.count, c.type, c.group.comm, &c.request);
}
int barrier(NativeCall& c) { return MPI_Ibarrier(c.group.comm, &c.request); }
int all_gather_v(NativeCall& c) {
  const int own = c.receive_counts[static_cast<std::size_t>(c.group.rank)];
  return MPI_Iallgatherv(c.input, own, c.type, c.output, c.receive_counts.data(), c.receive_offsets.data(), c.type,
                         c.group.comm, &c.request);
}
int reduce_scatter_v(NativeCall& c) {
  return MPI_Ireduce_scatter(c.input, c.output, c.send_counts.data(), c.type, c.op, c.group.comm, &c.request);
}
int all_to_all_v(NativeCall& c) {
  return MPI_Ialltoallv(c.input, c.send_counts.data(), c.send_offsets.data(), c.type, c.output, c.receive_counts.data(),
                        c.receive_offsets.data(), c.type, c.group.comm, &c.request);
}
int scan(NativeCall& c) { return MPI_Iscan(c.input, c.output, c.count, c.type, c.op, c.group.comm, &c.request); }
int exscan(NativeCall& c) { return MPI_Iexscan(c.input, c.output, c.count, c.type, c.op, c.group.comm, &c.request); }

// The same, done when the function returns.
int blocking_all_reduce(NativeCall& c) { return MPI_Allreduce(c.input, c.output, c.count, c.type, c.op, c.group.comm); }
int blocking_reduce_to_root(NativeCall& c) {
  return MPI_Reduce(c.input, c.is_root() ? c.output : nullptr, c.count, c.type, c.op, c.call.root, c.group.comm);
}
// pdsim's has an input and an output; MPI's one buffer.
int blocking_broadcast(NativeCall& c) {
  if (c.is_root() && c.call.input.data != c.call.output.data && c.count > 0)
    std::memcpy(c.output, c.call.input.data, static_cast<std::size_t>(c.call.input.bytes()));
  return MPI_Bcast(c.output, c.count, c.type, c.call.root, c.group.comm);
}
int blocking_all_gather(NativeCall& c) {
  return MPI_Allgather(c.input, c.count, c.type, c.output, c.count, c.type, c.group.comm);
}
int blocking_gather(NativeCall& c) {
  return MPI_Gather(c.input, c.count, c.type, c.is_root() ? c.output : nullptr, c.count, c.type, c.call.root,
                    c.group.comm);
}
int blocking_scatter(NativeCall& c) {
  return MPI_Scatter(c.is_root() ? c.input : nullptr, c.count, c.type, c.output, c.count, c.type, c.call.root,
                     c.group.comm);
}
int blocking_reduce_scatter(NativeCall& c) {
  return MPI_Reduce_scatter_block(c.input, c.output, c.count, c.type, c.op, c.group.comm);
}
int blocking_all_to_all(NativeCall& c) {
  return MPI_Alltoall(c.input, c.count, c.type, c.output, c.count, c.type, c.group.comm);
}
int blocking_barrier(NativeCall& c) { return MPI_Barrier(c.group.comm); }
int blocking_scan(NativeCall& c) { return MPI_Scan(c.input, c.output, c.count, c.type, c.op, c.group.comm); }
int blocking_exscan(NativeCall& c) { return MPI_Exscan(c.input, c.output, c.count, c.type, c.op, c.group.comm); }

constexpr std::array natives{
    NativeRow{CollectiveKind::all_reduce, all_reduce, "MPI_Iallreduce", blocking_all_reduce, "MPI_Allreduce", true},
    NativeRow{CollectiveKind::reduce, reduce_to_root, "MPI_Ireduce", blocking_reduce_to_root, "MPI_Reduce", true},
    NativeRow{CollectiveKind::broadcast, broadcast, "MPI_Ibcast", blocking_broadcast, "MPI_Bcast"},
    NativeRow{CollectiveKind::all_gather, all_gather, "MPI_Iallgather", blocking_all_gather, "MPI_Allgather", true},
    NativeRow{CollectiveKind::gather, gather, "MPI_Igather", blocking_gather, "MPI_Gather"},
    NativeRow{CollectiveKind::scatter, scatter, "MPI_Iscatter", blocking_scatter, "MPI_Scatter"},
    NativeRow{CollectiveKind::reduce_scatter, reduce_scatter, "MPI_Ireduce_scatter_block", blocking_reduce_scatter,
              "MPI_Reduce_scatter_block"},
    NativeRow{CollectiveKind::all_to_all, all_to_all, "MPI_Ialltoall", blocking_all_to_all, "MPI_Alltoall"},
    NativeRow{CollectiveKind::barrier, barrier, "MPI_Ibarrier", blocking_barrier, "MPI_Barrier"},
    NativeRow{CollectiveKind::all_gather_v, all_gather_v, "MPI_Iallgatherv"},
    NativeRow{CollectiveKind::reduce_scatter_v, reduce_scatter_v, "MPI_Ireduce_scatter"},
    NativeRow{CollectiveKind::all_to_all_v, all_to_all_v, "MPI_Ialltoallv"},
    NativeRow{CollectiveKind::scan, scan, "MPI_Iscan", blocking_scan, "MPI_Scan", true},
    NativeRow{CollectiveKind::exscan, exscan, "MPI_Iexscan", blocking_exscan, "MPI_Exscan", true},
};

bool overlap(ConstView a, MutableView b) { return a.data < b.data + b.bytes() && b.data < a.data + a.bytes(); }

// The forms of in place that MPI has; reduce has it on the root only, where alone it has an output.
bool is_in_place(const Collective& call, Rank rank) {
  const NativeRow* native = native_row(call.kind);
  if (native == nullptr || !native->takes_in_place) return false;
  const bool in_part = in_place_form(call.kind) == InPlace::input_in_output;
  return call.input.data == call.output.data + (in_part ? rank * call.input.bytes() : 0);
}

void lay_out(const std::vector<std::int64_t>& from, std::vector<int>& counts, std::vector<int>& offsets) {
  for (std::size_t i = 0; i + 1 < from.size(); ++i) {
    counts.push_back(static_cast<int>(from[i + 1] - from[i]));
    offsets.push_back(static_cast<int>(from[i]));
  }
}

// Even parts, where a _v kind was called without splits.
std::vector<std::int64_t> even(std::int64_t count, int size) {
  std::vector<std::int64_t> at;
  for (int i = 0; i <= size; ++i) at.push_back(count * i);
  return at;
}

void place_parts(NativeCall& c) {
  const CollectiveRow& r = row(c.call.kind);
  if (!r.shape.uneven) return;
  const std::vector<std::int64_t> parts = even(c.call.count, c.group.size);
  const Splits none{parts, parts};
  const Splits& splits = c.call.splits ? *c.call.splits : none;
  if (r.input_in_parts) lay_out(splits.input.empty() ? parts : splits.input, c.send_counts, c.send_offsets);
  if (r.output_in_parts) lay_out(splits.output.empty() ? parts : splits.output, c.receive_counts, c.receive_offsets);
}

void place_input(NativeCall& c) {
  const Collective& call = c.call;
  double factor = 1.0;
  if (call.op == ReduceOp::avg && row(call.dtype).floating) factor = 1.0 / c.group.size;
  if (call.op == ReduceOp::premul_sum) factor = call.premul;
  const bool scales = row(call.kind).reduces && factor != 1.0;
  const bool overlaps = call.kind != CollectiveKind::broadcast && overlap(call.input, call.output);
  c.output = call.output.data;
  c.input = call.input.data;
  if (!scales && !overlaps) return;
  if (!scales && is_in_place(call, c.group.rank)) {
    c.input = MPI_IN_PLACE;
    return;
  }
  c.copy.resize(static_cast<std::size_t>(call.input.bytes()));
  if (scales)
    scale({c.copy.data(), call.dtype, call.input.count}, call.input, factor);
  else
    std::memcpy(c.copy.data(), call.input.data, c.copy.size());
  c.input = c.copy.data();
}

}  // namespace

const NativeRow* native_row(CollectiveKind kind) {
  for (const NativeRow& r : natives)
    if (r.kind == kind) return &r;
  return nullptr;
}

Status prepare(NativeCall& c, MpiReductions& reductions) {
  const std::int64_t largest = std::max({c.call.count, c.call.input.count, c.call.output.count});
  if (largest > INT_MAX)
    return Error{Code::limit_exceeded, fmt::format("MPI counts up to {} elements; this is {}", INT_MAX, largest), {}};
  c.count = static_cast<int>(c.call.count);
  const Result<MPI_Datatype> type = reductions.type(c.call.dtype);
  if (!type.ok()) return type.error();
  c.type = *type;
  if (row(c.call.kind).reduces) {
    const Result<MPI_Op> op = reductions.op(c.call.op, c.call.dtype);
    if (!op.ok()) return op.error();
    c.op = *op;
  }
  place_input(c);
  place_parts(c);
  return {};
}

}  // namespace pdsim
