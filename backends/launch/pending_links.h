// Connections to a job's meeting place that have not sent their hello yet.
//
//   bounds   at most `most`: the next one replaces the oldest. Each holds at most job_hello_limit bytes, and is dropped
//            after `hello_within`, or as soon as its bytes cannot be a hello
//   turns    service() accepts and reads a bounded amount, whatever strangers send, so deadlines of its caller hold
//   threads  one
#pragma once

#include "backends/launch/job_link.h"
#include "backends/os/real_runtime.h"

#include <cstddef>
#include <functional>
#include <list>
#include <poll.h>
#include <string>
#include <vector>

namespace pdsim {

struct PendingLimits {
  std::size_t most = 256;
  Time hello_within{30'000'000'000'000};
};

class PendingLinks {
 public:
  // `listener` must not block, and must outlive this.
  explicit PendingLinks(int listener, PendingLimits limits = {}) : listener_(listener), limits_(limits) {}

  void add_to(std::vector<pollfd>& waiting) const;
  // Passes on each link that has said hello, with the hello, once: it is closed after the call unless `take` moves it away.
  void service(const std::function<void(JobLink& link, const std::string& hello)>& take);
  std::size_t size() const { return links_.size(); }
  std::size_t held() const;  // bytes

 private:
  struct Pending {
    JobLink link;
    Time deadline{};
  };
  void accept_some();

  int listener_;
  const PendingLimits limits_;
  const RealRuntime clock_;
  std::list<Pending> links_;  // the oldest first
};

}  // namespace pdsim
