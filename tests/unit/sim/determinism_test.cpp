#include "sim/world/determinism.h"

#include "core/base/fingerprint.h"
#include "sim/kernel/trace.h"
#include "tests/helpers/planted_leaks.h"
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

namespace pdsim::sim {
namespace {

constexpr int most_reruns = 100;

// The address sanitizer writes a pattern into new memory, so that there every byte is the same in all runs.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool memory_is_filled = true;
#elif defined(__has_feature)
constexpr bool memory_is_filled = __has_feature(address_sanitizer);
#else
constexpr bool memory_is_filled = false;
#endif

Result<std::string> difference(const RunOptions& options, int reruns) {
  WorldSpec spec = world(4);
  spec.intra.jitter = 2_us;
  RunOptions traced = options;
  traced.trace_limit = default_trace_limit;
  const RankProgram program = in_group([](RankEnvironment&, ProcessGroup& g) { return sum_ones(g, 6); });
  const auto first = run(spec, traced, program);
  if (!first.ok()) return first.error();
  return difference_on_rerun(*first, spec, options, program, reruns);
}

TEST(Determinism, HoldsForEveryStrategyInAHeapOfAnyShape) {
  RunOptions options;
  for (const char* strategy : {"fifo", "random", "replay:1.2.3"}) {
    options.strategy = strategy;
    EXPECT_EQ(difference(options, 5).value(), "") << strategy;
  }
}

TEST(Determinism, EveryPlantedLeakThatARerunCanSeeIsCaught) {
  int caught = 0;
  for (const planted::LeakRow& leak : planted::leaks()) {
    if (memory_is_filled && leak.name == "uninitialised-byte") continue;
    RunOptions options;
    options.disturb = leak.draw;
    const std::string found = difference(options, most_reruns).value();
    EXPECT_EQ(!found.empty(), leak.caught_by == planted::CaughtBy::rerun) << leak.name;
    caught += found.empty() ? 0 : 1;
    std::printf("%-20s %s\n", std::string(leak.name).c_str(), found.empty() ? "needs another build" : found.c_str());
  }
  std::printf("caught %d of %d by running again\n", caught, static_cast<int>(planted::leaks().size()));
}

TEST(Determinism, TheFirstDifferingEventIsNamed) {
  RunOptions options;
  options.disturb = planted::leak_named("static-counter")->draw;
  const std::string found = difference(options, 1).value();
  EXPECT_NE(found.find("event "), std::string::npos) << found;
  EXPECT_NE(found.find(" in run 1, "), std::string::npos) << found;
}

RunRecord record(std::vector<RunEvent> events, std::vector<std::uint32_t> choices = {}) {
  Trace trace(events.size());
  for (const RunEvent& e : events) trace.add(e);
  trace.add_choices(choices);
  RunRecord r;
  r.choices = std::move(choices);
  r.fingerprint = trace.fingerprint();
  r.trace = trace.take_events();
  return r;
}

TEST(FirstDifference, TellsTimeContentLengthAndChoicesApart) {
  const RunEvent sent{1_us, RunEvent::Kind::sent, 0, 1, 8, 0};
  const RunEvent later{2_us, RunEvent::Kind::sent, 0, 1, 8, 0};
  const RunEvent one{3_us, RunEvent::Kind::received, 1, 0, 8, 5};
  const RunEvent other{3_us, RunEvent::Kind::received, 1, 0, 8, 6};
  EXPECT_EQ(first_difference(record({sent}), record({sent})), "");
  EXPECT_EQ(
      first_difference(record({sent}), record({later})),
      "event 0: rank 0 sent 8 B to rank 1 at 1000000 ps in run 1, rank 0 sent 8 B to rank 1 at 2000000 ps in run 2");
  EXPECT_EQ(first_difference(record({sent, one}), record({sent, other})),
            "event 1: rank 1 received 8 B from rank 0 at 3000000 ps in both runs, but with different content");
  EXPECT_EQ(first_difference(record({sent}), record({sent, one})),
            "event 1: nothing more in run 1, rank 1 received 8 B from rank 0 at 3000000 ps in run 2");
  EXPECT_EQ(first_difference(record({sent}, {0, 1}), record({sent}, {0, 2})), "choice 1: 1 in run 1, 2 in run 2");
}

}  // namespace
}  // namespace pdsim::sim
