// The requests of a TcpStore's server: its keys, and the waits for them.
//
//   waits    a wait is checked only when the key that it lacks is set, so the cost of a set depends on the waits it wakes
//   bounds   all keys and values together take at most `most_stored` bytes, all waits at most `most_waiting`: a request beyond
//            that is answered with limit_exceeded, and nothing is changed
//   threads  one
#pragma once

#include "backends/tcp_store/tcp_wire.h"
#include "core/store/key_table.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace pdsim {

// A get, wait or wait_count with missing keys. It must not move while it waits.
struct StoreWait {
  tcp::Request request;
  std::size_t next = 0;    // its first text whose key was missing
  bool fulfilled = false;  // all keys existed at some moment since
};

class StoreService {
 public:
  using Answer = Result<tcp::Response>;

  StoreService(std::size_t most_stored, std::size_t most_waiting)
      : most_stored_(most_stored), most_waiting_(most_waiting) {}

  // Returns the answer; nullopt: the request waits, see begin().
  std::optional<Answer> handle(const tcp::Request& request);
  // The approximate number of value bytes that handle() would answer with now.
  std::size_t answer_bytes(const tcp::Request& request) const;

  // limit_exceeded, without waiting, where waits would take too much. `wait` outlives its end().
  Status begin(StoreWait& wait);
  void end(StoreWait& wait);
  // The answer of a fulfilled wait; nullopt: its key was deleted again, and it continues to wait.
  std::optional<Answer> answer(StoreWait& wait);
  Error timed_out(const StoreWait& wait) const;
  std::size_t waiting_bytes() const { return waiting_; }

 private:
  std::optional<Answer> change(const tcp::Request& request);
  std::optional<Answer> look(const tcp::Request& request) const;
  std::optional<Answer> no_room(const tcp::Request& request, std::size_t added) const;
  bool is_fulfilled(StoreWait& wait) const;
  void was_set(const std::string& key);

  const std::size_t most_stored_, most_waiting_;
  KeyTable keys_;
  std::multimap<std::string, StoreWait*> waits_;  // by missing key
  std::size_t waiting_ = 0;
};

}  // namespace pdsim
