#include "scenarios/records/pytorch/files.h"

#include "core/record/record_check.h"
#include "scenarios/records/pytorch/job.h"
#include "scenarios/records/pytorch/one_job.h"
#include "scenarios/records/pytorch/forms/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <set>
#include <sys/stat.h>
#include <thread>
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

// Stands for a number that no rank has.
constexpr Rank beyond_ranks = most_recorded_ranks;

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
  if (parsed != end || digits == name.size()) return std::nullopt;
  if (error != std::errc{} || result.rank >= most_recorded_ranks) result.rank = beyond_ranks;
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
    problem = error ? fmt::format("it cannot be read: {}", error.message())
                    : "it is larger than 256MiB, so it is not a dump of a flight recorder";
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) {
    problem = "it cannot be read";
    return std::nullopt;
  }
  return text;
}

using Folders = std::map<std::string, std::vector<DumpFile>>;

// Whether files of one prefix are of one job: each folder has ranks of its own, and most ranks are in one folder alone.
bool are_one_job(const Folders& folders) {
  std::map<Rank, std::set<std::string>> places;
  for (const auto& [folder, files] : folders)
    for (const DumpFile& file : files) places[file.rank].insert(folder);
  std::set<std::string> own;
  std::size_t doubled = 0;
  for (const auto& [rank, in] : places) {
    if (in.size() == 1) own.insert(*in.begin());
    if (in.size() > 1) ++doubled;
  }
  return own.size() == folders.size() && doubled < places.size() - doubled;
}

std::optional<std::int64_t> written_at(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return std::nullopt;
  return std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec;
}

// Adds it to the first job that has a file beside it with the same beginning of the name, if it is a dump.
void add_unnamed(const std::string& path, std::vector<DumpedJob>& jobs) {
  const fs::path of = path;
  for (DumpedJob& job : jobs)
    for (const DumpFile& file : job.files) {
      const std::optional<Named> name = named(file.path);
      if (!name || name->prefix.empty() || fs::path(file.path).parent_path() != of.parent_path()) continue;
      if (!of.filename().string().starts_with(name->prefix)) continue;
      if (is_dump_file(path)) job.unnamed.push_back(path);
      return;
    }
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
  std::map<std::string, Folders> by_prefix;
  std::vector<DumpedJob> jobs;
  for (const std::string& path : files) {
    if (const auto name = named(path)) {
      const auto [prefix, host] = without_host(name->prefix);
      by_prefix[prefix][fs::path(path).parent_path().string()].push_back({path, name->rank, host});
    } else {
      jobs.push_back({fs::path(path).filename().string(), {{path, 0, ""}}, {}});
    }
  }
  const auto add = [&jobs](std::string name, std::vector<DumpFile> found) {
    if (found.size() == 1 && found.front().rank == beyond_ranks) found.front().rank = 0;
    std::sort(found.begin(), found.end(), [](const DumpFile& a, const DumpFile& b) { return a.rank < b.rank; });
    jobs.push_back({std::move(name), std::move(found), {}});
  };
  for (auto& [prefix, folders] : by_prefix) {
    if (are_one_job(folders)) {
      std::vector<DumpFile> all;
      for (const auto& [folder, found] : folders) all.insert(all.end(), found.begin(), found.end());
      add(job_name(prefix, folders.begin()->first), std::move(all));
    } else {
      for (auto& [folder, found] : folders) add(folder, std::move(found));
    }
  }
  return jobs;
}

std::vector<DumpedJob> jobs_below(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> candidates, unnamed;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error))
    if (it->is_regular_file(error)) (named(it->path()) ? candidates : unnamed).push_back(it->path().string());
  std::sort(candidates.begin(), candidates.end());
  std::sort(unnamed.begin(), unnamed.end());
  std::set<std::string> prefixes;
  for (const std::string& path : candidates)
    if (is_dump_file(path)) prefixes.insert(without_host(named(path)->prefix).first);
  std::vector<std::string> files;
  for (const std::string& path : candidates)
    if (prefixes.count(without_host(named(path)->prefix).first) != 0) files.push_back(path);
  std::vector<DumpedJob> jobs = jobs_of(files);
  for (const std::string& path : unnamed) add_unnamed(path, jobs);
  return jobs;
}

namespace {

Result<Dump> read_dump(const DumpFile& file) {
  if (file.rank == beyond_ranks)
    return Error{Code::input_invalid,
                 fmt::format("the number in its name is above {}, the highest rank that is read", most_recorded_ranks - 1),
                 {}};
  std::string problem;
  std::optional<std::string> text = content_of(file.path, problem);
  if (!text) return Error{Code::input_invalid, problem, {}};
  if (text->empty()) return Error{Code::input_invalid, "the file is empty", {}};
  const Result<Tree> tree = read_tree(std::move(*text));
  if (!tree.ok()) return tree.error();
  Result<Dump> dump = dump_of(*tree, file.rank);
  if (!dump.ok()) return dump;
  dump->host = file.host;
  dump->file = file.path;
  dump->written_ns = written_at(file.path);
  return dump;
}

void add_parts(const Dump& dump, std::vector<LeftOutFile>& left_out) {
  const auto add = [&](std::string what) { left_out.push_back({dump.file, dump.rank, std::move(what), false}); };
  for (const std::string& what : dump.left_out.named()) add(what);
  if (const std::size_t more = dump.left_out.count() - dump.left_out.named().size(); more > 0)
    add(fmt::format("{} more", more));
}

// In the order of the files, on the cores of this machine: a job of a thousand ranks has hundreds of megabytes.
std::vector<Result<Dump>> read_dumps(const std::vector<DumpFile>& files) {
  constexpr std::size_t files_a_thread = 8, most_threads = 16;
  std::vector<Result<Dump>> dumps(files.size(), Result<Dump>(Dump{}));
  std::atomic<std::size_t> next = 0;
  const auto read = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) dumps[i] = read_dump(files[i]);
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = std::min({cores, files.size() / files_a_thread, most_threads});
  std::vector<std::future<void>> others;
  for (std::size_t t = 1; t < threads; ++t) others.push_back(std::async(read));
  read();
  for (std::future<void>& other : others) other.get();
  return dumps;
}

}  // namespace

ReadJob read_job(const DumpedJob& job) {
  ReadJob read;
  std::vector<Result<Dump>> dumps = read_dumps(job.files);
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    const DumpFile& file = job.files[i];
    Result<Dump>& dump = dumps[i];
    if (dump.ok()) {
      read.dumps.push_back(std::move(*dump));
      continue;
    }
    read.left_out.push_back({file.path, file.rank == beyond_ranks ? no_rank : file.rank, dump.error().message});
    read.unreadable.push_back(file.rank);
  }
  for (const std::string& path : job.unnamed)
    read.left_out.push_back({path, no_rank, "its name does not end in a rank, as nccl_trace_rank_3 does: rename it if it belongs to the job"});
  leave_out_far_times(read.dumps);
  keep_one_job(read.dumps, read.left_out);
  for (const Dump& dump : read.dumps) add_parts(dump, read.left_out);
  return read;
}

}  // namespace pdsim::scenarios::pytorch
