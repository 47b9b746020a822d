#include "scenarios/records/logs/log_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pdsim::scenarios::logs {

const StackFrame* own_frame(const std::vector<StackFrame>& frames) {
  constexpr std::string_view foreign[] = {"site-packages", "dist-packages", "/torch/", "lib/python",
                                          "<frozen",       "<string>",      "<stdin>"};
  // py-spy leaves out what precedes a module's folder.
  constexpr std::string_view foreign_folders[] = {
      "torch/", "multiprocessing/", "concurrent/", "asyncio/", "importlib/",   "json/",         "logging/",  "urllib/",
      "http/",  "threading.py",     "runpy.py",    "queue.py", "selectors.py", "subprocess.py", "socket.py", "ssl.py"};
  const auto is_own = [&](const StackFrame& frame) {
    const std::string_view file = frame.file;
    return !file.empty() && std::none_of(std::begin(foreign), std::end(foreign), [&](std::string_view part) {
      return file.find(part) != file.npos;
    }) && std::none_of(std::begin(foreign_folders), std::end(foreign_folders), [&](std::string_view part) {
      return file.starts_with(part);
    });
  };
  const auto own = std::find_if(frames.begin(), frames.end(), is_own);
  return own == frames.end() ? nullptr : &*own;
}

std::string frame_text(const StackFrame& frame) {
  return frame.function.empty() ? fmt::format("{}:{}", frame.file, frame.line)
                                : fmt::format("{}:{} in {}", frame.file, frame.line, frame.function);
}

}  // namespace pdsim::scenarios::logs
