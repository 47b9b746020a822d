// Runs a program of tests/helpers/world_rank.cpp in a real world.
#pragma once

#include "scenarios/worlds/real_world.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pdsim::scenarios {

inline Scenario scenario_of(std::string_view what, int ranks) {
  Scenario scenario;
  scenario.file = "none.yaml";
  scenario.variant = what;
  scenario.world.spec.ranks_per_node = ranks;
  return scenario;
}

// `patience`: how long nothing may move; nothing: as the world needs it.
inline RunRecord run_in(std::string_view world, std::string_view what, int ranks = 2,
                        std::optional<Time> patience = {}) {
  using namespace literals;
  const Scenario scenario = scenario_of(what, ranks);
  RunOptions options;
  options.executable = PDSIM_WORLD_RANK;
  options.rank_command = {"rank", std::string(world), std::string(what)};
  // Within it a rank comes up, and of some libraries that takes a while on a busy machine; so does a proof.
  options.patience = patience ? *patience : world == "gloo" && what != "own_algorithms" ? 500_ms : 4_s;
  Result<RunRecord> record = real_world(world)->run(scenario, options, {});
  EXPECT_TRUE(record.ok()) << record.error().message;
  return record.ok() ? std::move(*record) : RunRecord{};
}

}  // namespace pdsim::scenarios
