// What the server of a TcpStore answers: its keys, and the waits for them.
//
//   waits    a wait is looked at only when the key that it lacks is set, so that a set costs what it wakes
//   bounds   all keys and values together take at most `most_stored` bytes, all waits at most `most_waiting`: what would go
//            beyond is answered with limit_exceeded, and nothing is changed
//   threads  one
#pragma once

#include "backends/tcp_store/tcp_wire.h"
#include "core/store/key_table.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace pdsim {

// A get, wait or wait_count whose keys were not all there. It stays where it is while it waits.
struct StoreWait {
  tcp::Request request;
  std::size_t next = 0;    // its first text whose key was missing
  bool fulfilled = false;  // they were all there at some moment since
};

class StoreService {
 public:
  using Answer = Result<tcp::Response>;

  StoreService(std::size_t most_stored, std::size_t most_waiting)
      : most_stored_(most_stored), most_waiting_(most_waiting) {}

  // The answer; nullopt: the request waits, see begin().
  std::optional<Answer> handle(const tcp::Request& request);
  // About how many bytes of a value handle() would answer with now.
  std::size_t answer_bytes(const tcp::Request& request) const;

  // limit_exceeded, and it does not wait, where waits would take too much. `wait` outlives its end().
  Status begin(StoreWait& wait);
  void end(StoreWait& wait);
  // Of a wait that is fulfilled; nullopt: its key was deleted again, and it waits on.
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
  std::multimap<std::string, StoreWait*> waits_;  // by the key that is missing
  std::size_t waiting_ = 0;
};

}  // namespace pdsim
