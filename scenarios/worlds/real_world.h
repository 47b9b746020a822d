// Worlds of real processes: the launcher's side (a WorldRunner) and the rank's (run_rank).
//
//   start    the launcher starts `<executable> rank <world>` once per rank; that hidden command calls run_requests, which reads
//            the work from the rank's start frame (rank_request.h). The program of a scenario is the one that the simulated
//            world runs
//   record   each rank's RankResult as JSON; also for a hung rank, through its watchdog thread
//   time     one scale for all ranks: since the launcher began
#pragma once

#include "backends/process/rank_channel.h"
#include "core/group/rank_program.h"
#include "scenarios/worlds/world.h"

#include <memory>
#include <string_view>

namespace pdsim::scenarios {

// The runner of gloo, mpi or nccl; available() reports what this build and machine have.
std::unique_ptr<WorldRunner> real_world(std::string_view name);

// In the rank's process: joins the world behind `channel`, runs the launcher's requests, hands over the record. Where the
// launcher says that the process stays, one request after the other; the backend stays, too. Returns the exit status, or ends the
// process at once where the program asked for an unclean relaunch.
int run_requests(RankChannel& channel, std::string_view world);

// The same for a program of the caller's own.
int run_rank(RankChannel& channel, std::string_view world, const Scenario& scenario, const RankProgram& program);

}  // namespace pdsim::scenarios
