#include "scenarios/guests/interpreter.h"

#include "backends/os/posix.h"

#include <array>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <unistd.h>

namespace pdsim::scenarios::guests {
namespace {

// PyTorch's version stands in a file of its own: importing it all takes seconds.
constexpr const char* question = R"(import importlib.util, os, platform, sys
print(sys.executable)
print(platform.python_version())
found = importlib.util.find_spec("torch")
names = {}
if found is not None and found.submodule_search_locations:
    with open(os.path.join(list(found.submodule_search_locations)[0], "version.py")) as file:
        exec(file.read(), names)
print(names.get("__version__", ""))
)";

std::string all_of(int pipe) {
  constexpr int most_ms = 10'000;
  std::string text;
  std::array<char, 4096> chunk{};
  for (pollfd waiting{pipe, POLLIN, 0}; poll(&waiting, 1, most_ms) > 0;) {
    const ssize_t size = read(pipe, chunk.data(), chunk.size());
    if (size <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(size));
  }
  return text;
}

}  // namespace

Interpreter interpreter(const std::string& program) {
  Interpreter found;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return found;
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const std::array<Child::Inherited, 2> inherited{{{in.get(), STDOUT_FILENO}, {nowhere.get(), STDERR_FILENO}}};
  sigset_t mask;
  sigemptyset(&mask);
  const Result<Child> child = Child::start({program, "-c", question}, inherited, mask);
  in.reset();
  if (!child.ok()) return found;
  std::istringstream lines(all_of(out.get()));
  std::getline(lines, found.path);
  std::getline(lines, found.python);
  std::getline(lines, found.torch);
  return found;
}

}  // namespace pdsim::scenarios::guests
