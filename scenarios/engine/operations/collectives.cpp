// Collectives, send, recv, and waiting for those that were started with `async: true`.
#include "scenarios/engine/operations/operations.h"
#include "core/trial/payload.h"

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

Payload payload_of(const Operation& op, const ProcessGroup& group) {
  Payload p;
  p.kind = kind_named(op.name);
  p.dtype = dtype_named(op.text("dtype", "f32")).value_or(DType::f32);
  p.count = p.kind == CollectiveKind::barrier ? 0 : op.integer("count", 1);
  p.op = reduce_op_named(op.text("op", "sum")).value_or(ReduceOp::sum);
  p.root = static_cast<Rank>(op.integer(row(p.kind).point_to_point ? "peer" : "root", 0));
  p.rank = group.rank();
  p.size = group.size();
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
  pending.check = [p, &pending] { return p.check(pending.output); };
}

Collective call_of(Pending& pending, const Payload& p, const Operation& op, bool moves_data) {
  Collective call;
  call.kind = p.kind;
  call.dtype = p.dtype;
  call.count = p.count;
  call.op = p.op;
  call.root = p.root;
  call.user_tag = static_cast<Tag>(op.integer("tag", 0));
  call.output = {moves_data ? pending.output.data() : nullptr, p.dtype, p.output_count()};
  call.input = {moves_data ? pending.input.data() : nullptr, p.dtype, p.input_count()};
  if (is_in_place(p.kind)) call.input = {call.output.data, p.dtype, p.output_count()};
  return call;
}

Status finish(Pending& pending) {
  PDSIM_TRY(pending.work->wait());
  return pending.check ? pending.check() : Status{};
}

}  // namespace

Status collective(Session& s, const Operation& op) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  const Payload p = payload_of(op, **group);
  auto pending = std::make_unique<Pending>();
  if (s.moves_data()) fill(*pending, p);
  CallOptions options;
  const std::string algorithm = op.text("algorithm", "auto");
  options.algorithm = algorithm;
  options.async = op.flag("async", false);
  const bool async = options.async;
  Result<WorkPtr> work = (*group)->start(call_of(*pending, p, op, s.moves_data()), std::move(options));
  if (!work.ok()) return work.error();
  pending->work = std::move(*work);
  if (!async) return finish(*pending);
  // A label that comes again, in the next step, waits for what it stood for: its memory is about to be reused.
  std::unique_ptr<Pending>& slot = s.pending[op.label.empty() ? fmt::format("#{}", s.pending.size()) : op.label];
  if (slot != nullptr) PDSIM_TRY(finish(*slot));
  slot = std::move(pending);
  return {};
}

Status wait(Session& s, const Operation& op) {
  const std::string label = op.text("for", "");
  const auto found = s.pending.find(label);
  if (found == s.pending.end())
    return Error{Code::invalid_argument,
                 fmt::format("wait: rank {} has started nothing that is labelled `{}`", s.env.rank, label),
                 {{"label", label}}};
  const std::unique_ptr<Pending> pending = std::move(found->second);
  s.pending.erase(found);
  Status status = finish(*pending);
  return status;
}

}  // namespace pdsim::scenarios::operations
