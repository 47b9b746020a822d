#include "core/collectives/plan_runner.h"

#include "core/base/check.h"
#include "core/collectives/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

namespace pdsim {
namespace {

PlanArgs args_of(const Transport& transport, const Collective& call) {
  return {transport.rank(), transport.size(), call.count, call.root, call.splits.get(), transport.ranks_per_node()};
}

// The beginning of what a message will be written to; the processor fetches the rest by itself.
void prefetch(const std::byte* data, std::size_t size) {
  constexpr std::size_t line = 64, most = 512;
  for (std::size_t at = 0; at < std::min(size, most); at += line) __builtin_prefetch(data + at, 1);
}

// A run that whatever calls it back holds.
class SharedPlanRun final : public PlanRun, public std::enable_shared_from_this<SharedPlanRun> {
 public:
  using PlanRun::PlanRun;

 private:
  Transport::Done when_round_is_over() override {
    return [self = shared_from_this()](const Status& status) { self->round_over(status); };
  }
  std::function<void()> when_combined() override {
    return [self = shared_from_this()] { self->advance(); };
  }
};

}  // namespace

PlanRun::PlanRun(Transport& transport, const Collective& call, const Algorithm& algorithm, Tag tag, PlanDone done)
    : PlanRun(transport, call, algorithm, algorithm.begin(args_of(transport, call)), tag, std::move(done)) {}

PlanRun::PlanRun(Transport& transport, const Collective& call, const Algorithm& algorithm, Plan plan, Tag tag,
                 PlanDone done)
    : transport_(transport),
      plan_(std::move(plan)),
      room_(room_of(call, algorithm, args_of(transport, call))),
      tag_(tag),
      source_(call.source.get()),
      width_(size_of(call.dtype)),
      real_(call.input.data != nullptr || call.output.data != nullptr),
      charges_(transport.charges_reductions()),
      done_(std::move(done)),
      call_(call),
      size_(transport.size()) {
  if (row(call.kind).reduces && call.op == ReduceOp::avg) factor_ = 1.0 / size_;
  if (call.op == ReduceOp::premul_sum && row(call.kind).reduces) factor_ = call.premul;
  divides_at_end_ = call.op == ReduceOp::avg && !row(call.dtype).floating;
}

Status PlanRun::make_scratch() {
  const std::int64_t elements = std::max<std::int64_t>(room_.scratch(), 0);
  try {
    scratch_.resize(bytes(elements));
    return {};
  } catch (const std::exception&) {
    return Error{Code::limit_exceeded,
                 fmt::format("{}: no memory for {} elements of scratch", name_of(call_.kind), elements),
                 {}};
  }
}

void PlanRun::start() {
  if (real_)
    if (const Status made = make_scratch(); !made.ok()) return finish(made);
  advance();
}

Transport::Done PlanRun::resume(PlanPoint at) {
  PDSIM_CHECK(!real_, "a run that moves data goes on elsewhere");
  if (at == PlanPoint::round_in_flight) return when_round_is_over();
  if (at == PlanPoint::round_to_combine) return [then = when_combined()](const Status&) { then(); };
  if (const Status status = check_round(plan_, room_); !status.ok()) {
    finish(status);
  } else {
    post_round();
  }
  return {};
}

Transport::Done PlanRun::when_round_is_over() {
  return [this](const Status& status) { round_over(status); };
}

std::function<void()> PlanRun::when_combined() {
  return [this] { advance(); };
}

// Advances until a round is in flight or the plan has ended. Rounds that complete inside post() loop here, so that
// the stack does not grow with the number of rounds.
void PlanRun::advance() {
  if (advancing_) {
    again_ = true;
    return;
  }
  advancing_ = true;
  do {
    again_ = false;
    if (step() == Next::over) return;  // there may be no run any more
  } while (again_);
  advancing_ = false;
}

void PlanRun::round_over(const Status& status) {
  if (!status.ok()) {
    if (!advancing_) return finish(status);
    failure_ = status.error();
    return advance();
  }
  if (!real_ && !charges_) return advance();
  const std::int64_t combined = local_steps();
  if (combined == 0 || !charges_) return advance();
  transport_.after_reduction(combined, when_combined());
}

void PlanRun::finish(const Status& status) {
  if (!done_) return;
  const PlanDone done = std::exchange(done_, nullptr);
  done(status);
}

std::byte* PlanRun::at(const Slice& s) {
  if (!real_) return nullptr;
  const std::size_t offset = bytes(s.offset);
  if (s.buffer == BufferId::output) return call_.output.data == nullptr ? nullptr : call_.output.data + offset;
  if (s.buffer == BufferId::scratch) return scratch_.data() + offset;
  // Sends only read it; Message is one struct for both directions.
  return call_.input.data == nullptr ? nullptr : const_cast<std::byte*>(call_.input.data) + offset;
}

PlanRun::Next PlanRun::step() {
  if (failure_) {
    finish(*std::exchange(failure_, std::nullopt));
    return Next::over;
  }
  const Result<bool> more = next_round(plan_, room_);
  if (!more.ok()) {
    finish(more.error());
    return Next::over;
  }
  if (!*more) {
    if (divides_at_end_ && real_ && call_.output.data != nullptr) divide(call_.output, size_);
    leave_scratch();
    finish({});
    return Next::over;
  }
  if (real_) make_room_for_round();
  post_round();
  return Next::posted;
}

void PlanRun::post_round() {
  messages_.clear();
  std::size_t staged = 0;
  for (const Step& step : plan_.steps())
    if (step.kind != Step::Kind::copy && step.kind != Step::Kind::reduce) add_message(step, staged);
  if (messages_.empty()) return round_over({});
  transport_.post(messages_, when_round_is_over());
}

void PlanRun::add_message(const Step& step, std::size_t& staged) {
  Message& m = messages_.emplace_back();
  m.kind = step.kind == Step::Kind::send ? Message::Kind::send : Message::Kind::receive;
  m.peer = step.peer;
  m.tag = tag_;
  m.bytes = static_cast<std::int64_t>(bytes(step.slice.count));
  m.matched = source_;
  if (!real_) return;
  m.data = at(step.slice);
  if (step.kind != Step::Kind::send && m.data != nullptr) prefetch(m.data, bytes(step.slice.count));
  if (step.kind != Step::Kind::receive_reduce) return;
  m.data = staging_.data() + staged;
  staged += bytes(step.slice.count);
}

void PlanRun::make_room_for_round() {
  std::size_t staged = 0;
  for (const Step& s : plan_.steps())
    if (s.kind == Step::Kind::receive_reduce) staged += bytes(s.slice.count);
  staging_.resize(staged);
}

// Copies and combinations of the round, in step order. Returns the bytes combined.
std::int64_t PlanRun::local_steps() {
  std::int64_t combined = 0;
  std::size_t offset = 0;
  for (const Step& s : plan_.steps()) {
    if (s.kind == Step::Kind::copy) copy_slice(s);
    if (s.kind != Step::Kind::receive_reduce && s.kind != Step::Kind::reduce) continue;
    const std::byte* from = s.kind == Step::Kind::reduce ? at(s.from) : real_ ? staging_.data() + offset : nullptr;
    if (s.kind == Step::Kind::receive_reduce) offset += bytes(s.slice.count);
    reduce({at(s.slice), call_.dtype, s.slice.count}, {from, call_.dtype, s.slice.count}, call_.op);
    combined += static_cast<std::int64_t>(bytes(s.slice.count));
  }
  return combined;
}

void PlanRun::copy_slice(const Step& s) {
  std::byte* to = at(s.slice);
  const std::byte* from = at(s.from);
  if (to == nullptr || from == nullptr) return;
  if (s.from.buffer == BufferId::input && factor_ != 1.0 && !divides_at_end_)
    return scale({to, call_.dtype, s.slice.count}, {from, call_.dtype, s.slice.count}, factor_);
  if (to != from && s.slice.count > 0) std::memmove(to, from, bytes(s.slice.count));
}

// The output of a rank that is not the root, which has one where its caller passed a whole one.
void PlanRun::leave_scratch() {
  const MutableView& out = call_.output;
  if (!room_.algorithm->leaves_scratch || room_.rank == call_.root || out.data == nullptr || out.count != call_.count) return;
  std::copy_n(scratch_.begin(), std::min(scratch_.size(), bytes(out.count)), out.data);
}

void run_plan(Transport& transport, const Collective& call, const Algorithm& algorithm, Tag tag, PlanDone done) {
  std::make_shared<SharedPlanRun>(transport, call, algorithm, tag, std::move(done))->start();
}

Message message_of(const Collective& call) {
  if (call.kind == CollectiveKind::recv)
    return {Message::Kind::receive, call.root, call.user_tag, call.output.data, call.output.bytes(), call.source.get()};
  return {Message::Kind::send, call.root, call.user_tag, const_cast<std::byte*>(call.input.data),
          call.input.bytes(),  nullptr};
}

}  // namespace pdsim
