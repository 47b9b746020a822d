#include "backends/launch/launch.h"

#include "backends/launch/launched_rank.h"
#include "backends/launch/launched_records.h"
#include "backends/launch/rank_environment.h"
#include "backends/net/reserved_port.h"
#include "backends/os/process_tree.h"
#include "backends/os/real_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace pdsim {
namespace {

using namespace literals;

class LaunchedJob {
 public:
  explicit LaunchedJob(const LaunchOptions& options) : options_(options) {}
  // Processes that still run when the start fails are ended like all others.
  ~LaunchedJob() { end_rest(); }

  Status start() {
    Result<Listener> port = reserve_port();
    if (!port.ok()) return port.error();
    port_ = std::move(*port);
    Result<LaunchedRecords> records = LaunchedRecords::make(options_.ranks, options_.records);
    if (!records.ok()) return records.error();
    records_ = std::move(*records);
    std::vector<std::string> base = own_environment();
    if (options_.take_slots != nullptr) {
      auto slots = options_.take_slots(options_.ranks, signals_.former(), [this] { return signals_.arrived(); });
      if (!slots.ok()) return slots.error();
      slots_ = std::move(*slots);
    }
    for (const ProcessLook& look : processes_below(getpid())) helpers_.push_back(look.pid);
    for (int rank = 0; rank < options_.ranks; ++rank) {
      if (slots_) base = slots_->environment(rank);
      auto started = LaunchedRank::start(options_.command, rank, signals_.former(),
                                         launched_environment(base, slots_ != nullptr, rank, options_.ranks, port_.port,
                                                              records_.path_of(static_cast<std::size_t>(rank))));
      if (!started.ok()) return started.error();
      ranks_.push_back(std::move(*started));
    }
    ended_.resize(ranks_.size());
    outcomes_.resize(ranks_.size());
    stopped_since_.resize(ranks_.size(), Time::max());
    last_news_ = clock_.now();
    return {};
  }

  LaunchOutcome run() {
    while (!all_ended()) {
      wait_a_little();
      if (signals_.arrived() && !ending_) begin_end();
      look_at_all();
      out_.flush_some();
      err_.flush_some();
      look_for_stopped();
      if (!ending_) look_for_quiet();
      if (ending_ && clock_.now() >= ends_by_) signal_all(SIGKILL);
    }
    end_rest();
    for (LaunchedRank& rank : ranks_) rank.finish(out_, err_);
    const auto interrupted = [this] { return signals_.arrived() && ending_by_signal_; };
    out_.drain(interrupted);
    err_.drain(interrupted);
    LaunchOutcome outcome{status_, problem(), std::move(outcomes_), told_};
    for (std::size_t r = 0; r < ranks_.size(); ++r) outcome.ranks[r].ring = records_.read(r);
    return outcome;
  }

 private:
  Status problem() const {
    if (!cannot_execute_.empty()) return Error{Code::input_invalid, cannot_execute_, {}};
    if (ending_by_signal_) return Error{Code::cancelled, "the job was interrupted", {}};
    if (out_.error() != 0)
      return Error{Code::io_error, fmt::format("cannot write to standard output: {}", strerror(out_.error())), {}};
    return {};
  }

  bool all_ended() const {
    return std::all_of(ended_.begin(), ended_.end(), [](const auto& e) { return e.has_value(); });
  }
  bool is_helper(pid_t pid) const { return std::find(helpers_.begin(), helpers_.end(), pid) != helpers_.end(); }
  void tell(const std::string& line) { err_.add(fmt::format("pdsim: {}\n", line)); }

  // Until somebody prints or ends, or a signal comes; a short time, so that stops and quiet are seen.
  void wait_a_little() {
    constexpr int look_ms = 100, ending_ms = 10;
    std::vector<pollfd> waiting{{signals_.fd(), POLLIN, 0}};
    for (const LaunchedRank& rank : ranks_) rank.add_to(waiting, !out_.full(), !err_.full());
    for (const LineSink* sink : {&out_, &err_})
      if (!sink->empty()) waiting.push_back({sink->fd(), POLLOUT, 0});
    poll(waiting.data(), waiting.size(), ending_ ? ending_ms : look_ms);
  }

  void look_at_all() {
    std::vector<std::size_t> failed;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const auto end = ranks_[r].ended();  // before reading, so that all it has printed is read below
      if (ranks_[r].read(out_, err_)) last_news_ = clock_.now();
      if (ended_[r] || !end) continue;
      while (!out_.full() && !err_.full() && ranks_[r].read(out_, err_)) {
      }
      ended_[r] = end;
      if (!ending_) outcomes_[r].ended = end;
      last_news_ = clock_.now();
      if (const int why = ranks_[r].exec_error(); why != 0 && !ending_) {
        cannot_execute_ = fmt::format("cannot execute {}: {}", options_.command.front(), strerror(why));
        return begin_end();
      }
      if (status_of(*end) != 0) failed.push_back(r);
    }
    if (ending_ || failed.empty()) return;
    // If several are found at once, one that a signal has ended is the likelier cause of the others.
    std::stable_partition(failed.begin(), failed.end(), [this](std::size_t r) { return ended_[r]->signal != 0; });
    for (const std::size_t r : failed) tell(fmt::format("rank {} {}{}", r, how(*ended_[r]), records_.last_call(r)));
    end_the_others(failed.front(), status_of(*ended_[failed.front()]));
  }

  void look_for_stopped() {
    for (std::size_t r = 0; r < ranks_.size() && !ending_; ++r) {
      const bool stopped = !ended_[r] && ranks_[r].stopped();
      if (!stopped) stopped_since_[r] = Time::max();
      if (stopped && stopped_since_[r] == Time::max()) stopped_since_[r] = clock_.now();
      if (!stopped || clock_.now() - stopped_since_[r] < options_.patience) continue;
      outcomes_[r].stopped = true;
      tell(fmt::format("rank {} has been stopped by a signal for {}{}", r, to_string(options_.patience),
                       records_.last_call(r)));
      end_the_others(r, 128 + SIGSTOP);
    }
  }

  static int status_of(const Ended& end) { return end.signal != 0 ? 128 + end.signal : end.exit_status; }

  static std::string how(const Ended& end) {
    return end.signal != 0 ? fmt::format("was ended by signal {} ({})", end.signal, strsignal(end.signal))
                           : fmt::format("ended with exit status {}", end.exit_status);
  }

  void end_the_others(std::size_t because, int status) {
    status_ = status;
    for (std::size_t r = 0; r < outcomes_.size(); ++r)
      if (!ended_[r] && r != because) outcomes_[r].ended_by = static_cast<int>(because);
    std::string left;
    for (std::size_t r = 0; r < ended_.size(); ++r)
      if (!ended_[r] && r != because) left += fmt::format("{}{}", left.empty() ? "" : ", ", r);
    if (!left.empty()) tell("ending the other ranks: " + left);
    begin_end();
    ending_by_signal_ = false;
  }

  void begin_end() {
    ending_ = ending_by_signal_ = true;
    ends_by_ = clock_.now() + options_.grace;
    signal_all(SIGTERM);
  }

  void signal_all(int number) {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (!ended_[r]) ranks_[r].signal(number);
    for (const ProcessLook& look : processes_below(getpid())) {
      const bool is_rank =
          std::any_of(ranks_.begin(), ranks_.end(), [&](auto& rank) { return rank.pid() == look.pid; });
      if (is_helper(look.pid) || ends_by_itself(look)) continue;
      if (!is_rank) kill(look.pid, number);
      kill(look.pid, SIGCONT);
    }
  }

  // Ends the processes that the ranks have left behind, after the ranks and the library's own launcher are gone.
  void end_rest() {
    ranks_end();
    slots_.reset();
    const Time left = ending_ ? std::max(ends_by_ - clock_.now(), Time{}) : options_.grace;
    end_all_below(static_cast<int>(left.ns() / 1'000'000));
  }

  // Only where some still run: the start has failed.
  void ranks_end() {
    for (LaunchedRank& rank : ranks_)
      if (!rank.ended()) rank.signal(SIGKILL);
    while (std::any_of(ranks_.begin(), ranks_.end(), [](LaunchedRank& rank) { return !rank.ended(); }))
      poll(nullptr, 0, 1);
  }

  void look_for_quiet() {
    const Time now = clock_.now();
    if (now - last_look_ < std::min(Time{options_.patience.ps / 4}, Time{1_s})) return;
    last_look_ = now;
    const std::vector<ProcessLook> below = processes_below(getpid());
    std::int64_t ticks = 0;
    for (const ProcessLook& look : below)
      if (!is_helper(look.pid)) ticks += look.ticks;
    if (ticks != ticks_) last_news_ = now;
    ticks_ = ticks;
    const bool still = records_stand_still(now), idle = now - last_news_ >= options_.patience;
    if (!idle && !still) told_ = false;
    if (told_ || (!idle && (!still || looked_for_waits_))) return;
    looked_for_waits_ = true;
    const std::string waits = recorded_ > 0 ? who_waits() : std::string();
    if (!idle && waits.empty()) return;
    told_ = true;
    tell(fmt::format("no rank has {} for {}: {}", idle ? "computed or printed anything" : "begun or ended a call",
                     to_string(options_.patience), states(below)));
    if (!waits.empty()) tell(waits);
  }

  bool records_stand_still(Time now) {
    std::uint64_t recorded = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) recorded += records_.progress(r);
    if (recorded != recorded_) {
      last_record_ = now;
      looked_for_waits_ = false;
    }
    recorded_ = recorded;
    return recorded > 0 && now - last_record_ >= options_.patience;
  }

  std::string who_waits() const {
    if (!options_.explain) return {};
    LaunchOutcome now{0, {}, outcomes_, true};
    for (std::size_t r = 0; r < now.ranks.size(); ++r) now.ranks[r].ring = records_.read(r);
    return options_.explain(now);
  }

  std::string states(const std::vector<ProcessLook>& below) {
    std::string text;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const auto look =
          std::find_if(below.begin(), below.end(), [&](const ProcessLook& l) { return l.pid == ranks_[r].pid(); });
      const bool stopped = look != below.end() && (look->state == 'T' || look->state == 't');
      const std::string_view state = ended_[r]                      ? "is done"
                                     : stopped                      ? "is stopped"
                                     : records_.is_between_calls(r) ? "is outside any collective"
                                                                    : "waits";
      text += fmt::format("{}rank {} {}", r == 0 ? "" : ", ", r, state);
      if (!ended_[r] && look != below.end()) text += fmt::format(" (process {}{})", look->pid, records_.last_call(r));
    }
    return text;
  }

  const LaunchOptions& options_;
  HeldSignals signals_;
  const RealRuntime clock_;
  Listener port_;
  std::unique_ptr<Slots> slots_;
  std::vector<pid_t> helpers_;  // of the slots
  LaunchedRecords records_;
  std::vector<LaunchedRank> ranks_;
  std::vector<RankOutcome> outcomes_;
  std::vector<std::optional<Ended>> ended_;
  std::vector<Time> stopped_since_;
  LineSink out_{options_.all_to_stderr ? STDERR_FILENO : STDOUT_FILENO}, err_{STDERR_FILENO};
  int status_ = 0;
  std::string cannot_execute_;
  bool ending_ = false, ending_by_signal_ = false;
  Time ends_by_{};
  Time last_news_{}, last_look_{};
  std::int64_t ticks_ = 0;
  Time last_record_{};
  std::uint64_t recorded_ = 0;
  bool looked_for_waits_ = false;  // and nobody was found, or it is told
  bool told_ = false;
};

}  // namespace

std::string program_problem(const std::string& program) {
  if (program.empty()) return "the program has no name";
  const bool is_path = program.find('/') != std::string::npos;
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  std::string found;
  for (bool first = true; first || (!is_path && !rest.empty()); first = false) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = is_path ? program : fmt::format("{}/{}", rest.substr(0, end), program);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    struct stat about {};
    if (stat(candidate.c_str(), &about) != 0) continue;
    const bool is_file = S_ISREG(about.st_mode);
    if (is_file && access(candidate.c_str(), X_OK) == 0) return "";
    if (found.empty() && (is_file || is_path))
      found = fmt::format("{} is {}", candidate, is_file ? "not executable" : "not a file");
  }
  if (!found.empty()) return found;
  return is_path ? fmt::format("there is no program {}", program)
                 : fmt::format("there is no program `{}` in PATH", program);
}

Result<LaunchOutcome> launch_ranks(const LaunchOptions& options,
                                   const std::function<void(const LaunchOutcome&)>& at_end) {
  LaunchedJob job(options);
  PDSIM_TRY(job.start());
  LaunchOutcome outcome = job.run();
  if (at_end) at_end(outcome);
  return outcome;
}

}  // namespace pdsim
