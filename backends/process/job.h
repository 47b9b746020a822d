// A job whose processes were started by a launcher (mpirun, srun, torchrun): the source of the ranks of process worlds there.
// Created by backends/launch/gathered_job.h.
#pragma once

#include "backends/process/rank_process.h"

#include <memory>
#include <string>
#include <vector>

namespace pdsim {

class Job {
 public:
  virtual ~Job() = default;
  virtual int size() const = 0;
  virtual std::string store_host() const = 0;  // where rank 0's process can serve a store that all ranks reach
  // A port of this job refused a process, and continues; called from any thread.
  virtual void refused(const std::string& address, const std::string& why) = 0;
  virtual std::string problem() const = 0;  // why no other part can run; empty when one can
  // The rank's process begins: with `arguments`, or the existing process continues with the part (`once`). `elapsed`: since the
  // epoch of `word`, as machines do not share a clock.
  virtual std::unique_ptr<WatchedRank> start_rank(const RankStart& word, Time elapsed,
                                                  const std::vector<std::string>& arguments, bool once) = 0;
};

}  // namespace pdsim
