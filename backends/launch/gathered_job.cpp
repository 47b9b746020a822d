#include "backends/launch/gathered_job.h"

#include "backends/launch/agent.h"
#include "backends/launch/pending_links.h"
#include "backends/launch/remote_rank.h"
#include "backends/net/tcp_socket.h"
#include "backends/os/real_runtime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pdsim {
namespace {

using namespace literals;

void say_goodbye(int fd, const JobGoodbye& goodbye) { write_frame(fd, FrameKind::goodbye, text_of(goodbye)); }

}  // namespace

Result<std::unique_ptr<GatheredJob>> GatheredJob::gather(const JobPlace& place, const std::string& executable,
                                                         Time within, Notice notice) {
  Result<Listener> listener = listen_for_job(place);
  if (!listener.ok()) return listener.error();
  std::unique_ptr<GatheredJob> job(new GatheredJob(place, std::move(notice)));
  job->agents_.resize(static_cast<std::size_t>(place.size));
  PDSIM_TRY(job->start_own_agent(executable, listener->fd.get(), within));
  if (Status all_here = job->wait_for_all(listener->fd.get(), within); !all_here.ok()) {
    const bool refused = all_here.error().code == Code::invalid_argument;
    job->goodbye(refused ? exit_refused : exit_missing, all_here.error().message);
    return all_here.error();
  }
  return job;
}

Status GatheredJob::start_own_agent(const std::string& executable, int listener, Time within) {
  std::fflush(nullptr);
  const pid_t command = getpid();
  own_agent_ = fork();
  if (own_agent_ < 0) return system_error("cannot start a process");
  if (own_agent_ > 0) return {};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != command) _exit(exit_failed);
  _exit(run_agent(place_, executable, within, Descriptor(listener)).status);
}

Status GatheredJob::wait_for_all(int listener, Time within) {
  constexpr Time tell_within = 2_s;  // a job that is off: who comes a little later is to hear why as well
  const RealRuntime clock;
  PendingLinks guests(listener);
  std::set<Rank> refused;  // who has heard why the job is off
  Status outcome;
  const auto missing = [this, &refused] {
    int count = 0;
    for (Rank r = 0; r < place_.size; ++r)
      count += agents_[static_cast<std::size_t>(r)] == nullptr && refused.count(r) == 0 ? 1 : 0;
    return count;
  };
  while (missing() > 0 && clock.now() < within) {
    std::vector<pollfd> waiting;
    guests.add_to(waiting);
    constexpr int look_ms = 50;
    poll(waiting.data(), waiting.size(), look_ms);
    guests.service([&](JobLink& link, const std::string& hello) {
      const Status first = outcome;
      if (const auto rank = admit(link, hello, outcome)) refused.insert(*rank);
      if (first.ok() && !outcome.ok()) within = std::min(within, clock.now() + tell_within);
    });
  }
  if (!outcome.ok() || missing() == 0) return outcome;
  std::vector<int> absent;
  for (int r = 0; r < place_.size; ++r)
    if (agents_[static_cast<std::size_t>(r)] == nullptr) absent.push_back(r);
  return Error{
      Code::unavailable,
      fmt::format("{} of {} ranks of the job joined within {}; missing: {}. Did {} start them all, with the same "
                  "command, MASTER_ADDR and MASTER_PORT?",
                  place_.size - static_cast<int>(absent.size()), place_.size, to_string(within),
                  fmt::join(absent, ", "), place_.by),
      {}};
}

// Why a process that says this is not a rank of the job; empty: it is one.
std::string GatheredJob::objection(const JobHello& hello) const {
  if (hello.protocol != job_protocol)
    return fmt::format(
        "rank {} speaks version {} of the job protocol and rank 0 version {} (pdsim {}): all ranks must run the same "
        "pdsim",
        hello.rank, hello.protocol, job_protocol, place_.version);
  if (hello.version != place_.version)
    return fmt::format("rank {} runs pdsim {} and rank 0 pdsim {}: all ranks must run the same pdsim", hello.rank,
                       hello.version, place_.version);
  const bool known = hello.rank >= 0 && hello.rank < place_.size;
  if (hello.size != place_.size || !known)
    return fmt::format(
        "rank {} expects a world of {} rank{}, and rank 0 expects {}: set the same WORLD_SIZE on all",
        hello.rank, hello.size, hello.size == 1 ? "" : "s", place_.size);
  if (hello.would_serve || agents_[static_cast<std::size_t>(hello.rank)] != nullptr)
    return fmt::format("two processes claim to be rank {} of {}: start each rank from 0 to {} once",
                       hello.rank, place_.size, place_.size - 1);
  return {};
}

// The rank that was refused, if any; the first sets `outcome`, and all later ones hear the same.
std::optional<Rank> GatheredJob::admit(JobLink& link, const std::string& text, Status& outcome) {
  const Result<JobHello> hello = job_hello_of(text);
  if (!hello.ok()) return std::nullopt;
  const auto refuse = [&link](const std::string& why) { say_goodbye(link.fd.get(), {exit_refused, false, why}); };
  // Anybody can send a wrong one, so it does not end the job, and neither does another protocol where there is a secret.
  if (const std::string problem = secret_problem(place_, *hello); !problem.empty()) {
    const std::string why = hello->protocol == job_protocol ? problem : objection(*hello);
    refused(tcp::address_of_peer(link.fd.get()), why);
    refuse(why);
    return std::nullopt;
  }
  if (hello->protocol == job_protocol && hello->name != place_.name.substr(0, job_name_limit)) {
    refuse("rank 0 of another job listens there; give each job a MASTER_PORT of its own");
    return std::nullopt;
  }
  const std::string why = outcome.ok() ? objection(*hello) : outcome.error().message;
  if (!why.empty()) {
    if (outcome.ok()) outcome = Error{Code::invalid_argument, why, {{"rank", std::to_string(hello->rank)}}};
    refuse(why);
    return hello->rank;
  }
  write_frame(link.fd.get(), FrameKind::welcome, {});
  auto& agent = agents_[static_cast<std::size_t>(hello->rank)];
  agent = std::make_unique<Agent>();
  agent->link = std::move(link);
  agent->link.reader.allow(FrameReader::longest);
  agent->rank = hello->rank;
  return std::nullopt;
}

void GatheredJob::refused(const std::string& address, const std::string& why) {
  constexpr std::size_t most = 16;
  const std::lock_guard lock(noticing_);
  // A process that tries again does so from another port.
  const bool is_new = noticed_.size() < most && noticed_.insert(address.substr(0, address.rfind(':')) + why).second;
  if (!notice_ || !is_new) return;
  notice_(fmt::format("refused a connection from {} and continues: {}{}", address, why,
                      noticed_.size() == most ? "; further ones are not shown" : ""));
}

GatheredJob::~GatheredJob() {
  goodbye(exit_failed, "rank 0 has failed");
  constexpr int tries = 1000, pause_ms = 10;  // it gives its rank five seconds to end
  for (int i = 0; i < tries && own_agent_ > 0; ++i) {
    int status = 0;
    if (waitpid(own_agent_, &status, WNOHANG | WUNTRACED) == 0) {
      poll(nullptr, 0, pause_ms);
      continue;
    }
    if (!WIFSTOPPED(status)) return;
    break;
  }
  if (own_agent_ > 0) kill(own_agent_, SIGKILL);  // somebody may have stopped it
  while (own_agent_ > 0 && waitpid(own_agent_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string GatheredJob::problem() const {
  for (const auto& agent : agents_) {
    if (agent->link.closed)
      return fmt::format("the process that {} started for rank {} is gone", place_.by, agent->rank);
    if (agent->spent)
      return fmt::format(
          "MPI can start only once in a job of {}, and an earlier part did not end there; run this one in a separate "
          "job",
          place_.by);
  }
  return {};
}

std::unique_ptr<WatchedRank> GatheredJob::start_rank(const RankStart& word, Time elapsed,
                                                     const std::vector<std::string>& arguments, bool once) {
  Agent& agent = *agents_[static_cast<std::size_t>(word.rank)];
  AgentStart start{word, elapsed, once && agent.began, arguments};
  agent.began = true;
  return std::make_unique<RemoteRank>(agent, start, once);
}

void GatheredJob::goodbye(int status, std::string_view why) {
  if (std::exchange(said_goodbye_, true)) return;
  const bool kills = std::any_of(agents_.begin(), agents_.end(), [](const auto& a) { return a && a->spent; });
  for (const auto& agent : agents_)
    if (agent) say_goodbye(agent->link.fd.get(), {status, kills, std::string(why)});
}

}  // namespace pdsim
