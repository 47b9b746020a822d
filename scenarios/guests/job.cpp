#include "scenarios/guests/job.h"

#include "backends/launch/launch.h"
#include "backends/launch/rank_environment.h"
#include "backends/os/process_tree.h"
#include "scenarios/guests/guest_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

using namespace literals;

constexpr int grace_ms = 2000;

std::vector<StackFrame> frames_of(const Site& site) {
  return site.origin ? site.origin->frames : std::vector<StackFrame>();
}

}  // namespace

Result<std::unique_ptr<Job>> Job::start(const JobOptions& options) {
  std::unique_ptr<Job> job(new Job(options));
  PDSIM_TRY(job->begin());
  return job;
}

Job::~Job() { end({}); }

Status Job::listen() {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  folder_.emplace(std::move(*folder));
  const std::string path = folder_->path() + "/guests";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{Code::input_invalid, fmt::format("the path {} is too long for a socket; set TMPDIR", path), {}};
  std::memcpy(address.sun_path, path.data(), path.size());
  listener_ = Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_ || bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0)
    return system_error("cannot listen at " + path);
  return {};
}

Status Job::begin() {
  Result<Listener> port = reserve_port();
  if (!port.ok()) return port.error();
  port_ = std::move(*port);
  PDSIM_TRY(listen());
  forks_ = forks_ranks();
  for (int rank = 0; rank < options_.ranks; ++rank) PDSIM_TRY(start_process(rank));
  if (starts_its_ranks_itself()) PDSIM_TRY(start_process(-1));
  slots_.resize(static_cast<std::size_t>(options_.ranks));
  ended_.resize(processes_.size());
  return {};
}

// Returns the variables that only this rank of this job has in its environment.
std::vector<std::string> Job::variables_of(int rank) const {
  std::vector<std::string> variables;
  if (rank >= 0) variables = launched_environment({}, false, rank, options_.ranks, port_.port, "");
  if (const int local = options_.ranks_per_node; rank >= 0 && local > 0 && local < options_.ranks) {
    std::erase_if(variables, [](const std::string& variable) { return variable.starts_with("LOCAL_"); });
    variables.push_back(fmt::format("LOCAL_RANK={}", rank % local));
    variables.push_back(fmt::format("LOCAL_WORLD_SIZE={}", local));
    variables.push_back(fmt::format("GROUP_RANK={}", rank / local));
  }
  variables.push_back(fmt::format("PDSIM_GUEST={}/guests", folder_->path()));
  variables.push_back(fmt::format("PDSIM_GUEST_SLOT={}", rank));
  // Here too, for an interpreter that forks the ranks of several runs has those of the first.
  variables.insert(variables.end(), options_.variables.begin(), options_.variables.end());
  return variables;
}

// Returns the environment that all ranks share.
std::vector<std::string> Job::common_environment() const {
  std::vector<std::string> environment = launched_environment(own_environment(), false, 0, options_.ranks, 0, "");
  const std::vector<std::string> of_a_rank = variables_of(0);
  std::erase_if(environment, [&](const std::string& variable) {
    return std::any_of(of_a_rank.begin(), of_a_rank.end(), [&](const std::string& other) {
      return variable.substr(0, variable.find('=')) == other.substr(0, other.find('='));
    });
  });
  environment.insert(environment.end(), options_.variables.begin(), options_.variables.end());
  put_package_first(environment, options_.package);
  const bool has_threads = std::any_of(environment.begin(), environment.end(),
                                       [](const std::string& v) { return v.starts_with("OMP_NUM_THREADS="); });
  if (!has_threads && options_.ranks > 1) environment.emplace_back("OMP_NUM_THREADS=1");  // as torchrun does
  environment.emplace_back("PYTHONUNBUFFERED=1");
  return environment;
}

bool Job::forks_ranks() {
  if (options_.fork_server == nullptr || starts_its_ranks_itself()) return false;
  const Time since = clock_.now();
  std::vector<std::string> environment = common_environment();
  environment.emplace_back("PDSIM_GUEST=");
  return options_.fork_server->ready(options_.command, environment, signals_.former(), [&](LaunchedRank& process) {
    wait_a_little();
    process.read(out_, err_);
    out_.flush_some();
    err_.flush_some();
    return !signals_.arrived() && clock_.now() - since < 60_s;
  });
}

Status Job::start_process(int rank) {
  const std::vector<std::string> own = variables_of(rank);
  std::vector<std::string> environment = common_environment();
  environment.insert(environment.end(), own.begin(), own.end());
  auto started = forks_ ? options_.fork_server->fork(rank, own)
                        : LaunchedRank::start(options_.command, rank, signals_.former(), environment);
  if (!started.ok()) return started.error();
  processes_.push_back(std::make_unique<LaunchedRank>(std::move(*started)));
  return {};
}

void Job::wait_a_little() {
  constexpr int look_ms = 100;
  std::vector<pollfd> waiting{{signals_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  for (const auto& process : processes_) process->add_to(waiting, !out_.full(), !err_.full());
  for (const RankSlot& s : slots_)
    if (s.connection && s.connection->open()) waiting.push_back({s.connection->fd(), POLLIN, 0});
  for (const auto& newcomer : newcomers_) waiting.push_back({newcomer->fd(), POLLIN, 0});
  for (const LineSink* sink : {&out_, &err_})
    if (!sink->empty()) waiting.push_back({sink->fd(), POLLOUT, 0});
  poll(waiting.data(), waiting.size(), look_ms);
}

void Job::look_at_all() {
  accept_guests();
  for (auto& newcomer : newcomers_) newcomer->read_some();
  seat_newcomers();
  std::vector<std::optional<Ended>> ends;  // before reading, so that all they have sent and printed is read below
  for (const auto& process : processes_) ends.push_back(process->ended());
  for (const RankSlot& s : slots_)
    if (s.connection && s.connection->open()) s.connection->read_some();
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    processes_[p]->read(out_, err_);
    if (ended_[p] || !ends[p]) continue;
    if (const int why = processes_[p]->exec_error(); why != 0)
      cannot_execute_ = fmt::format("cannot execute {}: {}", options_.command.front(), strerror(why));
    while (!out_.full() && !err_.full() && processes_[p]->read(out_, err_)) {
    }
    ended_[p] = ends[p];
  }
  out_.flush_some();
  err_.flush_some();
}

void Job::accept_guests() {
  for (;;) {
    Descriptor guest(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!guest) return;
    newcomers_.push_back(std::make_unique<Connection>(std::move(guest)));
  }
}

void Job::refuse(Connection& connection, const std::string& why) {
  Answer answer;
  answer.error = Error{Code::unsupported, why, {}};
  connection.answer(answer, {});
  connection.close();
}

std::string Job::seat_problem(const Request& hello) {
  if (hello.kind != Request::Kind::hello) return "pdsim: a request before the first";
  const bool itself = starts_its_ranks_itself();
  if (itself && slots_.empty() && hello.size >= 1 && hello.size <= most_launched)
    slots_.resize(static_cast<std::size_t>(hello.size));
  const std::int64_t rank = itself ? hello.rank : hello.slot;
  if (rank < 0 || rank >= static_cast<std::int64_t>(slots_.size()))
    return itself
               ? fmt::format(
                     "pdsim: this process claims to be rank {} of {}; pdsim run accepts the ranks of one job, at most "
                     "{}",
                     rank, hello.size, most_launched)
               : "pdsim: this process is not a rank of the job";
  if (slot_of(static_cast<Rank>(rank)).connection)
    return fmt::format("pdsim: rank {} has two processes that call torch.distributed", rank);
  return {};
}

std::optional<Ended> Job::end_of(Rank rank) {
  if (!starts_its_ranks_itself()) return ended_[static_cast<std::size_t>(rank)];
  const RankSlot& s = slot_of(rank);
  if (s.connection && !s.connection->open()) return s.goodbye ? Ended{*s.goodbye, 0} : Ended{0, SIGKILL};
  return s.connection ? std::nullopt : ended_.front();
}

const Request* Job::raised_before(Rank rank) const {
  const auto r = static_cast<std::size_t>(rank);
  const bool came = r < slots_.size() && slots_[r].connection != nullptr;
  return raised_outside_ && !came ? &*raised_outside_ : nullptr;
}

// The world stands still as soon as the newest call of each rank waits, and another thread may be on its way to its own. One second
// for all ranks, because they stop together.
void Job::wait_for_calls_held_back(const RankSlot& slot) {
  const auto is_there = [&] {
    return std::any_of(held_back_.begin(), held_back_.end(), [&](const HeldBack& held) { return held.call.pid == slot.pid; });
  };
  if (!slot.has_threads) return;
  if (!first_failure_) first_failure_ = clock_.now();
  while (!is_there() && clock_.now() - *first_failure_ < 1_s) {
    wait_a_little();
    look_at_all();
  }
}

std::vector<Request> Job::calls_held_back(Rank rank) {
  if (static_cast<std::size_t>(rank) >= slots_.size()) return {};
  const RankSlot& s = slot_of(rank);
  if (!end_of(rank)) wait_for_calls_held_back(s);
  std::vector<Request> calls;
  for (const HeldBack& held : held_back_)
    if (s.pid != 0 && held.call.pid == s.pid) calls.push_back(held.call);
  return calls;
}

void Job::seat_newcomers() {
  for (auto& newcomer : newcomers_) {
    if (!newcomer->has_request()) {
      if (!newcomer->open()) newcomer.reset();
      continue;
    }
    const Request hello = newcomer->take();
    if (hello.kind == Request::Kind::unusable) {
      unusable_ = hello.text;
    } else if (hello.kind == Request::Kind::threads) {
      held_back_.push_back({hello});
    } else if (hello.kind == Request::Kind::raised) {
      if (!raised_outside_) raised_outside_ = hello;
    } else if (const std::string problem = seat_problem(hello); !problem.empty()) {
      refuse(*newcomer, problem);
    } else {
      newcomer->answer({}, {});
      RankSlot& taken = slot_of(static_cast<Rank>(starts_its_ranks_itself() ? hello.rank : hello.slot));
      taken.connection = std::move(newcomer);
      taken.pid = static_cast<pid_t>(hello.pid);
      if ((!hello.name.empty() || !hello.text.empty()) && !introduction_)  // without a name: it uses a store before init_process_group
        introduction_ = Introduction{hello.name, hello.text, static_cast<int>(slots_.size()), hello.store, hello.all};
      if (introduction_ && slot_of(0).connection && slot_of(0).pid == hello.pid) {
        introduction_->left_store = hello.store;
        introduction_->is_worlds = hello.all;
      }
    }
    newcomer.reset();
  }
  std::erase(newcomers_, nullptr);
}

bool Job::all_ended() {
  return std::all_of(ended_.begin(), ended_.end(), [](const auto& e) { return e.has_value(); });
}

bool Job::waits_for_rank_0() { return !introduction_->left_store.empty() && !slot_of(0).connection && !end_of(0); }

std::optional<Introduction> Job::wait_for_introduction() {
  const Time since = clock_.now();
  while ((!introduction_ || waits_for_rank_0()) && !all_ended() && !signals_.arrived() && clock_.now() - since < options_.patience + 60_s) {
    wait_a_little();
    look_at_all();
  }
  return introduction_;
}

GuestEvent Job::next(Rank rank) {
  const Time since = clock_.now();
  for (;;) {
    if (signals_.arrived() || static_cast<std::size_t>(rank) >= slots_.size()) {
      if (!signals_.arrived() && ended_.front()) return ProcessEnd{*ended_.front()};  // no rank ever came
      if (signals_.arrived()) return Interrupted{};
    } else {
      RankSlot& s = slot_of(rank);
      if (s.connection && s.connection->has_request()) {
        Request request = s.connection->take();
        s.has_threads = request.threads > 1;
        if (request.thread != 0)
          std::erase_if(held_back_, [&](const HeldBack& held) {
            return !held.is_final && held.call.pid == s.pid && held.call.thread == request.thread;
          });
        if (request.kind == Request::Kind::goodbye) {
          s.goodbye = static_cast<int>(request.number);
          continue;
        }
        s.only_slept = request.kind == Request::Kind::sleep ? s.only_slept + (clock_.now() - since) : Time{};
        if (s.only_slept >= options_.patience) return Silence{frames_of(request.site)};
        return request;
      }
      if (const auto end = end_of(rank)) return ProcessEnd{*end};
      const Time start_up = s.connection ? Time{} : 60_s;  // importing PyTorch alone takes seconds
      if (clock_.now() - since >= options_.patience + start_up) return Silence{stack_of(s.pid)};
    }
    wait_a_little();
    look_at_all();
  }
}

void Job::answer(Rank rank, const Answer& answer, std::span<const std::byte> data) {
  RankSlot& s = slot_of(rank);
  if (!s.connection) return;
  if (answer.error) {
    wait_for_calls_held_back(s);
    for (HeldBack& held : held_back_) held.is_final = held.is_final || held.call.pid == s.pid;
  }
  s.connection->answer(answer, data);
}

Result<SharedMemory> Job::memory_of(Rank rank, int descriptor, std::int64_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", slot_of(rank).pid, descriptor);
  Descriptor fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  constexpr int sealed = F_SEAL_SHRINK | F_SEAL_GROW;
  if (!fd || (fcntl(fd.get(), F_GET_SEALS) & sealed) != sealed) return system_error("cannot share the memory of " + path);
  Result<SharedMemory> memory = SharedMemory::open(std::move(fd));
  if (memory.ok() && static_cast<std::int64_t>(memory->bytes().size()) != bytes)
    return Error{Code::unavailable, fmt::format("{} is not memory of {} bytes", path, bytes), {}};
  return memory;
}

std::vector<StackFrame> Job::stack_of(pid_t pid) {
  const std::string path = fmt::format("{}/stack.{}", folder_->path(), pid);
  std::vector<StackFrame> stack;
  if (pid <= 0 || access(path.c_str(), F_OK) != 0) return stack;  // the signal would end it
  kill(pid, SIGUSR2);
  for (const Time since = clock_.now(); stack.empty() && clock_.now() - since < 2_s;) {
    wait_a_little();
    stack = stack_written_to(path);
  }
  return stack;
}

void Job::end(const std::vector<Rank>& aborted) {
  look_at_all();  // what the last process said before it ended
  Answer abort, over;
  abort.end = "abort";
  over.end = "over";
  for (std::size_t r = 0; r < slots_.size(); ++r) {
    if (!slots_[r].connection || end_of(static_cast<Rank>(r))) continue;
    const bool by_library = std::find(aborted.begin(), aborted.end(), static_cast<Rank>(r)) != aborted.end();
    slots_[r].connection->answer(by_library ? abort : over, {});
  }
  const Time since = clock_.now();
  // A script that started its ranks itself still waits for them after they ended, and then ends by itself.
  const Time free = starts_its_ranks_itself() && !signals_.arrived() ? 10_s : 500_ms;
  for (bool asked = false; !all_ended() && clock_.now() - since < free + Time{1_ms} * grace_ms;) {
    wait_a_little();
    look_at_all();
    if (!asked && (clock_.now() - since > free || signals_.arrived())) {
      asked = true;
      for (const auto& process : processes_)
        if (!process->ended()) process->signal(SIGTERM);
    }
  }
  for (const auto& process : processes_)
    if (!process->ended()) process->signal(SIGKILL);
  while (std::any_of(processes_.begin(), processes_.end(), [](const auto& process) { return !process->ended(); }))
    poll(nullptr, 0, 1);
  folder_.reset();  // and its keeper, which is below this process too
  std::vector<pid_t> others;
  if (options_.fork_server != nullptr && options_.fork_server->pid()) others.push_back(*options_.fork_server->pid());
  end_all_below(grace_ms, others);
  for (const auto& process : processes_) process->finish(out_, err_);
  const auto interrupted = [this] { return signals_.arrived(); };
  out_.drain(interrupted);
  err_.drain(interrupted);
}

}  // namespace pdsim::scenarios::guests
