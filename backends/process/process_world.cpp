#include "backends/process/process_world.h"

#include "backends/os/files_below.h"
#include "backends/os/real_runtime.h"
#include "backends/os/temporary_folder.h"
#include "backends/process/job.h"
#include "backends/process/rank_process.h"
#include "backends/tcp_store/tcp_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <poll.h>

namespace pdsim {
namespace {

using namespace literals;

// One launch: all processes of it, from start to reaped.
class Launch {
 public:
  Launch(const ProcessWorldOptions& options, const RealRuntime& clock, HeldSignals& signals)
      : options_(options), clock_(clock), signals_(signals) {}

  Status start(int launch, const std::string& folder) {
    Result<Secret> secret = Secret::random();
    if (!secret.ok()) return secret.error();
    secret_ = std::move(*secret);
    if (options_.job != nullptr) return start_in_job(launch, folder);
    const Result<Listener> listener = listen_on_loopback();
    if (!listener.ok()) return listener.error();
    if (options_.take_slots != nullptr) {
      auto slots = options_.take_slots(options_.ranks, signals_.former(), [this] { return signals_.arrived(); });
      if (!slots.ok()) return slots.error();
      slots_ = std::move(*slots);
    }
    for (int rank = 0; rank < options_.ranks; ++rank) {
      RankStart word{rank, options_.ranks, launch, options_.patience, listener->port, clock_.start(), folder};
      word.store_secret = secret_;
      word.request = options_.request;
      Result<RankProcess> process =
          RankProcess::start(options_.command, word, rank == 0 ? listener->fd.get() : -1, signals_.former(),
                             options_.ring, slots_ ? slots_->environment(rank) : std::vector<std::string>{});
      if (!process.ok()) return process.error();
      ranks_.push_back(std::make_unique<RankProcess>(std::move(*process)));
    }
    last_progress_ = clock_.now();
    return {};
  }

  // Until every process has ended, nothing happens any more, or a signal came.
  Status run() {
    while (!all([](const WatchedRank& r) { return r.gone(); })) {
      if (signals_.arrived()) return Error{Code::cancelled, "the run was interrupted", {}};
      wait_a_little();
      look_at_all();
      if (end_together()) break;
      if (some_refused()) break;
      if (ends_all_ || clock_.now() - last_progress_ < limit()) continue;
      if (!all([](const WatchedRank& r) { return r.has_come_up() || r.gone(); }) && none_finished())
        return Error{Code::unavailable, "the rank processes did not come up: " + first_output(), {}};
      deadlocked_ = !all([](const WatchedRank& r) { return r.gone() || r.outcome().finished; });
      if (deadlocked_) ask_for_records();
      break;
    }
    for (const auto& rank : ranks_) rank->end();
    return {};
  }

  bool wants_relaunch() const {
    return all([](const WatchedRank& r) { return r.outcome().finished && r.outcome().relaunch != Relaunch::none; });
  }
  bool deadlocked() const { return deadlocked_; }
  Time last_progress() const { return last_progress_; }
  std::vector<RankOutcome> outcomes() const {
    std::vector<RankOutcome> all_outcomes;
    for (const auto& rank : ranks_) all_outcomes.push_back(rank->outcome());
    for (std::size_t r = 0; r < all_outcomes.size(); ++r) {
      RankOutcome& outcome = all_outcomes[r];
      outcome.ended_at = gone_at_[r].value_or(clock_.now());
      if (!outcome.finished && !outcome.ended) outcome.ended_by = ends_all_;
    }
    return all_outcomes;
  }

 private:
  // The store is served here, and agents start the ranks.
  Status start_in_job(int launch, const std::string& folder) {
    if (options_.ranks != options_.job->size())
      return Error{Code::input_invalid,
                   fmt::format("the job has {} ranks, and this wants {}", options_.job->size(), options_.ranks),
                   {}};
    if (launch > 1 && options_.begins_once)
      return Error{Code::unsupported, "in a job that another launcher started, MPI cannot be launched again", {}};
    if (const std::string problem = options_.job->problem(); !problem.empty())
      return Error{Code::unsupported, problem, {}};
    Result<std::shared_ptr<TcpServer>> server = TcpServer::start(
        options_.job->store_host(), 0, {secret_, {}, [job = options_.job](const std::string& address) {
                                          job->refused(address, "it does not have the secret of the job's store");
                                        }});
    if (!server.ok()) return server.error();
    server_ = std::move(*server);
    const std::vector<std::string> arguments(options_.command.begin() + 1, options_.command.end());
    for (int rank = 0; rank < options_.ranks; ++rank) {
      RankStart word{rank, options_.ranks, launch, options_.patience, server_->port(), clock_.start(), folder};
      word.store_host = options_.job->store_host();
      word.stays = options_.begins_once;
      word.request = options_.request;
      word.store_secret = secret_;
      ranks_.push_back(options_.job->start_rank(word, clock_.now(), arguments, options_.begins_once));
    }
    last_progress_ = clock_.now();
    return {};
  }

  template <class Predicate>
  bool all(Predicate predicate) const {
    return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& rank) { return predicate(*rank); });
  }
  bool none_finished() const {
    return all([](const WatchedRank& r) { return !r.outcome().finished; });
  }

  // A rank's program ended before it began: without it there is no world, so that nobody needs to wait.
  bool some_refused() const {
    return std::any_of(ranks_.begin(), ranks_.end(), [](const auto& r) { return r->outcome().refused(); });
  }

  void look_at_all() {
    gone_at_.resize(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (!ranks_[r]->service()) continue;
      last_progress_ = clock_.now();
      if (ranks_[r]->gone()) gone_at_[r] = last_progress_;
    }
  }

  // Its end is the end of the job.
  bool ends_all(const WatchedRank& rank) const {
    if (options_.ends_together && rank.outcome().failed) return true;
    return (options_.ends_together || !options_.deaths_are_planned) && rank.gone() && !rank.outcome().finished;
  }

  // True: a rank has failed, the others have told what they know, and it is time to end them. They get a moment before, as
  // mpirun takes one: what makes one rank fail often makes all fail, each in its own words.
  bool end_together() {
    constexpr Time moment = 500_ms;
    if (!ends_all_) {
      const auto first = std::find_if(ranks_.begin(), ranks_.end(), [this](const auto& r) { return ends_all(*r); });
      if (first == ranks_.end()) return false;
      ends_all_ = static_cast<int>(first - ranks_.begin());
      ends_by_ = clock_.now() + (options_.ends_together ? moment : std::max(options_.patience, moment));
    }
    const bool all_said = all([](const WatchedRank& r) { return r.gone() || r.outcome().finished; });
    const bool quiet = !options_.ends_together && clock_.now() - last_progress_ >= moment;
    if (!all_said && !quiet && clock_.now() < ends_by_) return false;
    ask_for_records();
    return true;
  }

  // Coming up (a program to load, addresses to exchange) may take longer than a hang is allowed to; but when all is said, only
  // the ends of processes are waited for, and some libraries make them wait for one another.
  Time limit() const {
    const bool all_said = all([](const WatchedRank& r) { return r.gone() || r.outcome().finished; });
    if (all_said) return std::min(options_.patience, 2_s);
    const bool up = all([](const WatchedRank& r) { return r.has_come_up() || r.gone(); });
    return up ? options_.patience : std::max(options_.patience, options_.start_within);
  }

  void wait_a_little() {
    std::vector<pollfd> waiting{{signals_.fd(), POLLIN, 0}};
    bool closing = false;
    for (const auto& rank : ranks_) {
      rank->add_to(waiting);
      closing = closing || rank->closing();
    }
    const Time left = last_progress_ + limit() - clock_.now();
    constexpr std::int64_t longest_ms = 50;
    const std::int64_t ms = closing ? 1 : std::clamp<std::int64_t>(left.ns() / 1'000'000 + 1, 1, longest_ms);
    poll(waiting.data(), waiting.size(), static_cast<int>(ms));
  }

  void ask_for_records() {
    for (const auto& rank : ranks_) rank->ask();
    const Time until = clock_.now() + options_.answer_within;
    while (clock_.now() < until && !all([](const WatchedRank& r) { return r.gone() || r.outcome().answered; })) {
      std::vector<pollfd> waiting{{signals_.fd(), POLLIN, 0}};
      for (const auto& rank : ranks_) rank->add_to(waiting);
      poll(waiting.data(), waiting.size(), 10);
      for (const auto& rank : ranks_) rank->service();
      if (signals_.arrived()) return;
    }
  }

  std::string first_output() const {
    for (const auto& rank : ranks_)
      if (!rank->outcome().output.empty()) return rank->outcome().output;
    return fmt::format("{} printed nothing", options_.command.front());
  }

  const ProcessWorldOptions& options_;
  const RealRuntime& clock_;
  HeldSignals& signals_;
  std::unique_ptr<Slots> slots_;       // the ranks end before their slots do
  std::shared_ptr<TcpServer> server_;  // of a job
  Secret secret_;
  std::vector<std::unique_ptr<WatchedRank>> ranks_;
  Time last_progress_{};
  bool deadlocked_ = false;
  std::optional<int> ends_all_;  // the rank that failed first
  Time ends_by_{};
  std::vector<std::optional<Time>> gone_at_;  // by rank: when its end was noticed
};

}  // namespace

Result<ProcessWorldResult> run_process_world(const ProcessWorldOptions& options) {
  HeldSignals signals;  // first: it outlives the processes and the folder
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  const RealRuntime clock;
  ProcessWorldResult result;
  for (int number = 1; number <= options.most_launches; ++number) {
    PDSIM_TRY(FilesBelow::note_sizes(folder->path()));
    Launch launch(options, clock, signals);
    PDSIM_TRY(launch.start(number, folder->path()));
    PDSIM_TRY(launch.run());
    result.ranks = launch.outcomes();
    result.deadlocked = launch.deadlocked();
    if (result.deadlocked) result.deadlock_at = launch.last_progress();
    result.elapsed = clock.now();
    if (!launch.wants_relaunch()) return result;
    result.earlier.insert(result.earlier.end(), result.ranks.begin(), result.ranks.end());
  }
  return Error{Code::limit_exceeded, fmt::format("the world was launched {} times", options.most_launches), {}};
}

}  // namespace pdsim
