#include "scenarios/guests/real/recorded_run.h"

#include "core/record/record_check.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t quiet_ns = 5 * second_ns;   // a job that has recorded nothing for so long gets nowhere
constexpr std::int64_t silent_ns = 2 * second_ns;  // processes say ten times a second that they live

std::string boot_of_this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

bool said_goodbye(const RecordedProcess& process) {
  return std::any_of(process.requests.begin(), process.requests.end(), [](const RecordedRequest& r) {
    return r.request.kind == Request::Kind::goodbye || r.request.kind == Request::Kind::raised;
  });
}

std::int64_t newest_ns(const RecordedProcess& process) {
  return process.requests.empty() ? process.began_ns : process.requests.back().at_ns;
}

std::int64_t last_sign_ns(const RecordedProcess& process) { return std::max(process.alive_ns, newest_ns(process)); }

// The newest record of each rank; index into `processes`.
std::map<Rank, std::size_t> newest_of_each(const std::vector<RecordedProcess>& processes,
                                           std::vector<std::string>& remarks) {
  std::map<Rank, std::size_t> chosen;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const RecordedProcess& process = processes[p];
    if (process.rank < 0 || process.rank >= most_recorded_ranks) {
      remarks.push_back(fmt::format("{}: the process never announced its rank; left out", process.path));
      continue;
    }
    const auto [known, is_first] = chosen.emplace(static_cast<Rank>(process.rank), p);
    if (is_first) continue;
    const bool is_newer = process.began_ns > processes[known->second].began_ns;
    const std::size_t older = is_newer ? known->second : p;
    if (is_newer) known->second = p;
    remarks.push_back(fmt::format("{}: an earlier record of rank {}; left out", processes[older].path, process.rank));
  }
  return chosen;
}

int size_of_job(const std::vector<RecordedProcess>& processes, const std::map<Rank, std::size_t>& chosen, int known) {
  std::int64_t size = std::max<std::int64_t>(known, chosen.rbegin()->first + 1);
  for (const auto& [rank, p] : chosen)
    if (processes[p].size <= most_recorded_ranks) size = std::max(size, processes[p].size);
  return static_cast<int>(size);
}

void finish_run(RunRecord& run, bool quiet) {
  for (const RankResult& rank : run.ranks) {
    run.elapsed = std::max({run.elapsed, newest_moment(rank.log), rank.log.ended});
    run.events += static_cast<std::int64_t>(rank.log.calls.size() + rank.log.notes.size());
  }
  run.deadlocked = quiet;
  run.deadlock_at = quiet ? run.elapsed : Time{};
  run.wall_ns = run.elapsed.ns();
  run.watchdog.resize(run.ranks.size());
}

RankResult without_record(Rank rank) {
  RankResult none;
  none.log.rank = rank;
  none.log.notes.push_back({-1, {}, {}, notes::NoRecord{}});
  return none;
}

void tell_about(const RecordedProcess& process, RecordedRun& made) {
  if (made.backend.empty()) made.backend = process.backend;
  if (made.version.empty()) made.version = process.version;
}

bool saw_a_peer_go(const RecordedProcess& process) {
  return std::any_of(process.requests.begin(), process.requests.end(), [](const RecordedRequest& r) {
    return r.request.code == name_of(Code::peer_closed);
  });
}

bool sits_in_a_call(const RankLog& log) {
  const Call* call = sits_in(log, Time::max());
  return call != nullptr && (call->layer != Layer::program || call->name == "init_process_group" ||
                             call->name == "new_group" || call->name == "DistributedDataParallel");
}

// A job whose processes nobody has watched.
class UnwatchedJob {
 public:
  UnwatchedJob(const std::vector<RecordedProcess>& processes, std::int64_t now_ns)
      : processes_(processes), now_ns_(now_ns), boot_(boot_of_this_machine()) {
    for (const RecordedProcess& process : processes) {
      last_ns_ = std::max(last_ns_, last_sign_ns(process));
      newest_ns_ = std::max(newest_ns_, newest_ns(process));
      peer_gone_ = peer_gone_ || saw_a_peer_go(process);
    }
  }

  WatchedEnd end() const {
    WatchedEnd made;
    bool lives = false, failed = false;
    for (const RecordedProcess& process : processes_) {
      made.fates.push_back(fate_of(process));
      lives = lives || is_alive(process);
      failed = failed || made.fates.back().ended.has_value();
    }
    const std::int64_t until = lives ? std::max(now_ns_, last_ns_) : last_ns_;
    const bool silent = std::any_of(made.fates.begin(), made.fates.end(), [](const FoundProcess& f) { return f.silent; });
    made.quiet = !failed && (silent || until - newest_ns_ >= quiet_ns);
    return made;
  }

 private:
  bool is_here(const RecordedProcess& process) const { return !process.boot.empty() && process.boot == boot_; }
  bool is_alive(const RecordedProcess& process) const {
    const bool runs = is_here(process) && process.pid > 0 && process.pid <= std::numeric_limits<pid_t>::max() &&
                      fs::exists(fmt::format("/proc/{}", process.pid));
    return runs && now_ns_ - process.alive_ns < silent_ns;
  }

  FoundProcess fate_of(const RecordedProcess& process) const {
    FoundProcess fate;
    if (said_goodbye(process)) return fate;
    const bool before_others = last_ns_ - last_sign_ns(process) >= silent_ns;
    if (peer_gone_ && (before_others || is_gone_alone(process))) {
      fate.ended = Ended{0, SIGKILL};
    } else if (before_others) {
      fate.silent = true;
    }
    return fate;
  }

  // The only one that said nothing at its end.
  bool is_gone_alone(const RecordedProcess& process) const {
    return std::all_of(processes_.begin(), processes_.end(), [&](const RecordedProcess& other) {
      return &other == &process || said_goodbye(other);
    });
  }

  const std::vector<RecordedProcess>& processes_;
  std::int64_t now_ns_ = 0, last_ns_ = 0, newest_ns_ = 0;
  bool peer_gone_ = false;
  std::string boot_;
};

}  // namespace

std::vector<std::string> records_below(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error))
    if (is_record_name(it->path().filename().string())) found.push_back(it->path().string());
  std::sort(found.begin(), found.end());
  return found;
}

Result<RecordedRun> recorded_run(std::vector<RecordedProcess> processes, const WatchedEnd& end) {
  RecordedRun made;
  const std::map<Rank, std::size_t> chosen = newest_of_each(processes, made.remarks);
  if (chosen.empty())
    return Error{Code::input_invalid,
                 made.remarks.empty() ? "there is no record of a rank" : made.remarks.front(),
                 {}};
  std::int64_t epoch = std::numeric_limits<std::int64_t>::max();
  for (const auto& [rank, p] : chosen)
    epoch = std::min(epoch, processes[p].requests.empty() ? processes[p].began_ns : processes[p].requests.front().at_ns);
  RunRecord& run = made.saved.run;
  const int size = size_of_job(processes, chosen, end.ranks);
  bool waits = false;
  for (Rank rank = 0; rank < size; ++rank) {
    const auto found = chosen.find(rank);
    made.hosts.push_back(found == chosen.end() ? std::string() : processes[found->second].host);
    if (found == chosen.end()) {
      run.ranks.push_back(without_record(rank));
      continue;
    }
    const RecordedProcess& process = processes[found->second];
    const FoundProcess fate = found->second < end.fates.size() ? end.fates[found->second] : FoundProcess{};
    tell_about(process, made);
    ReplayedRank replay = replayed(process, rank, epoch, fate);
    made.saved.left_out.add(process.left_out, process.path);
    made.saved.left_out.add(replay.left_out, process.path);
    if (!replay.missing_module.empty()) made.missing_module = replay.missing_module;
    waits = waits || sits_in_a_call(replay.log);
    run.ranks.push_back({std::move(replay.log), {}});
  }
  for (RankResult& rank : run.ranks)
    std::erase_if(rank.log.calls, [&](const Call& call) {
      const auto problem = stranger_in(call, static_cast<std::size_t>(size));
      if (problem) made.saved.left_out.add(*problem);
      return problem.has_value();
    });
  finish_run(run, end.quiet && waits);
  return made;
}

Result<RecordedRun> recorded_run_at(const std::vector<std::string>& paths, std::int64_t now_ns) {
  std::vector<RecordedProcess> processes;
  LeftOut left_out;
  for (const std::string& path : paths) {
    Result<RecordedProcess> process = read_record_at(path);
    if (process.ok())
      processes.push_back(std::move(*process));
    else
      left_out.add(fmt::format("{}: {}", path, process.error().message));
  }
  if (processes.empty())
    return Error{Code::input_invalid, left_out.empty() ? "there is no record of a rank" : left_out.named().front(), {}};
  const WatchedEnd end = UnwatchedJob(processes, now_ns).end();
  Result<RecordedRun> made = recorded_run(std::move(processes), end);
  if (made.ok()) made->saved.left_out.add(left_out, "records");
  return made;
}

}  // namespace pdsim::scenarios::guests
