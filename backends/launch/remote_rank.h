// Rank 0's end of a rank started by an agent.
#pragma once

#include "backends/launch/gathered_job.h"
#include "backends/process/rank_process.h"

#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// An agent's instructions for a start, and the frame forms of those and of a process's end.
struct AgentStart {
  RankStart word;
  Time elapsed{};        // since the run began: machines do not share a clock
  bool goes_on = false;  // the existing process runs this part
  std::vector<std::string> arguments;
};
std::string text_of(const AgentStart& start);
Result<AgentStart> agent_start_of(std::string_view text);

struct AgentEnded {
  Ended how;
  bool by_agent = false;  // the agent was told to end the process
  std::string output;
};
std::string text_of(const AgentEnded& ended);
AgentEnded agent_ended_of(std::string_view text);

class RemoteRank final : public WatchedRank {
 public:
  // `agent` outlives it. `once`: the process stays after its last frame, for the next part.
  RemoteRank(GatheredJob::Agent& agent, const AgentStart& start, bool once);

  bool service() override;
  void add_to(std::vector<pollfd>& waiting) const override;
  void ask() override;
  void end() override;
  bool closing() const override { return false; }

 private:
  void lose();
  GatheredJob::Agent& agent_;
  bool once_;
};

}  // namespace pdsim
