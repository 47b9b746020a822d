#include "backends/nccl/native.h"

#include "backends/nccl/errors.h"
#include "backends/nccl/mappings.h"
#include "core/base/check.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/element.h"
#include "core/collectives/plan_runner.h"

#include <array>
#include <memory>
#include <utility>

namespace pdsim {
namespace {

// One call, and where in the flight's memory its parts lie.
struct Native {
  Collective call;
  Rank rank = 0;
  int size = 1;
  std::int64_t in = 0, out = 0;
  std::int64_t gathered = 0;  // of operations that NCCL does not have: a contribution of every rank

  std::size_t count() const { return static_cast<std::size_t>(call.count); }
  std::int64_t bytes() const { return call.count * static_cast<std::int64_t>(size_of(call.dtype)); }
  ncclDataType_t type() const { return nccl_type(call.dtype); }
  bool is_root() const { return rank == call.root; }
  bool combines_itself() const { return row(call.kind).reduces && !has_op(); }
  bool has_op() const { return call.op == ReduceOp::premul_sum || nccl_op(call.op, call.dtype).has_value(); }
};

// An operation of NCCL's for one call; one that had to be made is given back.
class Op {
 public:
  Op(const Native& n, const NcclContext& context) : nccl_(context.loaded.nccl), communicator_(context.communicator) {
    if (n.call.op != ReduceOp::premul_sum) {
      op_ = *nccl_op(n.call.op, n.call.dtype);
      return;
    }
    std::array<std::byte, sizeof(double)> factor{};
    write_element(factor.data(), n.call.dtype, n.call.premul);
    result_ = nccl_.make_premul(&op_, factor.data(), n.type(), ncclScalarHostImmediate, communicator_);
    made_ = result_ == ncclSuccess;
  }
  ~Op() {
    if (made_) (void)nccl_.destroy_op(op_, communicator_);
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ncclResult_t result() const { return result_; }
  ncclRedOp_t get() const { return op_; }

 private:
  const NcclCalls& nccl_;
  ncclComm_t communicator_;
  ncclRedOp_t op_ = ncclSum;
  ncclResult_t result_ = ncclSuccess;
  bool made_ = false;
};

template <class Call>
ncclResult_t with_op(const Native& n, const NcclContext& l, Call call) {
  const Op op(n, l);
  return op.result() == ncclSuccess ? call(op.get()) : op.result();
}

ncclResult_t all_gather_to(const Native& n, const NcclContext& l, std::int64_t at) {
  return l.loaded.nccl.all_gather(l.device + n.in, l.device + at, n.count(), n.type(), l.communicator, l.stream);
}

// Before 2.28, NCCL's documentation says of these to send and to receive in a group.
template <class Calls>
ncclResult_t in_group(const NcclContext& l, Calls calls) {
  const NcclCalls& nccl = l.loaded.nccl;
  if (const ncclResult_t begun = nccl.group_start(); begun != ncclSuccess) return begun;
  ncclResult_t result = ncclSuccess;
  calls([&result](ncclResult_t one) {
    if (result == ncclSuccess && one != ncclInProgress) result = one;
  });
  const ncclResult_t ended = nccl.group_end();
  return result == ncclSuccess ? ended : result;
}

ncclResult_t all_to_all_to(const Native& n, const NcclContext& l, std::int64_t at) {
  const NcclCalls& nccl = l.loaded.nccl;
  if (nccl.all_to_all != nullptr)
    return nccl.all_to_all(l.device + n.in, l.device + at, n.count(), n.type(), l.communicator, l.stream);
  return in_group(l, [&](auto keep) {
    for (Rank r = 0; r < n.size; ++r) {
      keep(nccl.send(l.device + n.in + r * n.bytes(), n.count(), n.type(), r, l.communicator, l.stream));
      keep(nccl.receive(l.device + at + r * n.bytes(), n.count(), n.type(), r, l.communicator, l.stream));
    }
  });
}

ncclResult_t all_reduce(const Native& n, const NcclContext& l) {
  if (n.combines_itself()) return all_gather_to(n, l, n.gathered);
  return with_op(n, l, [&](ncclRedOp_t op) {
    return l.loaded.nccl.all_reduce(l.device + n.in, l.device + n.out, n.count(), n.type(), op, l.communicator,
                                    l.stream);
  });
}

ncclResult_t reduce_to_root(const Native& n, const NcclContext& l) {
  if (n.combines_itself()) return all_gather_to(n, l, n.gathered);
  return with_op(n, l, [&](ncclRedOp_t op) {
    return l.loaded.nccl.reduce(l.device + n.in, n.is_root() ? l.device + n.out : nullptr, n.count(), n.type(), op,
                                n.call.root, l.communicator, l.stream);
  });
}

ncclResult_t reduce_scatter(const Native& n, const NcclContext& l) {
  if (n.combines_itself()) return all_to_all_to(n, l, n.gathered);
  return with_op(n, l, [&](ncclRedOp_t op) {
    return l.loaded.nccl.reduce_scatter(l.device + n.in, l.device + n.out, n.count(), n.type(), op, l.communicator,
                                        l.stream);
  });
}

ncclResult_t broadcast(const Native& n, const NcclContext& l) {
  std::byte* data = l.device + n.out;
  return l.loaded.nccl.broadcast(data, data, n.count(), n.type(), n.call.root, l.communicator, l.stream);
}

ncclResult_t all_gather(const Native& n, const NcclContext& l) { return all_gather_to(n, l, n.out); }
ncclResult_t all_to_all(const Native& n, const NcclContext& l) { return all_to_all_to(n, l, n.out); }

ncclResult_t gather(const Native& n, const NcclContext& l) {
  const NcclCalls& nccl = l.loaded.nccl;
  std::byte* out = n.is_root() ? l.device + n.out : nullptr;
  if (nccl.gather != nullptr)
    return nccl.gather(l.device + n.in, out, n.count(), n.type(), n.call.root, l.communicator, l.stream);
  return in_group(l, [&](auto keep) {
    keep(nccl.send(l.device + n.in, n.count(), n.type(), n.call.root, l.communicator, l.stream));
    for (Rank r = 0; n.is_root() && r < n.size; ++r)
      keep(nccl.receive(out + r * n.bytes(), n.count(), n.type(), r, l.communicator, l.stream));
  });
}

ncclResult_t scatter(const Native& n, const NcclContext& l) {
  const NcclCalls& nccl = l.loaded.nccl;
  const std::byte* in = n.is_root() ? l.device + n.in : nullptr;
  if (nccl.scatter != nullptr)
    return nccl.scatter(in, l.device + n.out, n.count(), n.type(), n.call.root, l.communicator, l.stream);
  return in_group(l, [&](auto keep) {
    for (Rank r = 0; n.is_root() && r < n.size; ++r)
      keep(nccl.send(in + r * n.bytes(), n.count(), n.type(), r, l.communicator, l.stream));
    keep(nccl.receive(l.device + n.out, n.count(), n.type(), n.call.root, l.communicator, l.stream));
  });
}

// NCCL has none. PyTorch sums one element, whose value nobody reads.
ncclResult_t barrier(const Native& n, const NcclContext& l) {
  std::byte* one = l.device + n.out;
  return l.loaded.nccl.all_reduce(one, one, 1, ncclFloat, ncclSum, l.communicator, l.stream);
}

struct NativeRow {
  CollectiveKind kind;
  ncclResult_t (*run)(const Native&, const NcclContext&);
  std::string_view function;
};
constexpr std::array natives{
    NativeRow{CollectiveKind::all_reduce, all_reduce, "ncclAllReduce"},
    NativeRow{CollectiveKind::reduce, reduce_to_root, "ncclReduce"},
    NativeRow{CollectiveKind::reduce_scatter, reduce_scatter, "ncclReduceScatter"},
    NativeRow{CollectiveKind::broadcast, broadcast, "ncclBroadcast"},
    NativeRow{CollectiveKind::all_gather, all_gather, "ncclAllGather"},
    NativeRow{CollectiveKind::all_to_all, all_to_all, "ncclAlltoAll"},
    NativeRow{CollectiveKind::gather, gather, "ncclGather"},
    NativeRow{CollectiveKind::scatter, scatter, "ncclScatter"},
    NativeRow{CollectiveKind::barrier, barrier, "ncclAllReduce"},
};

const NativeRow* native_row(CollectiveKind kind) {
  for (const NativeRow& r : natives)
    if (r.kind == kind) return &r;
  return nullptr;
}

// The contribution of rank 0, combined with each other one, is the output.
Status combine_gathered(const Native& n, const NcclContext& context) {
  for (Rank r = 1; r < n.size; ++r)
    PDSIM_TRY(context.loaded.arithmetic.reduce(context, n.gathered, n.gathered + r * n.bytes(), n.call.count, n.call.dtype,
                                            n.call.op));
  return {};
}

void place(Native& n, NcclFlight& flight) {
  const Collective& call = n.call;
  if (call.kind == CollectiveKind::barrier) {
    n.out = flight.reserve(sizeof(float));
    return;
  }
  const auto width = static_cast<std::int64_t>(size_of(call.dtype));
  const std::int64_t in = input_elements(call, n.rank, n.size) * width;
  const std::int64_t out = output_elements(call, n.rank, n.size) * width;
  n.out = flight.reserve(out);
  if (call.kind == CollectiveKind::broadcast) {
    const std::byte* from = call.input.data != nullptr ? call.input.data : call.output.data;
    if (n.is_root()) flight.read(from, in, n.out);
  } else {
    n.in = flight.reserve(in);
    flight.read(call.input.data, in, n.in);
  }
  if (n.combines_itself()) n.gathered = flight.reserve(n.bytes() * n.size);
  flight.out.push_back({call.output.data, out, n.combines_itself() ? n.gathered : n.out});
}

}  // namespace

NcclFlight native_flight(const Collective& call, Rank rank, int size) {
  const NativeRow* native = native_row(call.kind);
  PDSIM_CHECK(native != nullptr, "a collective that NCCL does not have was handed to NCCL");
  auto n = std::make_shared<Native>();
  n->call = call;
  n->rank = rank;
  n->size = size;
  NcclFlight flight;
  place(*n, flight);
  const bool combines = n->combines_itself() && output_elements(call, rank, size) > 0;
  flight.launch = [n, native, combines, gathered = false](const NcclContext& context) mutable -> Result<bool> {
    if (std::exchange(gathered, false)) {
      PDSIM_TRY(combine_gathered(*n, context));
      return false;
    }
    PDSIM_TRY(nccl_status(context.loaded.nccl, native->run(*n, context), native->function, context.communicator));
    gathered = combines;
    return gathered;
  };
  return flight;
}

}  // namespace pdsim
