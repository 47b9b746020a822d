// The rules that hold the architecture, as functions of a file's text; each gives the lines that break it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::architecture {

struct Problem {
  std::string where;  // core/base/types.h:12
  std::string what;
};
using Problems = std::vector<Problem>;

// `path` is relative to the repository. The arrows: tools -> scenarios -> sim | backends -> core; a backend's folder knows no
// other backend's; every third-party library stays in its folder.
Problems include_problems(std::string_view path, std::string_view text);

// Every file below a layer's folders has a room, whose arrows the rule above checks.
Problems room_problems(std::string_view path, std::string_view text);

// Comments name files that `exists` (relative to the repository), and no notes that a reader cannot open.
using FileExists = std::function<bool(const std::string& file)>;
Problems citation_problems(std::string_view path, std::string_view text, const FileExists& exists);

// core and sim ask neither the machine nor the clock, and depend on nothing that differs between two runs.
Problems hidden_state_problems(std::string_view path, std::string_view text);

// Of diagnosis rules: they read the record alone, and scenario_places.cpp maps findings to places in the file.
Problems rule_problems(std::string_view path, std::string_view text);
Problems size_problems(std::string_view path, std::string_view text);

// A folder of the repository holds what a reader can take in at a glance; folders of data are excepted, by name.
Problems folder_problems(std::string_view folder, int files);

}  // namespace pdsim::architecture
