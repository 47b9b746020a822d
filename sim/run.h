// Runs rank programs in a simulated world: the entry point of this folder.
//
//   result   flight records of every rank; at a deadlock as they were at that moment, after which the run went on so that
//            RunRecord::watchdog can say what the backend itself would have reported, and when
//   errors   invalid_argument (strategy, library, profile, leak), limit_exceeded (ranks)
//   repeats  same spec, strategy, seed and program: same fingerprint, on every compiler
//   throws   nothing; leaves nothing behind
#pragma once

#include "core/group/rank_program.h"
#include "sim/world_spec.h"

#include <cstddef>
#include <string>

namespace pdsim::sim {

struct RunOptions {
  std::string strategy = "fifo";  // fifo | random | replay:0.1.1
  bool record_messages = false;
  std::size_t message_limit = 20'000;  // records kept
  std::size_t trace_limit = 0;         // events of RunRecord::trace kept
  std::string leak = {};               // a planted leak (leaks.h); "": none
};

inline constexpr std::size_t default_trace_limit = 1'000'000;

Result<RunRecord> run(const WorldSpec& spec, const RunOptions& options, const RankProgram& program);

}  // namespace pdsim::sim
