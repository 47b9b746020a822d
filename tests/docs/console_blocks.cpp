// Runs every ```console block of a page and compares what the commands print with what the page shows.
//
//   $ command     run by sh in a folder that holds links to the project's scenarios and to the built tools/pdsim
//   other lines   what it prints, on standard output and standard error; `...` alone stands for any lines, inside a line for
//                 any text
//
//   usage         console_blocks PAGE FOLDER-OF-PDSIM, in the project's folder; exit status 1 when a block differs

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

struct Example {
  int line = 0;
  std::string command;
  Lines expected;
};

std::vector<Example> examples_of(std::istream& page) {
  std::vector<Example> examples;
  bool inside = false;
  std::string line;
  for (int number = 1; std::getline(page, line); ++number) {
    if (line.starts_with("```")) {
      inside = !inside && line == "```console";
    } else if (inside && line.starts_with("$ ")) {
      examples.push_back({number, line.substr(2), {}});
    } else if (inside && !examples.empty()) {
      examples.back().expected.push_back(line);
    }
  }
  return examples;
}

// The parts between `...` occur in `line` in this order, the first at its start and the last at its end.
bool line_matches(std::string_view pattern, std::string_view line) {
  constexpr std::string_view dots = "...";
  const std::size_t at = pattern.find(dots);
  if (at == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, at))) return false;
  const std::string_view rest = pattern.substr(at + dots.size());
  for (std::size_t from = at; from <= line.size(); ++from)
    if (line_matches(rest, line.substr(from))) return true;
  return false;
}

bool lines_match(std::span<const std::string> expected, std::span<const std::string> lines) {
  if (expected.empty()) return lines.empty();
  if (expected.front() == "...") {
    for (std::size_t skip = 0; skip <= lines.size(); ++skip)
      if (lines_match(expected.subspan(1), lines.subspan(skip))) return true;
    return false;
  }
  return !lines.empty() && line_matches(expected.front(), lines.front()) &&
         lines_match(expected.subspan(1), lines.subspan(1));
}

Lines output_of(const std::string& command, const fs::path& folder) {
  const std::string whole = fmt::format("cd '{}' && exec 2>&1 </dev/null; {}", folder.string(), command);
  Lines lines;
  FILE* pipe = popen(whole.c_str(), "r");
  if (pipe == nullptr) return {"sh cannot be started"};
  std::string text;
  std::array<char, 4096> chunk{};
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe)) text.append(chunk.data(), n);
  pclose(pipe);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string indented(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += "    " + line + "\n";
  return text;
}

// A folder that looks like a clone to the commands of a page, and takes what they write.
fs::path make_folder(const fs::path& programs) {
  std::string name = (fs::temp_directory_path() / "pdsim-docs-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return {};
  const fs::path folder = name;
  fs::create_directory(folder / "tools");
  fs::create_symlink(fs::absolute(programs) / "pdsim", folder / "tools" / "pdsim");
  for (const char* part : {"scenarios", "docs"}) fs::create_directory_symlink(fs::absolute(part), folder / part);
  return folder;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: console_blocks PAGE FOLDER-OF-PDSIM\n");
    return 2;
  }
  std::ifstream page(argv[1]);
  const std::vector<Example> examples = examples_of(page);
  const fs::path folder = make_folder(argv[2]);
  if (!page.eof() || folder.empty()) {
    fmt::print(stderr, "cannot read {} or write below {}\n", argv[1], fs::temp_directory_path().string());
    return 2;
  }
  int differing = 0;
  for (const Example& example : examples) {
    const Lines lines = output_of(example.command, folder);
    if (lines_match(example.expected, lines)) continue;
    ++differing;
    fmt::print("{}:{}: $ {}\n  the page shows\n{}  the command prints\n{}", argv[1], example.line, example.command,
               indented(example.expected), indented(lines));
  }
  fs::remove_all(folder);
  fmt::print("{}: {} commands, {} differ\n", argv[1], examples.size(), differing);
  return differing == 0 ? 0 : 1;
}
