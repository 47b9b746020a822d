// A simulated world whose ranks all have RPC: worker0, worker1 ...
#pragma once

#include "core/rpc/rpc.h"
#include "sim/run.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace pdsim {

inline std::string worker_name(Rank rank) { return "worker" + std::to_string(rank); }

// Each rank registers `functions`, joins, runs `program`, and shuts down unless that has failed or done so.
inline RunRecord run_rpc(const sim::WorldSpec& spec, const std::function<RpcFunctions(RankEnvironment&)>& functions,
                         const std::function<Status(Rpc&, RankEnvironment&)>& program, RpcOptions options = {},
                         const sim::RunOptions& how = {}) {
  auto run = sim::run(spec, how, [&](RankEnvironment& env) -> ProgramResult {
    const RpcFunctions registered = functions(env);
    Rpc rpc(env, registered);
    if (Status joined = rpc.init_rpc(worker_name(env.rank), options); !joined.ok()) return {joined, {}};
    if (Status ran = program(rpc, env); !ran.ok()) return {ran, {}};
    return {rpc.worker_info().ok() ? rpc.shutdown().status() : Status(), {}};
  });
  EXPECT_TRUE(run.ok());
  return run.ok() ? std::move(*run) : RunRecord{};
}

inline sim::WorldSpec world_of(int ranks) {
  sim::WorldSpec spec;
  spec.ranks_per_node = ranks;
  return spec;
}

inline bool all_returned(const RunRecord& run) {
  bool all = true;
  for (const RankResult& rank : run.ranks) {
    EXPECT_EQ(rank.log.error.message, "");
    all &= rank.log.end == RankEnd::returned;
  }
  return all;
}

}  // namespace pdsim
