// The pdsim command as a child process that a test can send signals to while it runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace pdsim::cli_tests {

// Whether temporary files go below the folder as well, or where they go without TMPDIR.
enum class Temporary : char { in_the_folder, anywhere };

// Runs in the folder `in`, which its environment names. Whom the command leaves behind becomes a child of the test.
class Running {
 public:
  // Both its streams go to the file `output`; without one, nowhere.
  Running(const std::vector<std::string>& arguments, const std::filesystem::path& in, const std::string& output = {},
          Temporary temporary = Temporary::in_the_folder);

  // False: it ended before that.
  bool wait_until(const std::function<bool()>& seen) const;
  bool ended() const;
  std::int64_t computed_ms() const;
  std::vector<pid_t> children() const;
  void signal(int number) const;
  int status() const;                 // waits for its end; as a shell reports it
  int interrupted(int number) const;  // signal, then status

 private:
  pid_t child_ = 0;
};

}  // namespace pdsim::cli_tests
