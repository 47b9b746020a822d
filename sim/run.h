// Runs rank programs in a simulated world: the entry point of this folder.
//
//   result   flight records of every rank; at a deadlock as of that moment, after which the run continued so that
//            RunRecord::watchdog can hold the report of the backend itself, with its time
//   errors   invalid_argument (strategy, library, profile), limit_exceeded (ranks)
//   repeats  same spec, strategy, seed and program: same fingerprint, on every compiler
//   throws   nothing; leaves nothing behind
//
//   WorldSpec world;
//   world.ranks_per_node = 4;
//   Result<RunRecord> run = sim::run(world, {}, [](RankEnvironment& env) -> ProgramResult {
//     auto group = init_process_group(env);
//     if (!group.ok()) return {group.error()};
//     return {wait(group->barrier())};
//   });
#pragma once

#include "core/base/random.h"
#include "core/group/rank_program.h"
#include "sim/world_spec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pdsim::sim {

// The simulation engine for a collective's messages. All engines give the same times and results; a call that an engine does not
// accept goes to the exchange.
enum class Engine : std::uint8_t {
  automatic,    // the fastest that accepts the call
  exchange,     // every call: message by message, with matching
  in_flight,    // collectives of the shared algorithms without splits, where no send is eager: message by message, from their plans
  closed_form,  // calls without data that nothing can disturb: computed in one go
};

struct EngineRow {
  Engine engine;
  std::string_view name;
};

inline constexpr std::array<EngineRow, 4> engines{{{Engine::automatic, "auto"},
                                                   {Engine::exchange, "exchange"},
                                                   {Engine::in_flight, "in-flight"},
                                                   {Engine::closed_form, "closed-form"}}};

constexpr std::optional<Engine> engine_named(std::string_view name) {
  for (const EngineRow& row : engines)
    if (row.name == name) return row.engine;
  return std::nullopt;
}

struct RunOptions {
  Engine engine = Engine::automatic;
  std::string strategy = "fifo";  // fifo | random | replay:0.1.1
  bool record_messages = false;
  std::size_t message_limit = 20'000;  // records kept
  std::size_t trace_limit = 0;         // events of RunRecord::trace kept
  // For tests: picoseconds by which a message is late. Every call then goes through the exchange.
  std::function<std::int64_t(Random&)> disturb = {};
};

inline constexpr std::size_t default_trace_limit = 1'000'000;

Result<RunRecord> run(const WorldSpec& spec, const RunOptions& options, const RankProgram& program);

}  // namespace pdsim::sim
