#include "tests/cli/support/program_path.h"

#include "tests/cli/support/program.h"

#include <string_view>

namespace pdsim::cli_tests {

// A launched rank sees the launcher as its parent.
std::string program_path() {
  constexpr std::string_view prefix = "[rank 0] ";
  const Ended run = run_pdsim({"launch", "-n", "1", "--", "sh", "-c", "readlink /proc/$PPID/exe"}, "/");
  if (run.output.size() <= prefix.size()) return {};
  return run.output.substr(prefix.size(), run.output.find('\n') - prefix.size());
}

}  // namespace pdsim::cli_tests
