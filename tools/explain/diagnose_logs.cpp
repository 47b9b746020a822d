#include "tools/explain/diagnose_logs.h"

#include "scenarios/records/pytorch/files.h"
#include "scenarios/reports/text/log_text.h"
#include "scenarios/run/log_diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t looked_at = 4096;

bool is_named_as_log(const fs::path& path) {
  constexpr std::array<std::string_view, 4> endings{".log", ".out", ".err", ".txt"};
  const std::string name = path.filename().string(), ending = path.extension().string();
  return name == "stdout" || name == "stderr" || std::find(endings.begin(), endings.end(), ending) != endings.end();
}

// PyTorch's debug server writes them as fr_trace_*.txt: the result of PyTorch's own analyser, in columns without borders.
bool is_analyser_table(const std::string& path) {
  constexpr std::string_view head = "=== FR Trace ===";
  std::ifstream file(path, std::ios::binary);
  std::string beginning(head.size(), '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return file.gcount() == static_cast<std::streamsize>(head.size()) && beginning == head;
}

std::string name_of_job(const std::vector<std::string>& files) {
  const std::string first = fs::path(files.front()).filename().string();
  return files.size() == 1 ? first : fmt::format("{} and {} more", first, files.size() - 1);
}

}  // namespace

bool is_log_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || scenarios::pytorch::is_dump_file(path)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string beginning(looked_at, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  return scenarios::logs::looks_like_log(beginning);
}

std::vector<std::string> log_files_below(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end && files.size() < scenarios::logs::most_log_files; it.increment(error))
    if (is_named_as_log(it->path()) && is_log_file(it->path().string())) files.push_back(it->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

int diagnose_log_files(const std::vector<std::string>& given, JobOutput& output, Console& console) {
  std::vector<std::string> files;
  for (const std::string& file : given) {
    if (is_analyser_table(file)) {
      console.problem(
          fmt::format("{}: tables of PyTorch's own analyser, without the ranks' complete records; left out: give the "
                      "dumps that the ranks wrote, or `--live` with the address of the debug server",
                      fs::path(file).filename().string()));
    } else {
      files.push_back(file);
    }
  }
  if (files.empty()) return exit_wrong_input;
  const scenarios::logs::LogFacts facts = scenarios::logs::read_logs(files);
  for (const std::string& what : facts.left_out.named()) console.problem(fmt::format("{}; left out", what));
  if (facts.facts.empty()) {
    console.problem_of(name_of_job(files),
                       "no line is a failure message of torch, NCCL, Gloo or a launcher; there is nothing to diagnose");
    return exit_wrong_input;
  }
  const scenarios::LogDiagnosis done = scenarios::diagnose_logs(facts, name_of_job(files));
  const int shown = output.show(done.report, scenarios::render_logs(done.report, done.story), console);
  return std::max<int>(shown, facts.left_out.empty() && files.size() == given.size() ? exit_held : exit_wrong_input);
}

}  // namespace pdsim::tools
