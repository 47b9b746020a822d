#include "scenarios/records/pytorch/files.h"

#include "scenarios/records/pytorch/job.h"
#include "scenarios/records/pytorch/pickle.h"
#include "scenarios/records/pytorch/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace pdsim::scenarios::pytorch {
namespace {

namespace fs = std::filesystem;

struct Named {
  std::string prefix;
  Rank rank = 0;
};

// The prefix without the host that it ends with, and that host: "nccl_trace_rank_" and "node07" of "nccl_trace_rank_node07_".
std::pair<std::string, std::string> without_host(const std::string& prefix) {
  constexpr std::string_view word = "rank_";
  const std::size_t at = prefix.rfind(word);
  if (at == std::string::npos || at + word.size() + 1 >= prefix.size() || !prefix.ends_with('_')) return {prefix, ""};
  const std::size_t host = at + word.size();
  return {prefix.substr(0, host), prefix.substr(host, prefix.size() - host - 1)};
}

// "nccl_trace_rank_3.json": prefix nccl_trace_rank_, rank 3.
std::optional<Named> named(const fs::path& path) {
  constexpr std::array endings{".json", ".pkl", ".pickle", ".bin"};
  std::string name = path.filename().string();
  for (const char* ending : endings)
    if (name.ends_with(ending)) {
      name.resize(name.size() - std::string_view(ending).size());
      break;
    }
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  Named result{name.substr(0, digits), 0};
  const char* const end = name.data() + name.size();
  const auto [parsed, error] = std::from_chars(name.data() + digits, end, result.rank);
  if (error != std::errc{} || parsed != end || digits == name.size()) return std::nullopt;
  return result;
}

std::string job_name(std::string prefix, const fs::path& folder) {
  while (!prefix.empty() && (prefix.back() == '_' || prefix.back() == '-' || prefix.back() == '.')) prefix.pop_back();
  if (!prefix.empty()) return prefix;
  const std::string name = folder.filename().string();
  return name.empty() ? "job" : name;
}

std::optional<std::string> content_of(const std::string& path, std::string& problem) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > most_pickle_bytes) {
    problem = error ? fmt::format("cannot read {}: {}", path, error.message())
                    : fmt::format("{} is larger than 256MiB, which no dump of a flight recorder is", path);
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) {
    problem = fmt::format("cannot read {}", path);
    return std::nullopt;
  }
  return text;
}

std::optional<std::int64_t> written_at(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return std::nullopt;
  return std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec;
}

}  // namespace

bool is_dump_file(const std::string& path) {
  std::array<char, 4096> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<std::size_t>(file.gcount()));
  if (!looks_like_dump(text) || text.find("\"event\"") != std::string_view::npos) return false;
  return text.find("pg_config") != std::string_view::npos || text.find("pg_status") != std::string_view::npos ||
         text.find("entries") != std::string_view::npos;
}

std::vector<DumpedJob> jobs_of(const std::vector<std::string>& files) {
  using Folders = std::map<std::string, std::vector<DumpFile>>;
  std::map<std::string, Folders> by_prefix;
  std::vector<DumpedJob> jobs;
  for (const std::string& path : files) {
    if (const auto name = named(path)) {
      const auto [prefix, host] = without_host(name->prefix);
      by_prefix[prefix][fs::path(path).parent_path().string()].push_back({path, name->rank, host});
    } else {
      jobs.push_back({fs::path(path).filename().string(), {{path, 0, ""}}});
    }
  }
  const auto add = [&jobs](std::string name, std::vector<DumpFile> found) {
    std::sort(found.begin(), found.end(), [](const DumpFile& a, const DumpFile& b) { return a.rank < b.rank; });
    jobs.push_back({std::move(name), std::move(found)});
  };
  for (auto& [prefix, folders] : by_prefix) {
    std::set<Rank> ranks;
    std::vector<DumpFile> all;
    for (const auto& [folder, found] : folders)
      for (const DumpFile& file : found) {
        ranks.insert(file.rank);
        all.push_back(file);
      }
    if (ranks.size() == all.size()) {
      add(job_name(prefix, folders.begin()->first), std::move(all));
    } else {
      for (auto& [folder, found] : folders) add(folder, std::move(found));
    }
  }
  return jobs;
}

std::vector<DumpedJob> jobs_below(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> candidates;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error))
    if (it->is_regular_file(error) && named(it->path())) candidates.push_back(it->path().string());
  std::sort(candidates.begin(), candidates.end());
  std::set<std::string> prefixes;
  for (const std::string& path : candidates)
    if (is_dump_file(path)) prefixes.insert(without_host(named(path)->prefix).first);
  std::vector<std::string> files;
  for (const std::string& path : candidates)
    if (prefixes.count(without_host(named(path)->prefix).first) != 0) files.push_back(path);
  return jobs_of(files);
}

ReadJob read_job(const DumpedJob& job) {
  ReadJob read;
  std::vector<std::string> paths;  // of the dumps
  for (const DumpFile& file : job.files) {
    std::string problem;
    std::optional<std::string> text = content_of(file.path, problem);
    if (!text) {
      read.problems.push_back(problem);
      read.unreadable.push_back(file.rank);
      continue;
    }
    const Result<Tree> tree =
        text->empty() ? Error{Code::input_invalid, "the file is empty", {}} : read_tree(std::move(*text));
    Result<Dump> dump = tree.ok() ? dump_of(*tree, file.rank) : Result<Dump>(tree.error());
    if (dump.ok()) {
      paths.push_back(file.path);
      dump->host = file.host;
      dump->written_ns = written_at(file.path);
      read.dumps.push_back(std::move(*dump));
    } else {
      read.problems.push_back(fmt::format("{}: {}", file.path, dump.error().message));
      read.unreadable.push_back(file.rank);
    }
  }
  leave_out_far_times(read.dumps);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const LeftOut& left_out = read.dumps[i].left_out;
    for (const std::string& what : left_out.named())
      read.problems.push_back(fmt::format("{}: {}; left out", paths[i], what));
    if (const std::size_t more = left_out.count() - left_out.named().size(); more > 0)
      read.problems.push_back(fmt::format("{}: {} more left out", paths[i], more));
  }
  leave_out_stale(read.dumps, read.remarks);
  return read;
}

}  // namespace pdsim::scenarios::pytorch
