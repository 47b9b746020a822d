#include "tools/worlds/guarded_command.h"

#include "backends/launch/guarded.h"
#include "tools/command.h"

namespace pdsim::tools {

int run_guarded_command(Console& console, const std::function<int()>& body) {
  const Result<int> status = run_guarded([&]() -> int {
    const int ended = body();
    console.end(ended);
    return ended;
  });
  if (status.ok()) {
    console.leave_answer();
    return *status;
  }
  console.problem(status.error().message);
  return exit_failed;
}

}  // namespace pdsim::tools
