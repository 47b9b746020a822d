#include "tools/labs/lab_book.h"

#include "backends/os/whole_file.h"
#include "tools/catalog.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* progress_file = "progress.json";

std::optional<std::string> content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// "# Title", the task, then "## ..." before each hint.
LabText text_of(const std::string& page) {
  LabText text;
  std::string* part = &text.task;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string line = page.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("## ")) {
      part = &text.hints.emplace_back();
    } else if (line.starts_with("# ")) {
      text.title = line.substr(2);
    } else if (!part->empty() || !line.empty()) {
      *part += line + "\n";
    }
  }
  const auto trim = [](std::string& lines) {
    while (lines.ends_with("\n\n")) lines.pop_back();
  };
  trim(text.task);
  for (std::string& hint : text.hints) trim(hint);
  return text;
}

Error wrong_lab(const fs::path& file, std::string_view what) {
  return {Code::input_invalid, fmt::format("{}: {}", file.string(), what), {}};
}

// A folder that cannot be there is wrong input, as that of --out is.
Error cannot_create(const fs::path& folder, const std::error_code& why) {
  return {Code::input_invalid, fmt::format("cannot create {}: {}", folder.string(), why.message()), {}};
}

Result<Lab> lab_of(const fs::path& folder, std::string_view language) {
  Lab lab;
  const std::string name = folder.filename().string();
  lab.folder = folder;
  lab.language = language;
  lab.number = std::atoi(name.c_str());
  lab.name = name.substr(name.find('_') + 1);
  const auto checks = content_of(folder / "lab.json");
  if (!checks || !Json::accept(*checks))
    return wrong_lab(folder / "lab.json", "there is no such file, or it is not JSON");
  lab.checks = *checks;
  auto page = content_of(folder / fmt::format("{}.md", language));
  if (!page) page = content_of(folder / "en.md");
  if (!page) return wrong_lab(folder / "en.md", "there is no such file");
  lab.text = text_of(*page);
  if (lab.number < 1 || lab.text.title.empty() || lab.text.hints.size() != 3)
    return wrong_lab(folder, "a lab has a number, a title and three hints");
  return lab;
}

}  // namespace

Result<std::string> lab_book_folder() {
  return data_folder("labs", (fs::path(PDSIM_SOURCE_CATALOG).parent_path() / "labs").string());
}

std::vector<std::string> lab_numbers() {
  const Result<std::string> book = lab_book_folder();
  const Result<std::vector<Lab>> labs = book.ok() ? labs_of(*book, "en") : book.error();
  std::vector<std::string> numbers;
  if (labs.ok())
    for (const Lab& lab : *labs) numbers.push_back(std::to_string(lab.number));
  return numbers;
}

Result<std::vector<Lab>> labs_of(const fs::path& book, std::string_view language) {
  std::vector<Lab> labs;
  std::error_code error;
  for (fs::directory_iterator entry(book, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_directory()) continue;
    Result<Lab> lab = lab_of(entry->path(), language);
    if (!lab.ok()) return lab.error();
    labs.push_back(std::move(*lab));
  }
  if (labs.empty()) return Error{Code::io_error, fmt::format("there are no labs in {}", book.string()), {}};
  std::sort(labs.begin(), labs.end(), [](const Lab& a, const Lab& b) { return a.number < b.number; });
  return labs;
}

fs::path student_folder(const Lab& lab, const fs::path& below) {
  const fs::path name = lab.folder.filename();
  std::error_code error;
  if (fs::exists(below / name, error)) return below / name;
  if (fs::exists(below, error) && fs::canonical(below, error).filename() == name) return below;
  if (!fs::exists(below, error) && fs::current_path(error).filename() == name) return ".";
  return below / name;
}

LabProgress progress_of(const fs::path& folder) {
  LabProgress progress;
  const auto text = content_of(folder / progress_file);
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  if (!json.is_object()) return progress;
  const auto number = [&json](const char* key) {
    return json.contains(key) && json[key].is_number_integer() ? std::clamp(json[key].get<int>(), 0, 1 << 20) : 0;
  };
  progress.done = json.contains("done") && json["done"].is_boolean() && json["done"].get<bool>();
  progress.tries = number("tries");
  progress.hints = std::min(number("hints"), 3);
  if (json.contains("best") && json["best"].is_string()) progress.best = json["best"].get<std::string>();
  return progress;
}

Status keep_progress(const fs::path& folder, const LabProgress& progress) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return cannot_create(folder, error);
  const Json json{{"version", 1},
                  {"done", progress.done},
                  {"tries", progress.tries},
                  {"hints", progress.hints},
                  {"best", progress.best}};
  return write_whole_file((folder / progress_file).string(), json.dump() + "\n");
}

Result<std::vector<std::string>> place_start(const Lab& lab, const fs::path& folder, bool overwrite) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return cannot_create(folder, error);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(lab.folder / "start", error)) {
    if (entry.is_directory()) continue;
    const fs::path own = lab.folder / "start" / lab.language / entry.path().filename();
    files.push_back(fs::exists(own, error) ? own : entry.path());
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  std::vector<std::string> written;
  for (const fs::path& file : files) {
    const fs::path to = folder / file.filename();
    if (!overwrite && fs::exists(to, error)) continue;
    const auto content = content_of(file);
    if (!content) return Error{Code::io_error, fmt::format("cannot read {}", file.string()), {}};
    PDSIM_TRY(write_whole_file(to.string(), *content));
    written.push_back(to.string());
  }
  return written;
}

}  // namespace pdsim::tools
