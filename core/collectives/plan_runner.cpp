#include "core/collectives/plan_runner.h"

#include <memory>
#include <utility>

namespace pdsim {
namespace {

PlanArgs args_of(const Transport& transport, const Collective& call) {
  return {transport.rank(), transport.size(), call.count, call.root, call.splits.get(), transport.ranks_per_node()};
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
    : PlanRun(transport, PlanData(call, algorithm, args_of(transport, call)), algorithm.begin(args_of(transport, call)), tag,
              std::move(done)) {}

PlanRun::PlanRun(Transport& transport, PlanData data, Plan plan, Tag tag, PlanDone done)
    : transport_(transport),
      plan_(std::move(plan)),
      tag_(tag),
      source_(data.call().source.get()),
      charges_(transport.charges_reductions()),
      done_(std::move(done)),
      data_(std::move(data)) {}

void PlanRun::start() {
  if (const Status made = data_.make_scratch(); !made.ok()) return finish(made);
  advance();
}

Transport::Done PlanRun::resume(PlanPoint at) {
  if (at == PlanPoint::round_in_flight) return when_round_is_over();
  if (at == PlanPoint::round_to_combine) return [then = when_combined()](const Status&) { then(); };
  if (const Status status = check_round(plan_, data_.room()); !status.ok()) {
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
  if (!data_.is_real() && !charges_) return advance();
  const std::int64_t combined = data_.end_round(plan_.steps());
  if (combined == 0 || !charges_) return advance();
  transport_.after_reduction(combined, when_combined());
}

void PlanRun::finish(const Status& status) {
  if (!done_) return;
  const PlanDone done = std::exchange(done_, nullptr);
  done(status);
}

PlanRun::Next PlanRun::step() {
  if (failure_) {
    finish(*std::exchange(failure_, std::nullopt));
    return Next::over;
  }
  const Result<bool> more = next_round(plan_, data_.room());
  if (!more.ok()) {
    finish(more.error());
    return Next::over;
  }
  if (!*more) {
    data_.end();
    finish({});
    return Next::over;
  }
  post_round();
  return Next::posted;
}

void PlanRun::post_round() {
  data_.begin_round(plan_.steps());
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
  m.bytes = static_cast<std::int64_t>(data_.bytes(step.slice.count));
  m.matched = source_;
  m.data = data_.place_of(step, staged);
  if (step.kind == Step::Kind::receive_reduce) staged += data_.bytes(step.slice.count);
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
