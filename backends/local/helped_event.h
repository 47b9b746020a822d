// An Event whose waiter may do itself what it waits for, before it parks: no other thread is woken then, nor this one.
#pragma once

#include "core/base/callback.h"
#include "core/runtime/runtime.h"

#include <atomic>
#include <memory>
#include <utility>

namespace pdsim {

class HelpedEvent final : public Event {
 public:
  // Returns when the first argument is true, after the deadline, or when there is nothing (more) to help with. What it captures is
  // there until the event is set.
  using Help = Callback<const std::atomic<bool>&, Time>;

  HelpedEvent(std::unique_ptr<Event> parked, Help help) : parked_(std::move(parked)), help_(std::move(help)) {}
  void set() override {
    set_ = true;
    parked_->set();
  }
  bool is_set() const override { return set_; }
  bool wait(Time deadline) override {
    if (!set_) help_(set_, deadline);
    return set_ || parked_->wait(deadline);
  }

 private:
  std::unique_ptr<Event> parked_;
  const Help help_;
  std::atomic<bool> set_ = false;
};

}  // namespace pdsim
