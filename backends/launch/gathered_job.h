// A job whose processes were started by mpirun, srun, torchrun or `pdsim launch`: rank 0's command finds the agents of all ranks,
// sends them their work, and watches their ranks as if it had started them itself.
//
//   processes  the command of rank 0 runs as it would without a job; beside it, and in all other processes, an agent
//              (agent.h) starts the processes that do a rank's work, one after the other. So a rank may crash or hang without
//              ending the job, and every rank's process ends with the same exit status
//   once       where a library can begin only once in a job (MPI), one process per rank runs all parts. A part that did not
//              end well is the last one: `spent`
//   stores     are served by rank 0's command, at MASTER_ADDR or on the loopback interface
//   threads    one, which lives as long as the job
#pragma once

#include "backends/launch/job_link.h"
#include "backends/process/job.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

class GatheredJob final : public Job {
 public:
  // Call it in rank 0's process, before it has another thread: starts its agent, with `executable` for its rank, and waits until
  // all ranks have joined. Errors, which are sent to the other ranks too: invalid_argument (two processes claim the same rank,
  // another size, another version; no port to listen on), unavailable (missing ranks), io_error. A job that cannot start waits
  // two seconds more, so that late processes learn why. `notice` receives a line for people whenever a process is refused for its
  // secret, which does not end the job; at most sixteen lines. It is called from any thread, one at a time.
  using Notice = std::function<void(const std::string& line)>;
  static Result<std::unique_ptr<GatheredJob>> gather(const JobPlace& place, const std::string& executable, Time within,
                                                     Notice notice = {});
  // Tells all agents to end, with status 4 unless goodbye was said, and waits for its own.
  ~GatheredJob() override;

  int size() const override { return place_.size; }
  std::string store_host() const override { return place_.host.empty() ? "127.0.0.1" : place_.host; }
  std::string problem() const override;
  std::unique_ptr<WatchedRank> start_rank(const RankStart& word, Time elapsed,
                                          const std::vector<std::string>& arguments, bool once) override;
  void refused(const std::string& address, const std::string& why) override;
  void goodbye(int status, std::string_view why = {});

  // The state of one rank that its agent and this object share.
  struct Agent {
    JobLink link;
    Rank rank = 0;
    bool began = false;  // its only process, where there is only one
    bool spent = false;
  };

 private:
  GatheredJob(JobPlace place, Notice notice) : place_(std::move(place)), notice_(std::move(notice)) {}
  Status start_own_agent(const std::string& executable, int listener, Time within);
  Status wait_for_all(int listener, Time within);
  std::string objection(const JobHello& hello) const;
  std::optional<Rank> admit(JobLink& link, const std::string& hello, Status& outcome);

  JobPlace place_;
  Notice notice_;
  std::mutex noticing_;
  std::set<std::string> noticed_;
  std::vector<std::unique_ptr<Agent>> agents_;  // by rank; null: not joined yet
  pid_t own_agent_ = -1;
  bool said_goodbye_ = false;
};

}  // namespace pdsim
