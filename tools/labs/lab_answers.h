// The answers that a student wrote into a lab's text file.
//
//   form   "key: answer" lines; `#` begins a comment
#pragma once

#include "tools/labs/lab_words.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace pdsim::tools {

struct LabAnswers {
  std::map<std::string, std::string> given;  // by key, as typed, without the blanks around them
  std::string problems;  // lines: what is not an answer to one of the questions, with its place
};

// The whole file; a file that cannot be read has no answers, and a problem.
LabAnswers read_answers(const std::filesystem::path& file, const std::vector<std::string>& keys, const LabWords& words);

}  // namespace pdsim::tools
