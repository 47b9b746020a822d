#include "core/group/work.h"

namespace pdsim {

Status Work::wait(Time deadline) {
  if (!event_->wait(deadline))
    return Error{Code::timeout, "the operation was not finished within the wait's timeout", {}};
  return status();
}

Status Work::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::optional<Error> Work::exception() const {
  const Status now = done() ? status() : Status{};
  return now.ok() ? std::nullopt : std::optional<Error>(now.error());
}

void Work::complete(Status status) {
  std::vector<std::function<void(const Status&)>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    if (completed_) return;
    completed_ = true;
    status_ = std::move(status);
    callbacks.swap(callbacks_);
  }
  for (const auto& f : callbacks) f(status_);
  event_->set();
}

void Work::on_done(std::function<void(const Status&)> f) {
  {
    const std::lock_guard lock(mutex_);
    if (!completed_) {
      callbacks_.push_back(std::move(f));
      return;
    }
  }
  f(status_);
}

}  // namespace pdsim
