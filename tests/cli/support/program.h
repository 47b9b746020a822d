// Runs the built pdsim command as a user's shell would, and catches what it prints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::cli_tests {

struct Ended {
  int status = 0;  // as a shell reports it: 128 + n after signal n
  std::string output;
  std::string problems;  // standard error
};

struct RunOptions {
  std::string program = PDSIM_PROGRAM;                  // or one of the tests' own that ends as pdsim does
  std::string output_to;                                // a file for standard output; empty: caught
  bool close_output = false;                            // start it without a standard output
  bool temporary_here = false;                          // temporary files go below its folder too, which its environment names
  bool leave_output = false;                            // the reader of its standard output leaves before it writes
  int interrupt_after_bytes = -1;                       // SIGINT once standard error has brought this many bytes
  std::optional<std::uint64_t> most_memory, most_file;  // bytes: RLIMIT_AS and RLIMIT_FSIZE
};

// In the folder `in`; argument 0 is the command itself.
Ended run_pdsim(const std::vector<std::string>& arguments, const std::filesystem::path& in,
                const RunOptions& options = {});

inline const std::filesystem::path source_tree{PDSIM_SOURCE_DIR};

// What a file holds; a process may end while its files are read.
std::string text_of(const std::filesystem::path& file);

// A scenario without a flaw.
inline const std::string good_scenario = R"(pdsim: 1
name: mine
summary: two ranks meet at a barrier
world: {ranks: 2}
program: [init_process_group, barrier]
expect: {outcome: ok}
)";

// Whether this build and machine have the real world, as `pdsim launch --on WORLD` says. Only its "unavailable" is a no: a launch that
// fails otherwise fails the test.
bool is_there(const std::string& world);

// A folder that is gone, with all that is in it, after the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view name, std::string_view content) const;
  std::vector<std::string> names() const;  // of what lies in it, sorted

 private:
  std::filesystem::path path_;
};

}  // namespace pdsim::cli_tests
