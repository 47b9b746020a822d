#include "scenarios/records/own_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pdsim::scenarios {
namespace {

// "accelerate/state.py:383"
std::string library_text(const StackFrame& frame) {
  std::string_view file = frame.file;
  for (const std::string_view folder : {std::string_view("site-packages/"), std::string_view("dist-packages/")})
    if (const std::size_t at = file.rfind(folder); at != std::string_view::npos) file.remove_prefix(at + folder.size());
  return fmt::format("{}:{}", file, frame.line);
}

}  // namespace

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

const StackFrame* place_frame(const std::vector<StackFrame>& frames) {
  const StackFrame* own = own_frame(frames);
  return own != nullptr || frames.empty() ? own : &frames.front();
}

std::string frame_text(const StackFrame& frame) {
  return frame.function.empty() ? fmt::format("{}:{}", frame.file, frame.line)
                                : fmt::format("{}:{} in {}", frame.file, frame.line, frame.function);
}

std::string stack_place(const std::vector<StackFrame>& frames) {
  const StackFrame* place = place_frame(frames);
  if (place == nullptr) return {};
  return place == &frames.front() ? frame_text(*place) : fmt::format("{}, through {}", frame_text(*place), library_text(frames.front()));
}

}  // namespace pdsim::scenarios
