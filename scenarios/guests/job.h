// The processes of `pdsim run`: starts them, shows what they print, and hands out what each rank asks for.
//
//   ranks    processes as those of `pdsim launch` (launch.h), with PDSIM_GUEST and PDSIM_GUEST_SLOT in their environment and the Python
//            package of guests first in PYTHONPATH
//   order    a caller waits for one rank's next request, as virtual time has it; meanwhile the others compute, print and queue
//   silent   a rank that asks for nothing for `patience` of real time is reported, with its Python stack where it has one
//   end      the destructor ends all processes and what they have started; it shows what they had printed
//   threads  one; below a guard (guarded.h)
#pragma once

#include "backends/launch/launched_rank.h"
#include "backends/net/reserved_port.h"
#include "backends/os/real_runtime.h"
#include "backends/os/shared_memory.h"
#include "backends/os/temporary_folder.h"
#include "scenarios/guests/connection.h"
#include "scenarios/guests/fork_server.h"

#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pdsim::scenarios::guests {

struct JobOptions {
  int ranks = 1;  // 0: the program is one process, and starts its ranks itself
  std::vector<std::string> command;
  std::string package;  // the folder with sitecustomize.py
  int ranks_per_node = 0;               // for LOCAL_RANK; 0: all ranks are on one node
  std::vector<std::string> variables;  // NAME=value, added to their environment
  Time patience{60'000'000'000'000};
  ForkServer* fork_server = nullptr;  // forks the ranks where it can; null: each has an interpreter of its own from the start
  bool all_to_stderr = false;  // what the processes print; standard output is for the report alone
  bool silent = false;         // it is not shown at all
};

// The introduction that the first rank sends when it reaches init_process_group, or uses a store before it.
struct Introduction {
  std::string backend, version;  // no backend: it is not known yet
  int ranks = 1;
  std::string left_store;  // of the script, whose file is there already; rank 0's word counts where it comes, for it may remove the file
  bool is_worlds = true;   // the world's group goes over that store
};

struct ProcessEnd {
  Ended how;
};
struct Silence {
  std::vector<StackFrame> stack;  // innermost first; empty: it runs no Python, or did not answer
};
struct Interrupted {};
using GuestEvent = std::variant<Request, ProcessEnd, Silence, Interrupted>;

class Job {
 public:
  // io_error; input_invalid: the program cannot be executed.
  static Result<std::unique_ptr<Job>> start(const JobOptions& options);
  ~Job();

  // Nothing when every process ended without one.
  std::optional<Introduction> wait_for_introduction();
  GuestEvent next(Rank rank);
  void answer(Rank rank, const Answer& answer, std::span<const std::byte> data);
  // Maps sealed memory of the rank's process. unavailable, io_error: it is not such memory, or not so large, or this may not open it.
  Result<SharedMemory> memory_of(Rank rank, int descriptor, std::int64_t bytes);
  // Ends the processes that are still there: these at once, as their library would, the others after a signal.
  void end(const std::vector<Rank>& aborted);
  // How each process that this has started ended, as far as it did by itself.
  const std::vector<std::optional<Ended>>& ended() const { return ended_; }
  bool interrupted() { return signals_.arrived(); }
  const std::string& cannot_execute() const { return cannot_execute_; }
  // The version of a PyTorch that a process has and that cannot be carried; empty: it has none at all.
  const std::optional<std::string>& unusable() const { return unusable_; }
  // The calls that other threads of this rank wanted to make when its newest failed, or that they want now. Waits a moment for them
  // where the process has other threads.
  std::vector<Request> calls_held_back(Rank rank);
  // The exception of a process outside of all ranks, such as the one that was to start them. Null: none said one, or this rank came.
  const Request* raised_before(Rank rank) const;

 private:
  struct HeldBack {
    Request call;
    bool is_final = false;  // what held it back has failed
  };
  struct RankSlot {
    bool has_threads = false;
    std::unique_ptr<Connection> connection;
    pid_t pid = 0;
    Time only_slept{};  // real time that its process has taken since a request that was not to sleep
    std::optional<int> goodbye;  // the exit status that a process says which the script has started
  };

  explicit Job(const JobOptions& options)
      : options_(options),
        nowhere_(open("/dev/null", O_WRONLY | O_CLOEXEC)),
        out_(options.silent ? nowhere_.get() : options.all_to_stderr ? STDERR_FILENO : STDOUT_FILENO),
        err_(options.silent ? nowhere_.get() : STDERR_FILENO) {}
  bool starts_its_ranks_itself() const { return options_.ranks == 0; }
  Status begin();
  Status start_process(int rank);
  std::vector<std::string> variables_of(int rank) const;
  std::vector<std::string> common_environment() const;
  bool forks_ranks();
  // True for a store whose file is there, as long as rank 0 can still say that it is not.
  bool waits_for_rank_0();
  // How the rank's process ended; nothing: it runs, or is to come.
  std::optional<Ended> end_of(Rank rank);
  std::string seat_problem(const Request& hello);
  Status listen();
  void wait_for_calls_held_back(const RankSlot& slot);
  // Until somebody prints, asks or ends, or for a short time.
  void wait_a_little();
  void look_at_all();
  void accept_guests();
  void seat_newcomers();
  void refuse(Connection& connection, const std::string& why);
  bool all_ended();
  std::vector<StackFrame> stack_of(pid_t pid);
  RankSlot& slot_of(Rank rank) { return slots_[static_cast<std::size_t>(rank)]; }

  JobOptions options_;
  HeldSignals signals_;
  const RealRuntime clock_;
  Listener port_;
  std::optional<TemporaryFolder> folder_;
  Descriptor listener_;
  std::vector<RankSlot> slots_;                               // by rank
  std::vector<std::unique_ptr<LaunchedRank>> processes_;  // of each rank, or the one that starts them
  std::vector<std::optional<Ended>> ended_;
  std::vector<std::unique_ptr<Connection>> newcomers_;
  std::optional<Introduction> introduction_;
  std::string cannot_execute_;
  std::optional<std::string> unusable_;
  std::optional<Request> raised_outside_;
  std::vector<HeldBack> held_back_;
  std::optional<Time> first_failure_;  // of a rank with several threads, in real time
  bool forks_ = false;
  Descriptor nowhere_;
  LineSink out_, err_;
};

}  // namespace pdsim::scenarios::guests
