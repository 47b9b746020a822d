// The labs that come with pdsim, and a student's folder for one. docs/teaching.md explains how to add one.
//
//   lab      a folder below scenarios/labs: lab.json, a text per language (en.md, zh.md: title, task, three hints), start/ with
//            the files, of which start/zh/ may hold others of the same names, with Chinese comments
//   folder   pdsim-labs/NN_name in the current directory: the student's files, and progress.json; nothing is stored elsewhere
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

struct LabText {
  std::string title, task;
  std::vector<std::string> hints;
};

struct Lab {
  int number = 0;
  std::string name;  // ring_off_by_one
  std::filesystem::path folder;
  std::string checks;  // lab.json
  LabText text;        // in the requested language, or in English where it is missing
  std::string language;
};

struct LabProgress {
  bool done = false;
  int tries = 0;
  int hints = 0;  // number shown so far
  std::string best;
};

// The folder that the installed or built pdsim has. Errors: not_found, io_error.
Result<std::string> lab_book_folder();
// Of all labs in it; none where it cannot be read.
std::vector<std::string> lab_numbers();
// By number. Errors: io_error or input_invalid, naming the file.
Result<std::vector<Lab>> labs_of(const std::filesystem::path& book, std::string_view language);

// NN_name below `below`; the current folder or `below` itself, where that is the lab's own.
std::filesystem::path student_folder(const Lab& lab, const std::filesystem::path& below);
LabProgress progress_of(const std::filesystem::path& folder);
Status keep_progress(const std::filesystem::path& folder, const LabProgress& progress);
// Puts the starting files that are not there into the folder; with `overwrite` all of them, over what is there. Gives what it wrote.
Result<std::vector<std::string>> place_start(const Lab& lab, const std::filesystem::path& folder, bool overwrite);

}  // namespace pdsim::tools
