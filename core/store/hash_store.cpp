#include "core/store/hash_store.h"

#include "core/store/store_errors.h"

#include <algorithm>

namespace pdsim {
namespace {

Error closed() { return {Code::store_closed, "the store is gone: the process that served it has ended", {}}; }

}  // namespace

void HashTable::close() {
  const std::unique_lock<std::mutex> lock(mutex_);
  closed_ = true;
  for (Event* waiter : waiters_) waiter->set();
}

Status HashStore::set(std::string_view key, std::string_view value) {
  const Lock lock(table_.mutex_);
  if (table_.closed_) return closed();
  table_.keys_.set(key, value);
  wake_all();
  return {};
}

Result<std::string> HashStore::get(std::string_view key) {
  const std::string wanted(key);
  Lock lock(table_.mutex_);
  PDSIM_TRY(wait_locked(lock, {&wanted, 1}, timeout()));
  return *table_.keys_.find(key);
}

Result<std::int64_t> HashStore::add(std::string_view key, std::int64_t delta) {
  const Lock lock(table_.mutex_);
  if (table_.closed_) return closed();
  return table_.keys_.add(key, delta);
}

Result<std::string> HashStore::compare_set(std::string_view key, std::string_view expected, std::string_view desired) {
  const Lock lock(table_.mutex_);
  if (table_.closed_) return closed();
  std::string result = table_.keys_.compare_set(key, expected, desired);
  wake_all();
  return result;
}

Result<bool> HashStore::check(std::span<const std::string> keys) {
  const Lock lock(table_.mutex_);
  if (table_.closed_) return closed();
  return table_.keys_.missing(keys).empty();
}

Status HashStore::wait(std::span<const std::string> keys, Time timeout) {
  Lock lock(table_.mutex_);
  return wait_locked(lock, keys, timeout);
}

Result<bool> HashStore::delete_key(std::string_view key) {
  const Lock lock(table_.mutex_);
  if (table_.closed_) return closed();
  return table_.keys_.erase(key);
}

Result<std::int64_t> HashStore::num_keys() {
  const Lock lock(table_.mutex_);
  if (table_.closed_) return closed();
  return table_.keys_.size();
}

Status HashStore::append(std::string_view key, std::string_view value) {
  const Lock lock(table_.mutex_);
  if (table_.closed_) return closed();
  table_.keys_.append(key, value);
  wake_all();
  return {};
}

void HashStore::wake_all() {
  for (Event* waiter : table_.waiters_) waiter->set();
}

Status HashStore::wait_locked(Lock& lock, std::span<const std::string> keys, Time timeout) {
  const Time now = runtime_.now();
  const Time deadline = timeout.ps <= 0 || timeout > Time::max() - now ? Time::max() : now + timeout;
  bool in_time = true;
  while (true) {
    if (table_.closed_) return closed();
    const std::vector<std::string> missing = table_.keys_.missing(keys);
    if (missing.empty()) return {};
    if (!in_time) return key_timeout(missing, timeout, table_.keys_.keys("", 1000));
    const auto event = runtime_.make_event();
    // Owned by this frame, so that a fiber which is unwound while parked leaves no dangling waiter behind.
    struct Registered {
      HashTable& table;
      Lock& lock;
      Event* event;
      ~Registered() {
        if (!lock.owns_lock()) lock.lock();
        std::erase(table.waiters_, event);
      }
    } const registered{table_, lock, event.get()};
    table_.waiters_.push_back(event.get());
    lock.unlock();
    in_time = event->wait(deadline);
    lock.lock();
  }
}

}  // namespace pdsim
