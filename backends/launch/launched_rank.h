// One rank of `pdsim launch`: its process and its two streams.
#pragma once

#include "backends/os/line_output.h"

#include <functional>
#include <poll.h>
#include <string>
#include <vector>

namespace pdsim {

class LaunchedRank {
 public:
  // `rank` is shown before its lines; below 0: nothing is. `control`: a descriptor passed to it as number 3. Errors: io_error.
  static Result<LaunchedRank> start(const std::vector<std::string>& command, int rank, const sigset_t& signal_mask,
                                    const std::vector<std::string>& environment, int control = -1);
  // Adopts a rank created by `fork`, which gives the streams to a process and returns that process. Errors: io_error, those of
  // `fork`.
  static Result<LaunchedRank> adopt(int rank, const std::function<Result<pid_t>(int out, int err)>& fork);

  void add_to(std::vector<pollfd>& waiting, bool out, bool err) const;
  // Reads available output, as far as the sinks accept it; true when the rank printed anything.
  bool read(LineSink& out, LineSink& err);
  void finish(LineSink& out, LineSink& err);

  // After its end: why (errno) the program could not be executed at all; 0: it could. Reports it once.
  int exec_error() const;
  const std::optional<Ended>& ended() { return child_.poll(); }
  bool stopped() const { return child_.stopped(); }
  pid_t pid() const { return child_.pid(); }
  void signal(int number) { child_.signal(number); }

 private:
  static LaunchedRank watched(Child child, int rank, Descriptor out, Descriptor err, Descriptor failure);
  LaunchedRank(Child child, Descriptor end, Descriptor failure, LineSource out, LineSource err);

  Child child_;
  Descriptor end_;  // a pidfd: readable when the process has ended
  Descriptor failure_;
  LineSource out_, err_;
};

}  // namespace pdsim
