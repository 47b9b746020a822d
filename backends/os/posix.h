// Thin owners of resources of the operating system: descriptors, child processes, pending signals.
#pragma once

#include "core/base/result.h"

#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace pdsim {

// io_error with what failed and the system's reason (errno).
Error system_error(std::string_view what);

// Owns one descriptor; -1 means none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

struct Listener {
  Descriptor fd;
  int port = 0;
};
// Listens on a free port of the loopback interface; the owner of the descriptor serves it.
Result<Listener> listen_on_loopback();

// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT of this thread arrive at a descriptor instead of ending the process. Its
// destructor restores the former mask, and raises signals that arrived meanwhile again.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  int fd() const { return fd_.get(); }
  bool arrived();  // reads what is pending
  const sigset_t& former() const { return former_; }

 private:
  sigset_t former_{};
  Descriptor fd_;
  std::vector<int> seen_;
};

// How a process ended.
struct Ended {
  int exit_status = 0;
  int signal = 0;  // 0: it exited
};

// One child process, in a process group of its own. The destructor kills and reaps every process still running.
class Child {
 public:
  struct Inherited {
    int from = -1;  // a descriptor of this process
    int as = -1;  // its number in the child; -1: closed when the program starts, or given errno (an int) when it cannot
  };
  // Starts argv[0] with exactly the `inherited` descriptors and no input; it gets SIGKILL if this thread ends first.
  // `environment` is the whole environment ("NAME=value"); empty: that of this process.
  static Result<Child> start(const std::vector<std::string>& argv, std::span<const Inherited> inherited,
                             const sigset_t& signal_mask, const std::vector<std::string>& environment = {});
  // A process that another one has forked and handed over to this one, in a group of its own.
  static Child adopted(pid_t pid) { return Child(pid); }
  ~Child();
  Child(Child&& o) noexcept : pid_(std::exchange(o.pid_, -1)), ended_(o.ended_) {}
  Child& operator=(Child&&) = delete;

  pid_t pid() const { return pid_; }
  const std::optional<Ended>& poll();  // reaps it when it has ended; never blocks
  bool stopped() const;                // by SIGSTOP or a debugger
  void signal(int number);             // to the whole group
  void end();                          // SIGKILL, and reaps

 private:
  explicit Child(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<Ended> ended_;
};

}  // namespace pdsim
