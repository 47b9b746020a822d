// The socket of one guest: whole requests in, answers out.
//
//   reading  never blocks; writing waits for a guest that is slow to read, and gives up on one that reads nothing for a minute
#pragma once

#include "backends/os/posix.h"
#include "scenarios/guests/request.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace pdsim::scenarios::guests {

class Connection {
 public:
  explicit Connection(Descriptor socket);
  int fd() const { return socket_.get(); }
  // False once the guest has closed it, or sent what is not a request.
  bool open() const { return static_cast<bool>(socket_); }
  const Status& problem() const { return problem_; }

  // Takes in what is there. True: at least one more request is whole.
  bool read_some();
  bool has_request() const { return !requests_.empty(); }
  const Request& front() const { return requests_.front(); }
  Request take();
  void answer(const Answer& answer, std::span<const std::byte> data);
  void close() { socket_.reset(); }

 private:
  void cut_frames();
  void send(std::span<const std::byte> bytes);

  Descriptor socket_;
  std::unique_ptr<std::byte[]> received_;  // by one recv; not cleared, because every connection is read at every event
  std::vector<std::byte> waiting_;  // bytes of frames that are not whole
  std::deque<Request> requests_;
  Status problem_;
};

}  // namespace pdsim::scenarios::guests
