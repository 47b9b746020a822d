// HashStore: a store in the memory of one process, for ranks that are its threads or fibers.
//
//   waiting  parks on an event of the caller's Runtime, so it serves the simulated world and real threads
//   trap     as in c10d, `add` wakes no waiter: a wait for a key that only add creates sleeps until some other set, or to its
//            deadline, and then still succeeds
//   threads  one handle per thread or fiber; the HashTable is shared by all and outlives them
#pragma once

#include "core/runtime/runtime.h"
#include "core/store/key_table.h"
#include "core/store/store.h"

#include <mutex>
#include <vector>

namespace pdsim {

// The state that the handles share.
class HashTable {
 public:
  // The process that serves the table is gone: current and later calls of a store on it return store_closed.
  void close();

 private:
  friend class HashStore;

  std::mutex mutex_;  // never held while parked
  KeyTable keys_;
  std::vector<Event*> waiters_;  // in order of arrival
  bool closed_ = false;
};

class HashStore final : public Store {
 public:
  HashStore(HashTable& table, Runtime& runtime) : table_(table), runtime_(runtime) {}

  Status set(std::string_view key, std::string_view value) override;
  Result<std::string> get(std::string_view key) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override;
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override;
  Result<bool> check(std::span<const std::string> keys) override;
  Status wait(std::span<const std::string> keys, Time timeout) override;
  Result<bool> delete_key(std::string_view key) override;
  Result<std::int64_t> num_keys() override;
  Status append(std::string_view key, std::string_view value) override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  void wake_all();  // with the lock held
  Status wait_locked(Lock& lock, std::span<const std::string> keys, Time timeout);

  HashTable& table_;
  Runtime& runtime_;
};

}  // namespace pdsim
