// A job whose processes mpirun, srun, torchrun or `pdsim launch` has started: rank 0's command finds the agents of all ranks, tells
// them what to run, and sees their ranks as if it had started them itself.
//
//   processes  the command of rank 0 runs as it would without a job; beside it, and in all other processes, an agent
//              (agent.h) starts the processes that do a rank's work, one after the other. So a rank may crash or hang without
//              ending the job, and every rank's process ends with the same exit status
//   once       where a library begins only once in a job (MPI), one process per rank runs all parts. After a part that did not
//              end well there is no other: `spent`
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
  // In rank 0's process, before it has another thread: starts its agent, with `executable` for its rank, and waits until all
  // ranks are here. Errors, which the others are told too: invalid_argument (two say they are the same rank, another size,
  // another version; no port to listen on), unavailable (ranks that did not come), io_error. A job that cannot start waits two seconds
  // more, so that late processes learn why.
  // `notice` gets a line for people whenever a process is refused for its secret, which ends nothing; at most sixteen of them.
  // From any thread, one at a time.
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

  // What the agents and this share about one rank.
  struct Agent {
    JobLink link;
    Rank rank = 0;
    bool began = false;  // its one process, where there is only one
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
  std::vector<std::unique_ptr<Agent>> agents_;  // by rank; null: not here yet
  pid_t own_agent_ = -1;
  bool said_goodbye_ = false;
};

}  // namespace pdsim
