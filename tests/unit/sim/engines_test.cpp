// Every engine gives the same times and results, whichever RunOptions::engine names.
#include "tests/unit/sim/engines.h"

#include "core/base/fingerprint.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::sim {
namespace {

TEST(Engines, AreNamed) {
  for (const EngineRow& row : engines) EXPECT_EQ(engine_named(row.name), row.engine);
  EXPECT_EQ(engine_named("fast"), std::nullopt);
}

// Of all that a program can see: how and when its calls and ranks ended, and what they computed.
std::string seen(const RunRecord& run) {
  Fingerprint all;
  for (const RankResult& rank : run.ranks) {
    all.add(static_cast<std::uint64_t>(rank.log.end));
    all.add(static_cast<std::uint64_t>(rank.log.ended.ps));
    all.add(rank.log.error.message);
    for (const auto& call : rank.log.calls) {
      all.add(static_cast<std::uint64_t>(call.issued.ps));
      all.add(static_cast<std::uint64_t>(call.finished.ps));
    }
    for (const auto& [name, values] : rank.values)
      for (const double value : values) all.add(std::bit_cast<std::uint64_t>(value));
  }
  all.add(static_cast<std::uint64_t>(run.message_count));
  all.add(static_cast<std::uint64_t>(run.elapsed.ps));
  return fingerprint_text(all.value());
}

// Calls with and without data, in a world where each engine accepts the latter, and in one where only some do.
TEST(Engines, GiveTheSameTimesAndResults) {
  const std::pair<Sharing, int> shared[]{{Sharing::none, 0}, {Sharing::ports, 0}, {Sharing::none, 3}, {Sharing::ports, 3}};
  for (const auto& [sharing, cores] : shared) {
    WorldSpec spec = world(8, "ideal");
    spec.sharing = sharing;
    spec.cores = cores;
    spec.buffering = Buffering::zero;
    spec.reduce_bandwidth = Rate{90'000'000'000};
    const auto body = [](RankEnvironment& env, ProcessGroup& g) -> Status {
      env.runtime.compute(Time{g.rank() * 1'000});
      for (int i = 0; i < 3; ++i) {
        PDSIM_TRY(wait(g.all_reduce({nullptr, DType::f32, 1000}, ReduceOp::sum)));
        PDSIM_TRY(sum_ones(g, 100));
        PDSIM_TRY(wait(g.barrier()));
      }
      return {};
    };
    std::map<std::string_view, std::string> prints;
    std::map<std::string_view, std::int64_t> events;
    for (const EngineRow& row : engines) {
      const RunRecord run = with_group(spec, body, by(row.engine));
      prints[row.name] = seen(run);
      events[row.name] = run.events;
    }
    for (const auto& [name, print] : prints) EXPECT_EQ(print, prints.at("exchange")) << name;
    EXPECT_EQ(events.at("in-flight"), events.at("exchange"));
    if (sharing == Sharing::none && cores == 0) {
      EXPECT_LT(events.at("closed-form"), events.at("exchange"));
    } else {
      EXPECT_EQ(events.at("closed-form"), events.at("exchange"));
    }
  }
}

TEST(Engines, LeaveTheFingerprintToTheExchangeAndTheInFlightEngineAlike) {
  WorldSpec spec = world(8, "nccl");
  const auto body = [](RankEnvironment&, ProcessGroup& g) -> Status {
    return wait(g.all_reduce({nullptr, DType::f32, 1000}, ReduceOp::sum));
  };
  EXPECT_EQ(with_group(spec, body, by(Engine::in_flight)).fingerprint,
            with_group(spec, body, by(Engine::exchange)).fingerprint);
}

}  // namespace
}  // namespace pdsim::sim
