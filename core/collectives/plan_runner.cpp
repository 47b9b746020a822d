#include "core/collectives/plan_runner.h"

#include "core/base/check.h"
#include "core/collectives/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

namespace pdsim {
namespace {

class PlanRun : public std::enable_shared_from_this<PlanRun> {
 public:
  PlanRun(Transport& transport, const Collective& call, Plan plan, const PlanRoom& room, Tag tag, PlanDone done)
      : transport_(transport),
        plan_(std::move(plan)),
        room_(room),
        tag_(tag),
        source_(call.source.get()),
        width_(size_of(call.dtype)),
        real_(call.input.data != nullptr || call.output.data != nullptr),
        done_(std::move(done)),
        call_(call),
        size_(transport.size()) {
    if (row(call.kind).reduces && call.op == ReduceOp::avg) factor_ = 1.0 / size_;
    if (call.op == ReduceOp::premul_sum && row(call.kind).reduces) factor_ = call.premul;
    divides_at_end_ = call.op == ReduceOp::avg && !row(call.dtype).floating;
  }

  bool moves_data() const { return real_; }
  Status make_scratch() {
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

  // A round that another engine has taken from the plan.
  void check_and_post() {
    if (Status status = check_round(plan_, room_); !status.ok()) return finish(status);
    post_round();
  }

  // Advances until a round is in flight or the plan has ended. Rounds that complete inside post() loop here, so that
  // the stack does not grow with the number of rounds.
  void advance() {
    if (advancing_) {
      again_ = true;
      return;
    }
    advancing_ = true;
    do {
      again_ = false;
      step();
    } while (again_ && done_);
    advancing_ = false;
  }

  void post_round() {
    const std::span<const Step> steps = plan_.steps();
    std::array<Message, 4> few;
    if (steps.size() <= few.size()) return post({few.data(), messages_of(steps, few.data())});
    std::vector<Message> many(steps.size());
    post({many.data(), messages_of(steps, many.data())});
  }

  void arrived(Status status) {
    if (!status.ok()) return finish(std::move(status));
    const bool charges = transport_.charges_reductions();
    if (!real_ && !charges) return advance();
    const std::int64_t combined = local_steps();
    if (combined == 0 || !charges) return advance();
    auto self = shared_from_this();
    transport_.after_reduction(combined, [self] { self->advance(); });
  }

  void finish(const Status& status) {
    if (!done_) return;
    const PlanDone done = std::exchange(done_, nullptr);
    done(status);
  }

 private:
  std::size_t bytes(std::int64_t elements) const { return static_cast<std::size_t>(elements) * width_; }

  std::byte* at(const Slice& s) {
    if (!real_) return nullptr;
    const std::size_t offset = bytes(s.offset);
    if (s.buffer == BufferId::output) return call_.output.data == nullptr ? nullptr : call_.output.data + offset;
    if (s.buffer == BufferId::scratch) return scratch_.data() + offset;
    // Sends only read it; Message is one struct for both directions.
    return call_.input.data == nullptr ? nullptr : const_cast<std::byte*>(call_.input.data) + offset;
  }

  void step() {
    const Result<bool> more = next_round(plan_, room_);
    if (!more.ok()) return finish(more.error());
    if (!*more) {
      if (divides_at_end_ && real_ && call_.output.data != nullptr) divide(call_.output, size_);
      return finish({});
    }
    if (real_) make_room_for_round();
    post_round();
  }

  std::size_t messages_of(std::span<const Step> steps, Message* to) {
    Message* next = to;
    std::size_t offset = 0;
    for (const Step& s : steps) {
      if (s.kind == Step::Kind::copy || s.kind == Step::Kind::reduce) continue;
      Message& m = *next++;
      m.kind = s.kind == Step::Kind::send ? Message::Kind::send : Message::Kind::receive;
      m.peer = s.peer;
      m.tag = tag_;
      m.bytes = static_cast<std::int64_t>(bytes(s.slice.count));
      m.matched = source_;
      if (!real_) continue;
      const bool staged = s.kind == Step::Kind::receive_reduce;
      m.data = staged ? staging_.data() + offset : at(s.slice);
      if (staged) offset += bytes(s.slice.count);
    }
    return static_cast<std::size_t>(next - to);
  }

  void post(std::span<const Message> messages) {
    if (messages.empty()) return arrived({});
    transport_.post(messages, [self = shared_from_this()](Status status) { self->arrived(std::move(status)); });
  }

  void make_room_for_round() {
    std::size_t staged = 0;
    for (const Step& s : plan_.steps())
      if (s.kind == Step::Kind::receive_reduce) staged += bytes(s.slice.count);
    staging_.resize(staged);
  }

  // Copies and combinations of the round, in step order. Returns the bytes combined.
  std::int64_t local_steps() {
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

  void copy_slice(const Step& s) {
    std::byte* to = at(s.slice);
    const std::byte* from = at(s.from);
    if (to == nullptr || from == nullptr) return;
    if (s.from.buffer == BufferId::input && factor_ != 1.0 && !divides_at_end_)
      return scale({to, call_.dtype, s.slice.count}, {from, call_.dtype, s.slice.count}, factor_);
    if (to != from && s.slice.count > 0) std::memmove(to, from, bytes(s.slice.count));
  }

  // What every round needs stands together.
  Transport& transport_;
  Plan plan_;
  PlanRoom room_;
  Tag tag_;
  Rank* source_;
  std::size_t width_;
  bool real_;
  bool divides_at_end_ = false;
  bool advancing_ = false;
  bool again_ = false;
  PlanDone done_;
  Collective call_;
  double factor_ = 1.0;
  int size_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte> staging_;
};

PlanArgs args_of(const Transport& transport, const Collective& call) {
  return {transport.rank(), transport.size(), call.count, call.root, call.splits.get(), transport.ranks_per_node()};
}

}  // namespace

void run_plan(Transport& transport, const Collective& call, const Algorithm& algorithm, Tag tag, PlanDone done) {
  const PlanArgs args = args_of(transport, call);
  const PlanRoom room = room_of(call, algorithm, args);
  const auto run = std::make_shared<PlanRun>(transport, call, algorithm.plan(args), room, tag, std::move(done));
  if (run->moves_data())
    if (const Status made = run->make_scratch(); !made.ok()) return run->finish(made);
  run->advance();
}

Transport::Done resume_plan(Transport& transport, const Collective& call, const Algorithm& algorithm, Plan plan,
                            Tag tag, PlanDone done, PlanPoint at) {
  const PlanRoom room = room_of(call, algorithm, args_of(transport, call));
  auto run = std::make_shared<PlanRun>(transport, call, std::move(plan), room, tag, std::move(done));
  PDSIM_CHECK(!run->moves_data(), "a run that moves data goes on elsewhere");
  if (at == PlanPoint::round_in_flight) return [run](Status status) { run->arrived(std::move(status)); };
  if (at == PlanPoint::round_to_combine) return [run](const Status&) { run->advance(); };
  run->check_and_post();
  return {};
}

Message message_of(const Collective& call) {
  if (call.kind == CollectiveKind::recv)
    return {Message::Kind::receive, call.root, call.user_tag, call.output.data, call.output.bytes(), call.source.get()};
  return {Message::Kind::send, call.root, call.user_tag, const_cast<std::byte*>(call.input.data),
          call.input.bytes(),  nullptr};
}

}  // namespace pdsim
