#include "core/rpc/future.h"

#include <utility>

namespace pdsim {

RpcFuture::RpcFuture(Runtime& runtime, Time deadline, std::function<Error()> on_expiry)
    : state_(std::make_shared<State>(State{runtime, deadline, std::move(on_expiry), runtime.make_event()})) {}

Result<RpcValue> RpcFuture::wait() const {
  if (done() || state_->recorder == nullptr) return await();
  const std::int64_t call = state_->recorder->begin(Call(*state_->recorded_wait));
  Result<RpcValue> result = await();
  state_->recorder->finish(call, result.status());
  return result;
}

Result<RpcValue> RpcFuture::await() const {
  const RpcFuture kept = *this;  // a callback may drop the last handle
  if (!done() && !state_->event->wait_within(state_->deadline)) kept.complete(kept.state_->on_expiry());
  return *kept.state_->result;
}

void RpcFuture::complete(Result<RpcValue> result) const {
  if (done()) return;
  const std::shared_ptr<State> state = state_;
  state->result = std::move(result);
  for (const auto& f : std::exchange(state->on_done, {})) f();
  state->event->set();
}

void RpcFuture::on_done(std::function<void()> f) const {
  if (done()) return f();
  state_->on_done.push_back(std::move(f));
}

RpcFuture RpcFuture::then(std::function<Result<RpcValue>(const RpcFuture& finished)> f) const {
  const RpcFuture made(state_->runtime, state_->deadline, [parent = *this] {
    parent.complete(parent.state_->on_expiry());
    return parent.state_->result->error();
  });
  made.state_->recorder = state_->recorder;
  made.state_->recorded_wait = state_->recorded_wait;
  on_done([made, f = std::move(f), parent = *this] { made.complete(f(parent)); });
  return made;
}

Result<std::vector<RpcValue>> wait_all(std::span<const RpcFuture> futures) {
  std::vector<RpcValue> values;
  for (const RpcFuture& future : futures) {
    Result<RpcValue> value = future.wait();
    if (!value.ok()) return value.error();
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace pdsim
