#include "tools/labs/lab_answers.h"

#include "tools/labs/lab_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace pdsim::tools {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? std::string() : text.substr(begin, end + 1 - begin);
}

}  // namespace

LabAnswers read_answers(const std::filesystem::path& file, const std::vector<std::string>& keys, const LabWords& words) {
  LabAnswers answers;
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(file, ignored);
  errno = 0;
  std::ifstream in(file);
  if (folder || !in) {
    answers.problems = said(words.not_a_file, file.string(), folder ? "it is a folder" : std::strerror(errno));
    return answers;
  }
  std::map<std::string, int> lines;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    const std::size_t colon = line.find(':');
    if (line.empty()) continue;
    if (colon == std::string::npos) {
      answers.problems += said(words.no_colon, file.string(), number, line);
      continue;
    }
    const std::string key = compared(line.substr(0, colon));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      answers.problems += said(words.unknown_key, file.string(), number, key, fmt::format("{}", fmt::join(keys, ", ")));
    } else if (const auto [first, fresh] = lines.emplace(key, number); !fresh) {
      answers.problems += said(words.twice, file.string(), number, key, first->second);
    } else {
      answers.given[key] = trimmed(line.substr(colon + 1));
    }
  }
  return answers;
}

}  // namespace pdsim::tools
