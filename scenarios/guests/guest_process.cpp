#include "scenarios/guests/guest_process.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

// `  File "train.py", line 3 in main`
std::optional<StackFrame> faulthandler_frame(std::string_view line) {
  constexpr std::string_view begin = "  File \"", middle = "\", line ", name = " in ";
  const std::size_t file_end = line.find(middle);
  const std::size_t name_at = line.rfind(name);
  if (!line.starts_with(begin) || file_end == std::string_view::npos || name_at == std::string_view::npos)
    return std::nullopt;
  StackFrame frame;
  frame.file = line.substr(begin.size(), file_end - begin.size());
  const std::string_view number = line.substr(file_end + middle.size(), name_at - file_end - middle.size());
  std::from_chars(number.data(), number.data() + number.size(), frame.line);
  frame.function = line.substr(name_at + name.size());
  return frame;
}

}  // namespace

void put_package_first(std::vector<std::string>& environment, const std::string& package) {
  constexpr std::string_view name = "PYTHONPATH=";
  for (std::string& variable : environment)
    if (variable.starts_with(name)) {
      variable = fmt::format("{}{}:{}", name, package, variable.substr(name.size()));
      return;
    }
  environment.push_back(fmt::format("{}{}", name, package));
}

std::vector<StackFrame> stack_written_to(const std::string& path) {
  std::vector<StackFrame> stack;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (auto frame = faulthandler_frame(line)) stack.push_back(std::move(*frame));
  return stack;
}

}  // namespace pdsim::scenarios::guests
