#include "scenarios/guests/real/watched_job.h"

#include "backends/launch/launch.h"
#include "backends/launch/rank_environment.h"
#include "backends/os/process_tree.h"
#include "scenarios/guests/guest_process.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

using namespace literals;
namespace fs = std::filesystem;

constexpr int end_grace_ms = 2000;
// After a rank has failed: how long the others may do nothing before they are ended too. Gloo tells them at once.
constexpr Time after_failure = 3_s;

bool is_stopped_process(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() &&
         (text[name_end + 2] == 'T' || text[name_end + 2] == 't');
}

std::string name_of_this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

bool ended_badly(const std::optional<Ended>& end) { return end && (end->signal != 0 || end->exit_status != 0); }

bool has_goodbye(const RecordedProcess& process) {
  return std::any_of(process.requests.begin(), process.requests.end(),
                     [](const RecordedRequest& r) { return r.request.kind == Request::Kind::goodbye; });
}

}  // namespace

Result<std::unique_ptr<WatchedJob>> WatchedJob::start(const JobOptions& options, const std::string& folder) {
  std::unique_ptr<WatchedJob> job(new WatchedJob(options));
  PDSIM_TRY(job->begin(folder));
  return job;
}

WatchedJob::~WatchedJob() { end_all(); }

Status WatchedJob::begin(const std::string& folder) {
  Result<Listener> port = reserve_port();
  if (!port.ok()) return port.error();
  port_ = std::move(*port);
  folder_ = folder;
  if (folder_.empty()) {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    if (!made.ok()) return made.error();
    temporary_.emplace(std::move(*made));
    folder_ = temporary_->path();
  }
  for (int rank = 0; rank < options_.ranks; ++rank) PDSIM_TRY(start_process(rank));
  if (starts_its_ranks_itself()) PDSIM_TRY(start_process(-1));
  ended_.resize(processes_.size());
  return {};
}

Status WatchedJob::start_process(int rank) {
  std::vector<std::string> environment = own_environment();
  if (rank >= 0) {
    environment = launched_environment(environment, false, rank, options_.ranks, port_.port, "");
    environment.push_back(fmt::format("PDSIM_GUEST_SLOT={}", rank));
  }
  put_package_first(environment, options_.package);
  std::erase_if(environment, [](const std::string& variable) {
    return variable.starts_with("PDSIM_GUEST=") || variable.starts_with("PDSIM_RECORD=");
  });
  environment.push_back(fmt::format("PDSIM_RECORD={}", folder_));
  environment.emplace_back("PDSIM_WATCHED=1");
  environment.emplace_back("PYTHONUNBUFFERED=1");
  auto started = LaunchedRank::start(options_.command, rank, signals_.former(), environment);
  if (!started.ok()) return started.error();
  processes_.push_back(std::make_unique<LaunchedRank>(std::move(*started)));
  return {};
}

void WatchedJob::wait_a_little() {
  constexpr int look_ms = 100;
  std::vector<pollfd> waiting{{signals_.fd(), POLLIN, 0}};
  for (const auto& process : processes_) process->add_to(waiting, !out_.full(), !err_.full());
  for (const LineSink* sink : {&out_, &err_})
    if (!sink->empty()) waiting.push_back({sink->fd(), POLLOUT, 0});
  poll(waiting.data(), waiting.size(), look_ms);
}

void WatchedJob::look_at_processes() {
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    const std::optional<Ended> end = processes_[p]->ended();
    processes_[p]->read(out_, err_);
    if (ended_[p] || !end) continue;
    if (const int why = processes_[p]->exec_error(); why != 0)
      cannot_execute_ = fmt::format("cannot execute {}: {}", options_.command.front(), strerror(why));
    while (!out_.full() && !err_.full() && processes_[p]->read(out_, err_)) {
    }
    ended_[p] = end;
  }
  out_.flush_some();
  err_.flush_some();
}

bool WatchedJob::look_at_records() {
  bool moved = false;
  for (const std::string& path : records_below(folder_)) {
    if (records_.contains(path)) continue;
    Result<SharedMemory> file = SharedMemory::look_at(path);
    if (!file.ok()) continue;
    const Result<RecordedProcess> process = read_record(file->bytes());
    const bool is_here = process.ok() && process->host == name_of_this_host();
    records_.emplace(path, Seen{std::move(*file), 0, is_here ? static_cast<pid_t>(process->pid) : 0});
  }
  for (auto& [path, seen] : records_) {
    const std::uint64_t progress = record_progress(seen.file.bytes());
    moved = moved || progress != seen.progress;
    seen.progress = progress;
  }
  return moved;
}

bool WatchedJob::all_ended() const {
  return std::all_of(ended_.begin(), ended_.end(), [](const auto& e) { return e.has_value(); });
}

bool WatchedJob::one_failed() const {
  if (std::any_of(ended_.begin(), ended_.end(), ended_badly)) return true;
  if (!starts_its_ranks_itself()) return false;
  return std::any_of(records_.begin(), records_.end(), [](const auto& record) {
    const Seen& seen = record.second;
    if (seen.pid <= 0 || fs::exists(fmt::format("/proc/{}", seen.pid))) return false;
    const Result<RecordedProcess> process = read_record(seen.file.bytes());
    return process.ok() && !has_goodbye(*process);
  });
}

std::vector<RecordedProcess> WatchedJob::read_records() const {
  std::vector<RecordedProcess> processes;
  for (const auto& [path, seen] : records_) {
    Result<RecordedProcess> process = read_record(seen.file.bytes());
    if (!process.ok()) continue;
    process->path = path;
    processes.push_back(std::move(*process));
  }
  return processes;
}

FoundProcess WatchedJob::fate_of(const RecordedProcess& process) const {
  FoundProcess fate;
  const auto rank = static_cast<std::size_t>(process.rank);
  if (!starts_its_ranks_itself()) {
    if (process.rank >= 0 && rank < ended_.size()) fate.ended = ended_[rank];
  } else if (process.pid > 0 && process.host == name_of_this_host() &&
             !fs::exists(fmt::format("/proc/{}", process.pid)) && !has_goodbye(process)) {
    fate.ended = Ended{0, SIGKILL};
  }
  if (fate.ended) return fate;
  const auto pid = static_cast<pid_t>(process.pid);
  fate.stopped = process.host == name_of_this_host() && is_stopped_process(pid);
  fate.silent = true;
  if (const auto stack = stacks_.find(pid); stack != stacks_.end()) fate.stack = stack->second;
  return fate;
}

// Calls are open. A rank that has ended waits for nobody.
bool WatchedJob::somebody_waits() const {
  WatchedEnd now;
  now.ranks = options_.ranks;
  now.quiet = true;
  std::vector<RecordedProcess> processes = read_records();
  for (const RecordedProcess& process : processes) {
    now.fates.push_back(fate_of(process));
    now.fates.back().silent = false;
  }
  const Result<RecordedRun> run = recorded_run(std::move(processes), now);
  return run.ok() && run->saved.run.deadlocked;
}

void WatchedJob::ask_for_stacks() {
  std::vector<pid_t> asked;
  for (const auto& [path, seen] : records_) {
    const std::string stack = fmt::format("{}/stack.{}", folder_, seen.pid);
    if (seen.pid <= 0 || access(stack.c_str(), F_OK) != 0 || is_stopped_process(seen.pid)) continue;  // it would end it
    if (kill(seen.pid, SIGUSR2) == 0) asked.push_back(seen.pid);
  }
  for (const Time since = clock_.now(); stacks_.size() < asked.size() && clock_.now() - since < 2_s;) {
    wait_a_little();
    look_at_processes();
    for (const pid_t pid : asked) {
      std::vector<StackFrame> stack = stack_written_to(fmt::format("{}/stack.{}", folder_, pid));
      if (!stack.empty()) stacks_[pid] = std::move(stack);
    }
  }
}

Result<std::optional<RecordedRun>> WatchedJob::run() {
  Time moved = clock_.now(), looked = moved;
  std::optional<Time> failed;
  for (;;) {
    wait_a_little();
    look_at_processes();
    if (signals_.arrived()) {
      end_all();
      return Error{Code::cancelled, "the run was interrupted", {}};
    }
    if (look_at_records()) moved = clock_.now();
    if (all_ended()) return collect(false);
    const Time now = clock_.now();
    if (!failed && one_failed()) failed = now;
    if (failed && now - std::max(*failed, moved) >= after_failure) return collect(true);
    if (now - moved < options_.patience || now - looked < 1_s) continue;
    looked = now;
    if (!somebody_waits()) continue;
    ask_for_stacks();
    return collect(true);
  }
}

Result<std::optional<RecordedRun>> WatchedJob::collect(bool quiet) {
  look_at_records();
  WatchedEnd end;
  end.quiet = quiet;
  end.ranks = options_.ranks;
  std::vector<RecordedProcess> processes = read_records();
  for (const RecordedProcess& process : processes) {
    end.fates.push_back(fate_of(process));
    end.fates.back().silent = quiet && !stacks_.empty();
  }
  end_all();
  if (!cannot_execute_.empty()) return Error{Code::input_invalid, cannot_execute_, {}};
  if (signals_.arrived()) return Error{Code::cancelled, "the run was interrupted", {}};
  if (processes.empty()) return std::optional<RecordedRun>();
  Result<RecordedRun> run = recorded_run(std::move(processes), end);
  if (!run.ok()) return run.error();
  return std::optional<RecordedRun>(std::move(*run));
}

void WatchedJob::end_all() {
  if (std::exchange(over_, true)) return;
  const std::vector<std::optional<Ended>> by_themselves = ended_;
  for (const auto& process : processes_) {
    if (process->ended()) continue;
    process->signal(SIGCONT);
    process->signal(SIGTERM);
  }
  for (const Time since = clock_.now(); !all_ended() && clock_.now() - since < Time{1_ms} * end_grace_ms;) {
    wait_a_little();
    look_at_processes();
  }
  for (const auto& process : processes_)
    if (!process->ended()) process->signal(SIGKILL);
  while (std::any_of(processes_.begin(), processes_.end(), [](const auto& process) { return !process->ended(); }))
    poll(nullptr, 0, 1);
  records_.clear();
  temporary_.reset();  // and its keeper, which is below this process too
  end_all_below(end_grace_ms);
  for (const auto& process : processes_) process->finish(out_, err_);
  const auto interrupted = [this] { return signals_.arrived(); };
  out_.drain(interrupted);
  err_.drain(interrupted);
  ended_ = by_themselves;
}

}  // namespace pdsim::scenarios::guests
