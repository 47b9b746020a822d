// An Event whose waiter may do the awaited work itself before it parks: that wakes no other thread, nor the waiter's own.
//
//   parking  an event of the runtime is created only for a waiter that must park: nearly all helped work is over before that
#pragma once

#include "core/base/callback.h"
#include "core/group/work.h"
#include "core/runtime/runtime.h"

#include <atomic>
#include <memory>
#include <utility>

namespace pdsim {

class CallerRunsEvent final : public Event {
 public:
  // Returns when the first argument is true, after the deadline, or when there is nothing (more) to help with. Its captures stay
  // valid until the event is set.
  using Help = Callback<const std::atomic<bool>&, Time>;

  // `runtime` outlives the event. The setter must keep the event alive until set() has returned.
  CallerRunsEvent(Runtime& runtime, Help help) : runtime_(runtime), help_(std::move(help)) {}
  ~CallerRunsEvent() override { delete parked_.load(); }
  CallerRunsEvent(const CallerRunsEvent&) = delete;
  CallerRunsEvent& operator=(const CallerRunsEvent&) = delete;

  void set() override {
    set_ = true;
    if (Event* parked = parked_; parked != nullptr) parked->set();
  }
  bool is_set() const override { return set_; }
  bool wait(Time deadline) override {
    if (!set_) runtime_.while_blocked([&] { help_(set_, deadline); });
    return set_ || park(deadline);
  }

 private:
  // Either set() sees the event that is parked on, or this sees that set() came first.
  bool park(Time deadline) {
    Event* parked = parked_;
    if (parked == nullptr) {
      std::unique_ptr<Event> made = runtime_.make_event();
      if (parked_.compare_exchange_strong(parked, made.get())) parked = made.release();
    }
    return set_ || parked->wait(deadline);
  }

  Runtime& runtime_;
  const Help help_;
  std::atomic<bool> set_ = false;
  std::atomic<Event*> parked_ = nullptr;  // owned
};

// A work with such an event, in one allocation.
inline WorkPtr make_helped_work(Runtime& runtime, CallerRunsEvent::Help help) {
  struct Both {
    Both(Runtime& of, CallerRunsEvent::Help with) : event(of, std::move(with)), work(event) {}
    CallerRunsEvent event;
    Work work;
  };
  const auto both = std::make_shared<Both>(runtime, std::move(help));
  return {both, &both->work};
}

}  // namespace pdsim
