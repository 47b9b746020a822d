// One interpreter that has imported PyTorch, and forks the ranks of `pdsim run` from it: several runs, one import.
//
//   ranks    run the script from its beginning, with their own environment and streams; they are children of this process
//   fits     `python3 train.py` and the like, in a process that takes in orphans (guarded.h); others start an interpreter per rank
//   refused  an import that started threads, or an interpreter that ends before it has imported torch: nothing is forked then
//   end      the destructor ends it; ranks live on
#pragma once

#include "backends/launch/launched_rank.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

class ForkServer {
 public:
  // Whether the command's interpreter can be one.
  static bool fits(const std::vector<std::string>& command);

  // Starts it at the first call, and waits for its import. True: it forks. `wait` passes a little time, and is false when somebody
  // wants an end.
  bool ready(const std::vector<std::string>& command, const std::vector<std::string>& environment, const sigset_t& mask,
             const std::function<bool(LaunchedRank&)>& wait);
  // io_error: it is gone.
  Result<LaunchedRank> fork(int rank, const std::vector<std::string>& variables);
  std::optional<pid_t> pid() const;

 private:
  bool imported(const std::function<bool(LaunchedRank&)>& wait);
  Result<pid_t> ask(const std::vector<std::string>& variables, int out, int err);

  bool tried_ = false;
  Descriptor control_;
  std::optional<LaunchedRank> process_;
};

}  // namespace pdsim::scenarios::guests
