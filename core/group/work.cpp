#include "core/group/work.h"

#include <utility>

namespace pdsim {

Status Work::wait(Time deadline) {
  if (!event_.wait(deadline))
    return Error{Code::timeout, "the operation was not finished within the wait's timeout", {}};
  return status_;  // which nobody changes after the event is set
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
  OnDone first;
  std::vector<OnDone> further;
  {
    const std::lock_guard lock(mutex_);
    if (completed_) return;
    completed_ = true;
    status_ = std::move(status);
    first = std::exchange(first_, nullptr);
    further.swap(further_);
  }
  if (first) first(status_);
  for (const OnDone& f : further) f(status_);
  event_.set();
}

void Work::on_done(OnDone f) {
  {
    const std::lock_guard lock(mutex_);
    if (!completed_) {
      if (!first_ && further_.empty())
        first_ = std::move(f);
      else
        further_.push_back(std::move(f));
      return;
    }
  }
  f(status_);
}

}  // namespace pdsim
