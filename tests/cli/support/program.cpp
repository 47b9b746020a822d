#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pdsim::cli_tests {
namespace {

[[noreturn]] void become_pdsim(const std::vector<std::string>& arguments, const std::filesystem::path& in,
                               const RunOptions& options, int output, int problems) {
  if (chdir(in.c_str()) != 0) _exit(127);
  if (options.temporary_here) setenv("TMPDIR", in.c_str(), 1);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  if (!options.output_to.empty()) output = open(options.output_to.c_str(), O_WRONLY | O_CREAT, 0644);
  dup2(output, STDOUT_FILENO);
  dup2(problems, STDERR_FILENO);
  if (options.close_output) close(STDOUT_FILENO);
  const auto limit = [](__rlimit_resource what, const std::optional<std::uint64_t>& most) {
    const rlimit bytes{most.value_or(0), most.value_or(0)};
    if (most) setrlimit(what, &bytes);
  };
  limit(RLIMIT_AS, options.most_memory);
  limit(RLIMIT_FSIZE, options.most_file);
  std::vector<char*> argv;
  std::string program = options.program;
  argv.push_back(program.data());
  std::vector<std::string> copies = arguments;
  for (std::string& copy : copies) argv.push_back(copy.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

// Appends what can be read; false at the end.
bool read_some(int from, std::string& to) {
  std::array<char, 4096> chunk{};
  const ssize_t n = read(from, chunk.data(), chunk.size());
  if (n <= 0) return false;
  to.append(chunk.data(), static_cast<std::size_t>(n));
  return true;
}

}  // namespace

Ended run_pdsim(const std::vector<std::string>& arguments, const std::filesystem::path& in, const RunOptions& options) {
  Ended run;
  std::array<int, 2> output{}, problems{};
  if (pipe2(output.data(), O_CLOEXEC) != 0 || pipe2(problems.data(), O_CLOEXEC) != 0) return {127, {}, "no pipe"};
  if (options.temporary_here) prctl(PR_SET_CHILD_SUBREAPER, 1);  // whom it leaves behind becomes a child of the test
  const pid_t child = fork();
  if (child == 0) become_pdsim(arguments, in, options, output[1], problems[1]);
  close(output[1]);
  close(problems[1]);
  std::array<pollfd, 2> sources{pollfd{output[0], POLLIN, 0}, pollfd{problems[0], POLLIN, 0}};
  if (options.leave_output) {
    close(output[0]);
    sources[0].fd = -1;
  }
  bool interrupted = options.interrupt_after_bytes < 0;
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    poll(sources.data(), sources.size(), -1);
    for (pollfd& source : sources) {
      if (source.fd < 0 || source.revents == 0) continue;
      if (read_some(source.fd, &source == &sources[0] ? run.output : run.problems)) continue;
      close(source.fd);
      source.fd = -1;
    }
    if (!interrupted && run.problems.size() >= static_cast<std::size_t>(options.interrupt_after_bytes)) {
      interrupted = true;
      kill(child, SIGINT);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();  // not by iterators, which throw when the process ends while it is read
  return all.str();
}

bool is_there(const std::string& world) {
  constexpr int unavailable = 3;
  const Ended tried = run_pdsim({"launch", "-n", "1", "--on", world, "--", "true"}, "/");
  if (tried.status == unavailable) return false;
  EXPECT_EQ(tried.status, 0) << tried.output << tried.problems;
  return true;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "pdsim-cli-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

void Folder::write(std::string_view name, std::string_view content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  std::error_code gone;  // a run may remove its files meanwhile
  for (std::filesystem::recursive_directory_iterator at(path_, gone), end; !gone && at != end; at.increment(gone))
    names.push_back(at->path().lexically_relative(path_).string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace pdsim::cli_tests
