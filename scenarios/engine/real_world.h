// Worlds of real processes: the launcher's side (a WorldRunner) and the rank's (run_rank).
//
//   start    the launcher starts `<executable> rank <world> <file> --variant <v>` once per rank; that hidden command loads the
//            same file and calls run_rank with the same rank program as the simulated world runs. RunOptions::rank_command
//            is started instead where the program is no scenario's
//   record   each rank's RankResult as JSON; also of a rank that hangs, through its watchdog thread
//   time     one scale for all ranks: since the launcher began
#pragma once

#include "backends/local/rank_channel.h"
#include "core/group/rank_program.h"
#include "scenarios/engine/world.h"

#include <memory>
#include <string_view>

namespace pdsim::scenarios {

// The runner of gloo, mpi or nccl; available() tells the truth about this build and machine.
std::unique_ptr<WorldRunner> real_world(std::string_view name);

// In the rank's process: joins the world behind `channel`, runs `program`, hands over the record. Returns the exit status, or
// ends the process at once where the program asked for an unclean relaunch.
int run_rank(RankChannel& channel, std::string_view world, const Scenario& scenario, const RankProgram& program);

// The same for one process that runs several programs, one after the other, as the channel asks for them; the backend stays.
struct RankPart {
  Scenario scenario;
  RankProgram program;
};
int run_rank_parts(RankChannel& channel, std::string_view world, const std::function<RankPart(int part)>& part);

}  // namespace pdsim::scenarios
