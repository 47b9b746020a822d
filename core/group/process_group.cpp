#include "core/group/process_group.h"

#include "core/collectives/algorithms.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/plan_runner.h"
#include "core/collectives/reduce.h"
#include "core/group/sequence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pdsim {
namespace {

// The event of a Work that is done before anybody can wait for it.
class SetEvent final : public Event {
 public:
  void set() override {}
  bool is_set() const override { return true; }
  bool wait(Time) override { return true; }
};

Error invalid_argument(const Collective& call, std::string why) {
  return {Code::invalid_argument,
          fmt::format("{}: {}", name_of(call.kind), why),
          {{"in", std::string(name_of(call.kind))}}};
}

bool overlap_badly(const Collective& call) {
  const std::byte* in = call.input.data;
  const std::byte* out = call.output.data;
  if (in == nullptr || out == nullptr || in == out) return false;
  return in < out + call.output.bytes() && out < in + call.input.bytes();
}

// In place, all_gather and reduce_scatter may name this rank's part inside the other buffer.
bool in_place_part(const Collective& call, Rank rank) {
  const std::int64_t part = call.count * static_cast<std::int64_t>(size_of(call.dtype)) * rank;
  const InPlace form = row(call.kind).shape.uneven ? InPlace::none : in_place_form(call.kind);
  if (form == InPlace::input_in_output) return call.input.data == call.output.data + part;
  return form == InPlace::output_in_input && call.output.data == call.input.data + part;
}

Status validate(const Collective& call, Rank rank, int size) {
  const CollectiveRow& r = row(call.kind);
  if (call.count < 0) return invalid_argument(call, fmt::format("count is {}, and must be 0 or more", call.count));
  if (r.rooted && (call.root < 0 || call.root >= size))
    return invalid_argument(call, fmt::format("{} {} is not a rank of the group, which has ranks 0..{}", named_rank(call.kind),
                                     call.root, size - 1));
  if (r.point_to_point) {
    const bool any = r.has_output && call.root == any_source;
    if (!any && (call.root < 0 || call.root >= size))
      return invalid_argument(call, fmt::format("{} {} is not a rank of the group, which has ranks 0..{}", named_rank(call.kind),
                                       call.root, size - 1));
    if (call.root == rank) return invalid_argument(call, fmt::format("rank {} names itself as {}", rank, named_rank(call.kind)));
  }
  if (r.prefix && call.op == ReduceOp::avg) return invalid_argument(call, "there is no average of a prefix; use sum");
  if (r.reduces && !supports(call.op, call.dtype))
    return invalid_argument(call, fmt::format("{} does not exist for {}", name_of(call.op), name_of(call.dtype)));
  const std::int64_t in = input_elements(call, rank, size);
  const std::int64_t out = output_elements(call, rank, size);
  if (in > 0 && call.input.count != in)
    return invalid_argument(call, fmt::format("input has {} elements, and must have {}", call.input.count, in));
  if (out > 0 && call.output.count != out)
    return invalid_argument(call, fmt::format("output has {} elements, and must have {}", call.output.count, out));
  if ((in > 0 && call.input.dtype != call.dtype) || (out > 0 && call.output.dtype != call.dtype))
    return invalid_argument(call, "input and output must have the same dtype");
  if (in > 0 && out > 0 && (call.input.data == nullptr) != (call.output.data == nullptr))
    return invalid_argument(call, "one of input and output is null");
  if (overlap_badly(call) && !in_place_part(call, rank))
    return invalid_argument(call, "input and output overlap; pass the same buffer for both, or separate ones");
  return {};
}

SplitSizes splits_of(const std::vector<std::int64_t>& offsets) {
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 1; i < offsets.size(); ++i) sizes.push_back(offsets[i] - offsets[i - 1]);
  return split_sizes(std::move(sizes));
}

// The details of a call beyond its name and numbers; most calls have none.
SharedValue<CallDetails> details_of(const Collective& call, std::vector<std::string> parameters) {
  const bool tagged = row(call.kind).point_to_point && call.user_tag != 0;
  if (!tagged && call.splits == nullptr && parameters.empty()) return {};
  CallDetails details;
  if (tagged) details.tag = call.user_tag;
  details.parameters = std::move(parameters);
  if (call.splits != nullptr) {
    details.sends = splits_of(call.splits->input);
    details.receives = splits_of(call.splits->output);
  }
  return details;
}

}  // namespace

ProcessGroup::ProcessGroup(std::string name, RankList global_ranks, Rank rank, Time timeout,
                           std::unique_ptr<Communicator> communicator, FlightRecorder& recorder)
    : name_(std::move(name)),
      global_ranks_(std::move(global_ranks)),
      rank_(rank),
      timeout_(timeout),
      communicator_(std::move(communicator)),
      recorder_(recorder) {}

Status ProcessGroup::check(const Collective& call) const {
  if (destroyed_)
    return Error{
        Code::group_destroyed, fmt::format("{}: the process group {} was destroyed", name_of(call.kind), name_), {}};
  PDSIM_TRY(communicator_->check_supported(call));
  return validate(call, rank_, size());
}

Result<WorkPtr> ProcessGroup::start(Collective call, CallOptions options) {
  call.algorithm = options.algorithm;
  call.own_algorithm = options.own_algorithm;
  call.unproven = options.unproven;
  call.timeout = options.timeout == Time::max() ? timeout_ : options.timeout;
  if (!is_member() && !destroyed_) return not_a_member(call);
  PDSIM_TRY(check(call));
  if (call.kind == CollectiveKind::recv) call.source = std::make_shared<Rank>(no_rank);
  if (!row(call.kind).point_to_point) call.seq = next_seq_++;
  const std::int64_t id = record(call, std::move(options));
  Result<WorkPtr> work = communicator_->start(call);
  if (!work.ok()) {
    recorder_.finish(id, work.error());
    return work;
  }
  recorder_.started(id);
  if (call.source) (*work)->set_source(call.source);
  FlightRecorder& recorder = recorder_;
  (*work)->on_done([&recorder, id](const Status& status) { recorder.finish(id, status); });
  return work;
}

std::int64_t ProcessGroup::record(const Collective& call, CallOptions options) {
  return recorder_.begin_filled([&](Call& entry) {
    const CollectiveRow& r = row(call.kind);
    entry.layer = r.point_to_point ? Layer::point_to_point : Layer::collective;
    entry.name = r.name;
    entry.group = name_;
    entry.seq = r.point_to_point ? -1 : recorded_seq(call);
    entry.purpose = std::move(options.purpose);
    entry.dtype = call.dtype;
    entry.op = call.op;
    entry.count = call.kind == CollectiveKind::barrier ? -1 : call.count;
    if (r.rooted) entry.root = global_rank(call.root);
    if (r.point_to_point) entry.peer = call.root == any_source ? any_source : global_rank(call.root);
    entry.async = options.async;
    entry.details = details_of(call, std::move(options.parameters));
  });
}

Result<WorkPtr> ProcessGroup::not_a_member(const Collective& call) {
  recorder_.note(notes::NotAMember{name_, std::string(name_of(call.kind))});
  auto work = std::make_shared<Work>(std::make_unique<SetEvent>());
  work->complete({});
  return work;
}

Result<Rank> ProcessGroup::group_rank(Rank global_rank) const {
  if (const auto found = global_ranks_.find(global_rank)) return *found;
  std::vector<Rank> members;
  for (Rank r = 0; r < size(); ++r) members.push_back(global_ranks_[r]);
  return Error{Code::invalid_argument,
               fmt::format("global rank {} is not in the process group {}, whose ranks are {}", global_rank, name_,
                           fmt::join(members, ", ")),
               {{"rank", std::to_string(global_rank)}, {"group", name_}}};
}

Result<WorkPtr> ProcessGroup::broadcast(MutableView data, Rank root, CallOptions options) {
  Collective call{CollectiveKind::broadcast, data, data, data.dtype, data.count};
  call.root = root;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::all_reduce(MutableView data, ReduceOp op, CallOptions options) {
  Collective call{CollectiveKind::all_reduce, data, data, data.dtype, data.count};
  call.op = op;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::reduce(ConstView input, MutableView output, ReduceOp op, Rank root, CallOptions options) {
  Collective call{CollectiveKind::reduce, input, output, input.dtype, input.count};
  call.op = op;
  call.root = root;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::all_gather(ConstView input, MutableView output, CallOptions options) {
  return start({CollectiveKind::all_gather, input, output, input.dtype, input.count}, std::move(options));
}

Result<WorkPtr> ProcessGroup::gather(ConstView input, MutableView output, Rank root, CallOptions options) {
  Collective call{CollectiveKind::gather, input, output, input.dtype, input.count};
  call.root = root;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::scatter(ConstView input, MutableView output, Rank root, CallOptions options) {
  Collective call{CollectiveKind::scatter, input, output, output.dtype, output.count};
  call.root = root;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::reduce_scatter(ConstView input, MutableView output, ReduceOp op, CallOptions options) {
  Collective call{CollectiveKind::reduce_scatter, input, output, output.dtype, output.count};
  call.op = op;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::all_to_all(ConstView input, MutableView output, CallOptions options) {
  if (input.count % size() != 0)
    return Error{Code::invalid_argument,
                 fmt::format("all_to_all: {} elements do not divide among {} ranks", input.count, size()),
                 {}};
  return start({CollectiveKind::all_to_all, input, output, input.dtype, input.count / size()}, std::move(options));
}

Result<WorkPtr> ProcessGroup::scan(ConstView input, MutableView output, ReduceOp op, CallOptions options) {
  Collective call{CollectiveKind::scan, input, output, input.dtype, input.count};
  call.op = op;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::exscan(ConstView input, MutableView output, ReduceOp op, CallOptions options) {
  Collective call{CollectiveKind::exscan, input, output, input.dtype, input.count};
  call.op = op;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::barrier(CallOptions options) { return start({}, std::move(options)); }

Result<WorkPtr> ProcessGroup::send(ConstView data, Rank to, Tag tag, CallOptions options) {
  Collective call{CollectiveKind::send, data, {}, data.dtype, data.count};
  call.root = to;
  call.user_tag = tag;
  return start(std::move(call), std::move(options));
}

Result<WorkPtr> ProcessGroup::recv(MutableView data, Rank from, Tag tag, CallOptions options) {
  Collective call{CollectiveKind::recv, {}, data, data.dtype, data.count};
  call.root = from;
  call.user_tag = tag;
  return start(std::move(call), std::move(options));
}

Result<std::vector<WorkPtr>> ProcessGroup::batch(std::span<const Message> messages, const CallOptions& options) {
  std::vector<WorkPtr> works;
  for (const bool starts : {false, true})
    for (const Message& m : messages) {
      Collective call{m.sends ? CollectiveKind::send : CollectiveKind::recv, {}, {}, m.data.dtype, m.data.count};
      call.root = m.peer;
      if (m.sends) call.input = m.data;
      if (!m.sends) call.output = m.data;
      call.user_tag = m.tag;
      call.batched = true;
      if (!starts && (is_member() || destroyed_)) PDSIM_TRY(check(call));
      if (!starts) continue;
      Result<WorkPtr> work = start(std::move(call), options);
      if (!work.ok()) return work.error();
      works.push_back(std::move(*work));
    }
  return works;
}

void ProcessGroup::destroy() {
  if (destroyed_) return;
  destroyed_ = true;
  if (communicator_) communicator_->abort({Code::cancelled, fmt::format("the process group {} was destroyed", name_), {}});
}

Status wait(const Result<WorkPtr>& started) {
  if (!started.ok()) return started.error();
  return (*started)->wait();
}

}  // namespace pdsim
