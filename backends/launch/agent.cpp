#include "backends/launch/agent.h"

#include "backends/launch/job_link.h"
#include "backends/launch/packed_ring.h"
#include "backends/launch/pending_links.h"
#include "backends/launch/rank_environment.h"
#include "backends/launch/remote_rank.h"
#include "backends/os/real_runtime.h"
#include "backends/os/temporary_folder.h"
#include "backends/process/record_file.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pdsim {
namespace {

using namespace literals;

class Agent {
 public:
  Agent(const JobPlace& place, JobLink link, const std::string& executable, Descriptor listener)
      : place_(place), link_(std::move(link)), executable_(executable), listener_(std::move(listener)) {}

  AgentResult run() {
    while (!over_) {
      wait_a_little();
      const bool closed = link_.reader.fill(link_.fd.get()) == FrameReader::State::closed;
      while (const auto frame = link_.reader.next()) take(*frame);
      if (rank_) serve_rank();
      if (all_here_ && listener_) refuse_the_late();
      if (closed && !over_) return {exit_failed, rank_zero_is_gone()};
    }
    if (rank_ && !goodbye_.kills) let_it_end();
    if (rank_) rank_->end();
    return {goodbye_.status, goodbye_.why};
  }

 private:
  void send(FrameKind kind, std::string_view payload) { write_frame(link_.fd.get(), kind, payload); }

  void wait_a_little() {
    constexpr int look_ms = 50, closing_ms = 1;
    std::vector<pollfd> waiting{{link_.fd.get(), POLLIN, 0}};
    if (rank_) rank_->add_to(waiting);
    if (all_here_ && listener_) late_.add_to(waiting);
    poll(waiting.data(), waiting.size(), rank_ && rank_->closing() ? closing_ms : look_ms);
  }

  void take(const Frame& frame) {
    if (frame.kind == FrameKind::start) {
      start(frame.payload);
    } else if (frame.kind == FrameKind::goodbye) {
      goodbye_ = job_goodbye_of(frame.payload);
      over_ = true;
    } else if (frame.kind == FrameKind::ask && rank_) {
      rank_->ask();
      if (!rank_->outcome().stopped) return;
      send(FrameKind::ask, {});
      send(FrameKind::ring, packed_ring(rank_->memory()));
    } else if (frame.kind == FrameKind::end && rank_) {
      rank_->end();
      tell_end(true);
    }
  }

  std::string rank_zero_is_gone() const {
    return fmt::format(
        "rank {} of {}: rank 0 of the job{} is gone: its process ended, or the connection to it broke; its own "
        "output says more",
        place_.rank, place_.size, place_.host.empty() ? "" : fmt::format(" at {}:{}", place_.host, place_.port));
  }

  void refuse_the_late() {
    late_.service([this](JobLink& guest, const std::string& text) {
      const Result<JobHello> hello = job_hello_of(text);
      if (!hello.ok()) return;
      std::string why = secret_problem(place_, *hello);
      if (why.empty())
        why = fmt::format(
            "the job at rank 0 has all its {} ranks, and this process also claims to be rank {}: start each rank from "
            "0 to {} once",
            place_.size, hello->rank, place_.size - 1);
      write_frame(guest.fd.get(), FrameKind::goodbye, text_of(JobGoodbye{exit_refused, false, why}));
    });
  }

  void start(std::string_view text) {
    all_here_ = true;
    Result<AgentStart> start = agent_start_of(text);
    if (!start.ok()) return refuse(start.error().message);
    RankStart& word = start->word;
    word.epoch = std::chrono::steady_clock::now() - std::chrono::nanoseconds(start->elapsed.ns());
    word.address = own_address(link_);
    if (access(word.work_dir.c_str(), W_OK) != 0) {  // another machine's
      Result<TemporaryFolder> folder = TemporaryFolder::make();
      if (!folder.ok()) return refuse(folder.error().message);
      folder_.emplace(std::move(*folder));
      word.work_dir = folder_->path();
    }
    if (start->goes_on && rank_) return rank_->start_again(word);
    std::vector<std::string> command{executable_};
    command.insert(command.end(), start->arguments.begin(), start->arguments.end());
    std::vector<std::string> environment = own_environment();
    if (!word.address.empty()) environment.push_back("PDSIM_ADDRESS=" + word.address);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    Result<RankProcess> process = RankProcess::start(command, word, -1, mask, {}, environment, record_path(word.rank));
    if (!process.ok()) return refuse(process.error().message);
    rank_.emplace(std::move(*process));
    rank_->set_observer([this](const Frame& frame) { send(frame.kind, frame.payload); });
  }

  void refuse(const std::string& why) { send(FrameKind::ended, text_of(AgentEnded{{exit_missing, 0}, false, why})); }

  void serve_rank() {
    rank_->service();
    if (rank_->gone()) tell_end(false);
  }

  void tell_end(bool by_agent) {
    const RankOutcome& outcome = rank_->outcome();
    if (!outcome.finished && outcome.ring) send(FrameKind::ring, packed_ring(rank_->memory()));
    send(FrameKind::ended, text_of(AgentEnded{outcome.ended.value_or(Ended{}), by_agent, outcome.output}));
    rank_.reset();
    folder_.reset();
  }

  // Its library may want to end together with the other ranks.
  void let_it_end() {
    constexpr Time end_within = 5_s;
    const RealRuntime clock;
    rank_->dismiss();
    while (!rank_->gone() && clock.now() < end_within) {
      poll(nullptr, 0, 1);
      rank_->service();
    }
  }

  const JobPlace& place_;
  JobLink link_;
  const std::string& executable_;
  std::optional<TemporaryFolder> folder_;
  std::optional<RankProcess> rank_;
  JobGoodbye goodbye_;
  bool over_ = false;
  Descriptor listener_;
  bool all_here_ = false;
  PendingLinks late_{listener_.get()};
};

}  // namespace

AgentResult run_agent(const JobPlace& place, const std::string& executable, Time within, Descriptor listener) {
  Result<JobLink> link = connect_to_job(place, within);
  if (link.ok()) return Agent(place, std::move(*link), executable, std::move(listener)).run();
  const bool refused = link.error().code == Code::invalid_argument;
  return {refused ? exit_refused : exit_missing, link.error().message};
}

}  // namespace pdsim
