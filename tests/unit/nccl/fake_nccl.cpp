#include "core/base/check.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/element.h"
#include "core/collectives/plan_runner.h"
#include "core/collectives/reference.h"
#include "tests/unit/nccl/fake_world.h"

#include <algorithm>
#include <cstring>

namespace pdsim::testing {
namespace {

using Lock = std::lock_guard<std::recursive_mutex>;

// What one rank brings to a collective.
struct Part {
  Collective call;
  const void* in = nullptr;
  void* out = nullptr;
};

struct Meeting {
  std::map<int, Part> parts;
  bool over = false;
};

// One end of a message.
struct End {
  std::byte* data;
  std::size_t bytes;
  bool met = false;
};

struct Clique {
  int size = 0;
  int joined = 0;
  int finalized = 0;
  std::map<std::int64_t, Meeting> meetings;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<End>>> sent, received;
};

std::map<std::string, std::shared_ptr<Clique>>& cliques() {
  static std::map<std::string, std::shared_ptr<Clique>> all;
  return all;
}

struct Wish {
  bool sends;
  int peer;
  std::shared_ptr<End> end;
};

}  // namespace
}  // namespace pdsim::testing

struct ncclComm {
  std::shared_ptr<pdsim::testing::Clique> clique;
  int rank = 0;
  int polls_left = 0;  // until the call in progress is taken up
  std::function<void()> in_progress{};
  std::int64_t calls = 0;
  bool finalized = false;
  std::map<int, std::pair<double, ncclDataType_t>> ops{};
  int ops_made = 0;
};

namespace pdsim::testing {
namespace {

struct GroupCall {
  int depth = 0;
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Wish> wishes;
};
thread_local GroupCall group;

DType dtype_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return DType::i8;
    case ncclInt32:
      return DType::i32;
    case ncclInt64:
      return DType::i64;
    case ncclFloat16:
      return DType::f16;
    case ncclFloat32:
      return DType::f32;
    case ncclFloat64:
      return DType::f64;
    case ncclBfloat16:
      return DType::bf16;
    default:
      PDSIM_CHECK(type == ncclUint8, "pdsim has no such dtype");
      return DType::u8;
  }
}

double rounded(double value, DType dtype) {
  std::byte bytes[8]{};
  write_element(bytes, dtype, value);
  return read_element(bytes, dtype);
}

bool is_ready(ncclComm_t c) { return c->clique->joined == c->clique->size && c->polls_left == 0; }

// The call is taken up when the communicator was asked about it twice more.
ncclResult_t take_up(ncclComm_t c, std::function<void()> call) {
  PDSIM_CHECK(is_ready(c) && !c->finalized, "a communicator was called that has not finished its last call");
  c->in_progress = std::move(call);
  c->polls_left = 2;
  return ncclInProgress;
}

void run_meeting(Meeting& meeting, int size) {
  const Collective& call = meeting.parts.at(0).call;
  RankBuffers inputs;
  for (const auto& [rank, part] : meeting.parts) {
    const auto bytes = static_cast<std::size_t>(input_elements(call, rank, size)) * size_of(call.dtype);
    const auto* from = static_cast<const std::byte*>(part.in);
    inputs.emplace_back(from, from + bytes);
  }
  const RankBuffers outputs = reference_result(call, inputs);
  for (const auto& [rank, part] : meeting.parts) {
    const std::vector<std::byte>& out = outputs[static_cast<std::size_t>(rank)];
    if (!out.empty()) std::memcpy(part.out, out.data(), out.size());
  }
  meeting.over = true;
}

bool same_call(const Collective& a, const Collective& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.count == b.count && a.op == b.op && a.root == b.root;
}

ncclResult_t collective(CollectiveKind kind, const void* in, void* out, std::size_t count, ncclDataType_t type,
                        int root, ncclComm_t c, cudaStream_t stream, ReduceOp op = ReduceOp::sum, double factor = 1.0) {
  const Lock lock(world().mutex);
  Part part{{}, in, out};
  part.call.kind = kind;
  part.call.dtype = dtype_of(type);
  part.call.count = static_cast<std::int64_t>(count);
  part.call.root = root;
  part.call.op = op;
  part.call.premul = factor;
  return take_up(c, [c, part, stream] {
    const auto run = [clique = c->clique, rank = c->rank, number = c->calls++, part] {
      Meeting& meeting = clique->meetings[number];
      meeting.parts.emplace(rank, part);
      const bool all = static_cast<int>(meeting.parts.size()) == clique->size;
      const bool fit = std::all_of(meeting.parts.begin(), meeting.parts.end(),
                                   [&](const auto& p) { return same_call(p.second.call, part.call); });
      if (all && fit && !meeting.over) run_meeting(meeting, clique->size);
      return meeting.over;  // what does not fit hangs
    };
    stream->queue.push_back({run, c});
  });
}

ncclResult_t reduction(CollectiveKind kind, const void* in, void* out, std::size_t count, ncclDataType_t type,
                       ncclRedOp_t op, int root, ncclComm_t c, cudaStream_t stream) {
  const DType dtype = dtype_of(type);
  const auto with = [&](ReduceOp ours, double factor = 1.0) {
    return collective(kind, in, out, count, type, root, c, stream, ours, factor);
  };
  switch (op) {
    case ncclSum:
      return with(ReduceOp::sum);
    case ncclProd:
      return with(ReduceOp::product);
    case ncclMax:
      return with(ReduceOp::max);
    case ncclMin:
      return with(ReduceOp::min);
    case ncclAvg:
      return row(dtype).floating ? with(ReduceOp::premul_sum, rounded(1.0 / c->clique->size, dtype))
                                 : with(ReduceOp::avg);
    default: {
      const auto made = c->ops.find(static_cast<int>(op));
      PDSIM_CHECK(made != c->ops.end() && made->second.second == type, "no such operation was made");
      return with(ReduceOp::premul_sum, made->second.first);
    }
  }
}

// Matches what both ends of a pair have posted, in order; what does not fit hangs.
void match(Clique& clique, int from, int to) {
  auto& sent = clique.sent[{from, to}];
  auto& received = clique.received[{from, to}];
  while (!sent.empty() && !received.empty() && sent.front()->bytes == received.front()->bytes) {
    std::memcpy(received.front()->data, sent.front()->data, sent.front()->bytes);
    sent.front()->met = received.front()->met = true;
    sent.pop_front();
    received.pop_front();
  }
}

ncclResult_t run_group(ncclComm_t c, cudaStream_t stream, std::vector<Wish> wishes) {
  return take_up(c, [c, stream, wishes = std::move(wishes)] {
    const auto run = [clique = c->clique, rank = c->rank, wishes, posted = false]() mutable {
      for (const Wish& w : wishes) {
        const std::pair<int, int> pair = w.sends ? std::pair(rank, w.peer) : std::pair(w.peer, rank);
        if (!posted) (w.sends ? clique->sent : clique->received)[pair].push_back(w.end);
        match(*clique, pair.first, pair.second);
      }
      posted = true;
      return std::all_of(wishes.begin(), wishes.end(), [](const Wish& w) { return w.end->met; });
    };
    stream->queue.push_back({run, c});
  });
}

ncclResult_t message(bool sends, const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c,
                     cudaStream_t stream) {
  const Lock lock(world().mutex);
  const std::size_t bytes = count * size_of(dtype_of(type));
  PDSIM_CHECK(world().owns(world().device_memory, data, bytes), "a message leaves its buffer");
  auto end = std::make_shared<End>(End{static_cast<std::byte*>(const_cast<void*>(data)), bytes});
  if (group.depth == 0) return run_group(c, stream, {{sends, peer, std::move(end)}});
  group.communicator = c;
  group.stream = stream;
  group.wishes.push_back({sends, peer, std::move(end)});
  return ncclSuccess;
}

ncclResult_t end_group() {
  const Lock lock(world().mutex);
  if (--group.depth > 0 || group.wishes.empty()) return ncclSuccess;
  return run_group(group.communicator, group.stream, std::exchange(group.wishes, {}));
}

ncclResult_t unique_id(ncclUniqueId* id) {
  const Lock lock(world().mutex);
  const std::string text = "id " + std::to_string(++world().ids);
  std::memcpy(id->internal, text.data(), text.size());
  return ncclSuccess;
}

ncclResult_t init(ncclComm_t* made, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  const Lock lock(world().mutex);
  PDSIM_CHECK(config->blocking == 0, "the double has communicators that do not block only");
  auto& clique = cliques()[std::string(id.internal, sizeof(id.internal))];
  if (!clique) clique = std::make_shared<Clique>();
  clique->size = size;
  ++clique->joined;
  ++world().communicators;
  *made = new ncclComm{clique, rank};
  return ncclInProgress;
}

ncclResult_t async_error(ncclComm_t c, ncclResult_t* state) {
  const Lock lock(world().mutex);
  world().progress();
  if (c->polls_left > 0 && --c->polls_left == 0 && c->in_progress) std::exchange(c->in_progress, nullptr)();
  const bool closing = c->finalized && c->clique->finalized < c->clique->size;
  *state = world().failure != ncclSuccess ? world().failure : is_ready(c) && !closing ? ncclSuccess : ncclInProgress;
  return ncclSuccess;
}

void finalize_once(ncclComm_t c) {
  if (!std::exchange(c->finalized, true)) ++c->clique->finalized;
}

ncclResult_t finalize(ncclComm_t c) {
  const Lock lock(world().mutex);
  PDSIM_CHECK(is_ready(c), "a communicator was finalized that has not finished its last call");
  finalize_once(c);
  return ncclInProgress;
}

// Nobody will meet this rank any more.
void withdraw(Clique& clique, int rank) {
  for (auto& [pair, ends] : clique.sent)
    if (pair.first == rank) ends.clear();
  for (auto& [pair, ends] : clique.received)
    if (pair.second == rank) ends.clear();
  for (auto& [number, meeting] : clique.meetings)
    if (!meeting.over) meeting.parts.erase(rank);
}

ncclResult_t abort(ncclComm_t c) {
  const Lock lock(world().mutex);
  finalize_once(c);
  withdraw(*c->clique, c->rank);
  for (const cudaStream_t stream : world().streams)
    std::erase_if(stream->queue, [c](const auto& operation) { return operation.communicator == c; });
  --world().communicators;
  delete c;
  return ncclSuccess;
}

ncclResult_t destroy(ncclComm_t c) {
  PDSIM_CHECK(c->finalized, "a communicator was destroyed before it was finalized");
  return abort(c);
}

ncclResult_t make_premul(ncclRedOp_t* op, void* scalar, ncclDataType_t type, ncclScalarResidence_t, ncclComm_t c) {
  const Lock lock(world().mutex);
  const int number = ncclNumOps + c->ops_made++;
  c->ops[number] = {read_element(static_cast<const std::byte*>(scalar), dtype_of(type)), type};
  *op = static_cast<ncclRedOp_t>(number);
  return ncclSuccess;
}

ncclResult_t destroy_op(ncclRedOp_t op, ncclComm_t c) {
  const Lock lock(world().mutex);
  return c->ops.erase(static_cast<int>(op)) == 1 ? ncclSuccess : ncclInvalidArgument;
}

}  // namespace

NcclCalls fake_nccl() {
  using K = CollectiveKind;
  NcclCalls n{};
  n.version = [](int* version) {
    *version = world().facts.nccl_version;
    return ncclSuccess;
  };
  n.unique_id = unique_id;
  n.init = init;
  n.finalize = finalize;
  n.destroy = destroy;
  n.abort = abort;
  n.async_error = async_error;
  n.text_of = [](ncclResult_t result) {
    return result == ncclRemoteError ? "remote process exited or there was a network error" : "an error of the double";
  };
  n.last_error = [](ncclComm_t) { return ""; };
  n.make_premul = make_premul;
  n.destroy_op = destroy_op;
  n.group_start = [] { return ++group.depth, ncclSuccess; };
  n.group_end = end_group;
  n.send = [](const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c, cudaStream_t s) {
    return message(true, data, count, type, peer, c, s);
  };
  n.receive = [](void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c, cudaStream_t s) {
    return message(false, data, count, type, peer, c, s);
  };
  n.all_reduce = [](const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t c,
                    cudaStream_t s) { return reduction(K::all_reduce, in, out, count, type, op, 0, c, s); };
  n.reduce_scatter = [](const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t c,
                        cudaStream_t s) { return reduction(K::reduce_scatter, in, out, count, type, op, 0, c, s); };
  n.reduce = [](const void* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                ncclComm_t c, cudaStream_t s) { return reduction(K::reduce, in, out, count, type, op, root, c, s); };
  n.broadcast = [](const void* in, void* out, std::size_t count, ncclDataType_t type, int root, ncclComm_t c,
                   cudaStream_t s) { return collective(K::broadcast, in, out, count, type, root, c, s); };
  n.all_gather = [](const void* in, void* out, std::size_t count, ncclDataType_t type, ncclComm_t c, cudaStream_t s) {
    return collective(K::all_gather, in, out, count, type, 0, c, s);
  };
  n.all_to_all = [](const void* in, void* out, std::size_t count, ncclDataType_t type, ncclComm_t c, cudaStream_t s) {
    return collective(K::all_to_all, in, out, count, type, 0, c, s);
  };
  n.gather = [](const void* in, void* out, std::size_t count, ncclDataType_t type, int root, ncclComm_t c,
                cudaStream_t s) { return collective(K::gather, in, out, count, type, root, c, s); };
  n.scatter = [](const void* in, void* out, std::size_t count, ncclDataType_t type, int root, ncclComm_t c,
                 cudaStream_t s) { return collective(K::scatter, in, out, count, type, root, c, s); };
  return n;
}

}  // namespace pdsim::testing
