// Collectives, send and recv.
#include "scenarios/program/operations/collectives.h"

#include "core/collectives/element.h"
#include "core/measure/trial.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/plans/own_plan.h"
#include "scenarios/program/operations/asynchronous.h"
#include "scenarios/program/operations/devices.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/shared_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace pdsim::scenarios::operations {

Result<Rank> root_of(const Operation& op, const ProcessGroup& group, CollectiveKind kind) {
  const auto& options = op.as<CollectiveOptions>();
  const bool from = named_rank(kind) == "src";
  const std::optional<NumberOrWord>& named = from ? options.src : options.dst;
  if (named_rank(kind).empty()) return 0;
  if (named && named->word) return any_source;
  if (!named || !group.is_member()) return static_cast<Rank>(from ? options.group_src : options.group_dst);
  const Result<Rank> rank = group.group_rank(static_cast<Rank>(named->number));
  if (rank.ok()) return rank;
  return Error{rank.error().code, fmt::format("{}: {}", op.name, rank.error().message), rank.error().facts};
}

namespace {

CollectiveKind kind_of(const Operation& op) {
  const auto& options = op.as<CollectiveOptions>();
  const bool splits = !options.input_split_sizes.empty() || !options.output_split_sizes.empty();
  const auto kind = language::collective_of(op.name, splits);
  PDSIM_CHECK(kind.has_value(), "an operation is bound to a collective that does not exist");
  return *kind;
}

// Returns every rank's input; null for the pattern. Ranks that a file's lists leave out pass nothing.
std::shared_ptr<const std::vector<std::vector<double>>> stated_input(const CallInput& input, Payload payload) {
  if (input.kind == CallInput::Kind::pattern) return nullptr;
  auto rows = std::make_shared<std::vector<std::vector<double>>>(input.rows);
  rows->resize(static_cast<std::size_t>(payload.size));
  if (input.kind == CallInput::Kind::ranks)
    for (payload.rank = 0; payload.rank < payload.size; ++payload.rank)
      for (std::int64_t i = 0; i < payload.input_count(); ++i)
        rows->at(static_cast<std::size_t>(payload.rank)).push_back(static_cast<double>(10 * payload.rank + i));
  return rows;
}

Result<Payload> payload_of(const Operation& op, const ProcessGroup& group) {
  const auto& options = op.as<CollectiveOptions>();
  Payload p;
  p.kind = kind_of(op);
  p.dtype = options.dtype;
  p.counts = p.kind == CollectiveKind::all_to_all_v ? options.input_split_sizes : options.counts;
  p.count = !row(p.kind).has_input && !row(p.kind).has_output ? 0 : options.count;
  p.op = options.op;
  const Result<Rank> root = root_of(op, group, p.kind);
  if (!root.ok()) return root.error();
  p.root = *root;
  p.rank = std::max(group.rank(), 0);
  p.size = group.size();
  p.stated = stated_input(options.input, p);
  for (Rank rank = 0; p.stated != nullptr && rank < p.size; ++rank) {
    const auto given = static_cast<std::int64_t>(p.stated->at(static_cast<std::size_t>(rank)).size());
    if (const std::int64_t wanted = p.layout().input_elements(rank); given != wanted)
      return Error{Code::invalid_argument,
                   fmt::format("{}: `input` has {} numbers of rank {} of the group, which passes {}", op.name, given, rank, wanted),
                   {{"in", op.name}, {"group", group.name()}}};
  }
  if (row(p.kind).shape.uneven && group.is_member() && p.counts.size() != static_cast<std::size_t>(p.size))
    return Error{Code::invalid_argument,
                 fmt::format("{}: {} counts were given, and the group has {} ranks", op.name, p.counts.size(), p.size),
                 {{"in", op.name}, {"group", group.name()}}};
  return p;
}

// A broadcast has one buffer as input and output, and only the root's content counts.
bool is_in_place(CollectiveKind kind) { return kind == CollectiveKind::broadcast; }

// The numbers of a tensor whose element i lies at `stride` times i.
std::vector<double> numbers_of(const std::vector<std::byte>& bytes, DType dtype, std::size_t stride) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at + size_of(dtype) <= bytes.size(); at += stride * size_of(dtype))
    numbers.push_back(read_element(bytes.data() + at, dtype));
  return numbers;
}

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

// Parts as this rank alone gives them: what one rank sends to another is a pattern of the two.
struct Parts {
  std::vector<std::int64_t> sends, receives;
};

Parts parts_of(const CollectiveOptions& call, const ProcessGroup& group) {
  Parts parts{call.input_split_sizes, call.output_split_sizes};
  if (parts.sends.empty()) parts.sends.assign(static_cast<std::size_t>(group.size()), call.count);
  return parts;
}

std::byte pattern(Rank from, Rank to, std::size_t i) {
  return static_cast<std::byte>((static_cast<std::size_t>(from) * 7 + static_cast<std::size_t>(to) * 13 + i) & 0xff);
}

// The parts behind each other; `of` gives the byte i of the part of a rank.
template <class Of>
std::vector<std::byte> laid_out(const std::vector<std::int64_t>& parts, std::size_t element, Of of) {
  std::vector<std::byte> bytes;
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    for (std::size_t i = 0; i < static_cast<std::size_t>(parts[rank]) * element; ++i)
      bytes.push_back(of(static_cast<Rank>(rank), i));
  return bytes;
}

void fill_parts(Pending& pending, const Parts& parts, const ProcessGroup& group, DType dtype) {
  const Rank me = group.rank();
  pending.input = laid_out(parts.sends, size_of(dtype), [me](Rank to, std::size_t i) { return pattern(me, to, i); });
  const std::vector<std::byte> expected =
      laid_out(parts.receives, size_of(dtype), [me](Rank from, std::size_t i) { return pattern(from, me, i); });
  pending.output.assign(expected.size(), std::byte{0});
  pending.check = [expected, &pending]() -> Status {
    if (pending.output == expected) return {};
    return Error{Code::wrong_data, "all_to_all_single: a received part differs from the sent one", {}};
  };
}

// An all_to_all_single whose output_split_sizes are given.
Result<WorkPtr> start_parts(Session& s, const Operation& op, ProcessGroup& group, Pending& pending,
                            CallOptions options) {
  const DType dtype = op.as<CollectiveOptions>().dtype;
  const Parts parts = parts_of(op.as<CollectiveOptions>(), group);
  const bool fills = s.moves_data() && group.is_member();
  if (fills) fill_parts(pending, parts, group, dtype);
  const auto sum = [](const std::vector<std::int64_t>& of) {
    return std::accumulate(of.begin(), of.end(), std::int64_t{0});
  };
  return group.all_to_all_v({fills ? pending.input.data() : nullptr, dtype, sum(parts.sends)},
                            {fills ? pending.output.data() : nullptr, dtype, sum(parts.receives)}, parts.sends,
                            parts.receives, std::move(options));
}

Collective call_of(Pending& pending, const Payload& p, const Operation& op, bool moves_data) {
  Collective call;
  call.kind = p.kind;
  call.dtype = p.dtype;
  call.count = p.own_count();
  call.splits = p.splits();
  call.op = p.op;
  call.root = p.root;
  call.user_tag = static_cast<Tag>(op.as<CollectiveOptions>().tag);
  call.output = {moves_data ? pending.output.data() : nullptr, p.dtype, p.output_count()};
  call.input = {moves_data ? pending.input.data() : nullptr, p.dtype, p.input_count()};
  if (is_in_place(p.kind)) call.input = {call.output.data, p.dtype, p.output_count()};
  return call;
}

CallOptions call_options(const Session& s, const CollectiveOptions& call, bool async) {
  CallOptions options;
  options.algorithm = call.algorithm;
  if (const auto own = s.scenario.plans.find(call.algorithm);
      own != s.scenario.plans.end() && own->second->plan != nullptr)
    options.own_algorithm = &own->second->plan->algorithm();
  options.purpose = label_purpose(call.tensor);
  options.async = async || s.env.waits_on_stream;
  return options;
}

Result<WorkPtr> start_payload(Session& s, const Operation& op, ProcessGroup& group, Pending& pending,
                              CallOptions options) {
  const Result<Payload> payload = payload_of(op, group);
  if (!payload.ok()) return payload.error();
  const Payload& p = *payload;
  const auto& call = op.as<CollectiveOptions>();
  const std::int64_t stride = takes_views_for_packed(s) && !call.contiguous ? call.stride : 1;
  if (s.moves_data() && group.is_member()) {
    stride > 1 ? fill_view(pending, p, stride) : fill(pending, p);
    if (p.stated != nullptr && p.output_count() > 0 && !op.label.empty()) {
      pending.label = op.label;
      pending.result = [&pending, dtype = p.dtype, stride] {
        return numbers_of(pending.output, dtype, static_cast<std::size_t>(stride));
      };
    }
  }
  if (call.contiguous == ContiguousCopy::dropped) s.env.recorder.note(notes::CopyPassed{op.label});
  if (p.kind == CollectiveKind::reduce && group.is_member() && p.rank != p.root)
    s.env.recorder.note(notes::ResultElsewhere{op.label, group.global_rank(p.root)});
  if (stride > 1) s.env.recorder.note(notes::TensorPassed{stride});
  return group.start(call_of(pending, p, op, s.moves_data()), std::move(options));
}

}  // namespace

Status collective(Session& s, const Operation& op) {
  const Result<ProcessGroup*> found = s.group_for(op);
  if (!found.ok()) return found.error();
  ProcessGroup& group = **found;
  PDSIM_TRY(check_tensor(s, op, group));
  const auto& call = op.as<CollectiveOptions>();
  const bool async = language::operation_named(op.name)->has(language::asynchronous) || call.async;
  auto pending = std::make_unique<Pending>();
  Result<WorkPtr> work = !call.output_split_sizes.empty()
                             ? start_parts(s, op, group, *pending, call_options(s, call, async))
                             : start_payload(s, op, group, *pending, call_options(s, call, async));
  if (!work.ok()) return work.error();
  pending->work = std::move(*work);
  pending->blocks_host = op.name == "barrier";
  if (!group.is_member()) s.outside.insert(op.label);
  if (!async) return wait_on(s, op.label, std::move(pending));
  // A label that comes again, in the next step, waits for what it stood for: its memory is about to be reused.
  std::unique_ptr<Pending>& slot = s.pending[op.label.empty() ? fmt::format("#{}", s.pending.size()) : op.label];
  if (slot != nullptr) PDSIM_TRY(wait_on(s, op.label, std::move(slot)));
  slot = std::move(pending);
  return {};
}

namespace {

Status monitored_barrier(Session& s, const Operation& op) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  const auto& options = op.as<MonitoredBarrierOptions>();
  return (*group)->monitored_barrier(s.env.runtime, options.timeout.value_or((*group)->timeout()),
                                     options.wait_all_ranks);
}

Status batch_isend_irecv(Session& s, const Operation& op) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  std::vector<std::unique_ptr<Pending>> pending;
  std::vector<ProcessGroup::Message> messages;
  for (const Operation& message : op.messages) {
    if (!message.when.selects(s.env.rank, s.env.node, s.step)) continue;
    const Result<Payload> payload = payload_of(message, **group);
    if (!payload.ok()) return payload.error();
    const bool sends = row(payload->kind).has_input;
    pending.push_back(std::make_unique<Pending>());
    if (s.moves_data() && (*group)->is_member()) fill(*pending.back(), *payload);
    std::vector<std::byte>& memory = sends ? pending.back()->input : pending.back()->output;
    messages.push_back({sends,
                        {s.moves_data() ? memory.data() : nullptr, payload->dtype, payload->count},
                        payload->root,
                        static_cast<Tag>(message.as<CollectiveOptions>().tag)});
  }
  Result<std::vector<WorkPtr>> works = (*group)->batch(messages);
  if (!works.ok()) return works.error();
  for (std::size_t i = 0; i < works->size(); ++i) pending[i]->work = std::move((*works)[i]);
  Status first;
  for (auto& one : pending)
    if (Status status = wait_on(s, op.label, std::move(one)); !status.ok() && first.ok()) first = std::move(status);
  return first;
}

constexpr std::array monitored_barrier_keys{
    Key{.name = "timeout",
        .type = Type::duration,
        .help = "how long rank 0 of the group waits for each rank; default: the group's",
        .bind = to<&MonitoredBarrierOptions::timeout>},
    Key{.name = "wait_all_ranks",
        .type = Type::boolean,
        .help = "name every missing rank, not the first one",
        .bind = to<&MonitoredBarrierOptions::wait_all_ranks>},
    bound(group_key, to<&MonitoredBarrierOptions::group>),
};

constexpr std::array batch_keys{
    Key{.name = "messages",
        .type = Type::operations,
        .help = "sends and recvs, which are all started before any of them is waited for",
        .required = true},
    bound(group_key, to<&BatchOptions::group>),
};

constexpr std::array monitored_barrier_rows{
    OperationRow{.name = "monitored_barrier",
                 .help = "a barrier whose first rank names the ranks that do not arrive in time",
                 .title_help = "a barrier that names the missing ranks",
                 .keys = monitored_barrier_keys,
                 .options = options_of<MonitoredBarrierOptions>,
                 .traits = language::collective | language::in_train,
                 .run = monitored_barrier},
};

constexpr std::array batch_rows{
    OperationRow{.name = "batch_isend_irecv",
                 .help = "sends and receives started together, then waited for",
                 .title_help = "several messages at once",
                 .keys = batch_keys,
                 .options = options_of<BatchOptions>,
                 .traits = language::in_train,
                 .run = batch_isend_irecv},
};

}  // namespace

const Operations monitored_barrier_operations{monitored_barrier_rows};
const Operations batch_operations{batch_rows};

}  // namespace pdsim::scenarios::operations
