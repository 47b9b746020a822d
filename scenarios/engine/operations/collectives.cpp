// Collectives, send and recv.
#include "core/trial/trial.h"
#include "scenarios/engine/operations/operations.h"
#include "scenarios/engine/program_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::operations {
namespace {

CollectiveKind kind_named(std::string_view name) {
  const auto found = std::find_if(collective_table.begin(), collective_table.end(),
                                  [&](const CollectiveRow& row) { return row.name == name; });
  PDSIM_CHECK(found != collective_table.end(), "an operation is bound to a collective that does not exist");
  return found->kind;
}

// Files name ranks of the world; calls name ranks of the group.
Result<Rank> named_rank(const Operation& op, const ProcessGroup& group, bool peer) {
  const std::string named = op.text(peer ? "peer" : "root", "");
  if (named == "any") return any_source;
  if (named.empty() || !group.is_member()) return 0;
  const Result<Rank> rank = group.group_rank(static_cast<Rank>(op.integer(peer ? "peer" : "root", 0)));
  if (rank.ok()) return rank;
  return Error{rank.error().code, fmt::format("{}: {}", op.name, rank.error().message), rank.error().facts};
}

Result<Payload> payload_of(const Operation& op, const ProcessGroup& group) {
  Payload p;
  p.kind = kind_named(op.name);
  p.dtype = dtype_named(op.text("dtype", "f32")).value_or(DType::f32);
  p.counts = op.integers("counts");
  p.count = p.kind == CollectiveKind::barrier ? 0 : op.integer("count", 1);
  p.op = reduce_op_named(op.text("op", "sum")).value_or(ReduceOp::sum);
  const Result<Rank> root = named_rank(op, group, row(p.kind).point_to_point);
  if (!root.ok()) return root.error();
  p.root = *root;
  p.rank = std::max(group.rank(), 0);
  p.size = group.size();
  if (is_uneven(p.kind) && group.is_member() && p.counts.size() != static_cast<std::size_t>(p.size))
    return Error{Code::invalid_argument,
                 fmt::format("{}: {} counts were given, and the group has {} ranks", op.name, p.counts.size(), p.size),
                 {{"in", op.name}, {"group", group.name()}}};
  return p;
}

// Of a broadcast the same memory is input and output, and only the root's content counts.
bool is_in_place(CollectiveKind kind) { return kind == CollectiveKind::broadcast; }

void fill(Pending& pending, const Payload& p) {
  const auto bytes = static_cast<std::size_t>(p.output_count()) * size_of(p.dtype);
  if (is_in_place(p.kind)) {
    pending.output = p.rank == p.root ? p.input() : std::vector<std::byte>(bytes);
  } else {
    pending.input = p.input();
    pending.output.assign(bytes, std::byte{0});
  }
  pending.check = [p, &pending] {
    Payload arrived = p;
    if (p.root == any_source) arrived.root = pending.work->source();
    return arrived.check(pending.output);
  };
}

// A view with a stride: element i of the tensor lies at i * stride of the memory, and what a backend sees that takes it
// for packed are the first elements of the memory.
void fill_view(Pending& pending, const Payload& p, std::int64_t stride) {
  const std::size_t size = size_of(p.dtype);
  const std::vector<std::byte> packed = p.input();
  pending.input.assign(packed.size() * static_cast<std::size_t>(stride), std::byte{0});
  const auto place = [size, stride](std::size_t i) { return i * size * static_cast<std::size_t>(stride); };
  for (std::size_t i = 0; i * size < packed.size(); ++i)
    std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                pending.input.begin() + static_cast<std::ptrdiff_t>(place(i)));
  pending.output = pending.input;  // in place: what no backend writes stays as it was
  pending.check = [p, &pending, place, size] {
    std::vector<std::byte> seen(static_cast<std::size_t>(p.output_count()) * size);
    for (std::size_t i = 0; i * size < seen.size(); ++i)
      std::copy_n(pending.output.begin() + static_cast<std::ptrdiff_t>(place(i)), size,
                  seen.begin() + static_cast<std::ptrdiff_t>(i * size));
    return p.check(seen);
  };
}

Collective call_of(Pending& pending, const Payload& p, const Operation& op, bool moves_data) {
  Collective call;
  call.kind = p.kind;
  call.dtype = p.dtype;
  call.count = p.own_count();
  call.splits = p.splits();
  call.op = p.op;
  call.root = p.root;
  call.user_tag = static_cast<Tag>(op.integer("tag", 0));
  call.output = {moves_data ? pending.output.data() : nullptr, p.dtype, p.output_count()};
  call.input = {moves_data ? pending.input.data() : nullptr, p.dtype, p.input_count()};
  if (is_in_place(p.kind)) call.input = {call.output.data, p.dtype, p.output_count()};
  return call;
}

}  // namespace

Status collective(Session& s, const Operation& op) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  PDSIM_TRY(check_tensor(s, op, **group));
  const Result<Payload> payload = payload_of(op, **group);
  if (!payload.ok()) return payload.error();
  const Payload& p = *payload;
  auto pending = std::make_unique<Pending>();
  const std::string copy = op.text("contiguous", "");
  const std::int64_t stride = takes_views_for_packed(s) && copy.empty() ? op.integer("stride", 1) : 1;
  if (s.moves_data() && (*group)->is_member()) stride > 1 ? fill_view(*pending, p, stride) : fill(*pending, p);
  if (copy == "dropped") s.env.recorder.note(program_note::copy_passed, {{"label", op.label}});
  if (p.kind == CollectiveKind::reduce && (*group)->is_member() && p.rank != p.root)
    s.env.recorder.note(program_note::result_elsewhere,
                        {{"label", op.label}, {"root", std::to_string((*group)->global_rank(p.root))}});
  if (stride > 1) s.env.recorder.note(note_kind::tensor_passed, {{"stride", std::to_string(stride)}});
  CallOptions options;
  const std::string algorithm = op.text("algorithm", "auto");
  options.algorithm = algorithm;
  options.purpose = op.text("tensor", "");
  const bool async = op.flag("async", false);
  options.async = async || s.env.waits_on_stream;
  Result<WorkPtr> work = (*group)->start(call_of(*pending, p, op, s.moves_data()), std::move(options));
  if (!work.ok()) return work.error();
  pending->work = std::move(*work);
  pending->blocks_host = p.kind == CollectiveKind::barrier;
  if (!(*group)->is_member()) s.outside.insert(op.label);
  if (!async) return wait_on(s, op.label, std::move(pending));
  // A label that comes again, in the next step, waits for what it stood for: its memory is about to be reused.
  std::unique_ptr<Pending>& slot = s.pending[op.label.empty() ? fmt::format("#{}", s.pending.size()) : op.label];
  if (slot != nullptr) PDSIM_TRY(wait_on(s, op.label, std::move(slot)));
  slot = std::move(pending);
  return {};
}

Status monitored_barrier(Session& s, const Operation& op) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  const std::string given = op.text("timeout", "");
  const Result<Time> timeout = given.empty() ? Result<Time>((*group)->timeout()) : parse_time(given);
  if (!timeout.ok()) return timeout.error();
  return (*group)->monitored_barrier(s.env.runtime, *timeout, op.flag("wait_all_ranks", false));
}

Status batch_isend_irecv(Session& s, const Operation& op) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  std::vector<std::unique_ptr<Pending>> pending;
  std::vector<ProcessGroup::Message> messages;
  for (const Operation& message : op.args.at("messages").operations) {
    if (!message.when.selects(s.env.rank, s.env.node, s.step)) continue;
    const Result<Payload> payload = payload_of(message, **group);
    if (!payload.ok()) return payload.error();
    const bool sends = payload->kind == CollectiveKind::send;
    pending.push_back(std::make_unique<Pending>());
    if (s.moves_data() && (*group)->is_member()) fill(*pending.back(), *payload);
    std::vector<std::byte>& memory = sends ? pending.back()->input : pending.back()->output;
    messages.push_back({sends,
                        {s.moves_data() ? memory.data() : nullptr, payload->dtype, payload->count},
                        payload->root,
                        static_cast<Tag>(message.integer("tag", 0))});
  }
  Result<std::vector<WorkPtr>> works = (*group)->batch(messages);
  if (!works.ok()) return works.error();
  for (std::size_t i = 0; i < works->size(); ++i) pending[i]->work = std::move((*works)[i]);
  Status first;
  for (auto& one : pending)
    if (Status status = wait_on(s, op.label, std::move(one)); !status.ok() && first.ok()) first = std::move(status);
  return first;
}

}  // namespace pdsim::scenarios::operations
