// Scenarios with sub-groups, uneven collectives, batches, messages from anybody and the checked mode, as they run.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios {
namespace {

// How it ended: "ok", or the outcome with the first error's rank, code and text.
std::string ends(const std::string& program, const std::string& backend = "gloo", const std::string& world = "") {
  const LoadedFile file = load_text(
      "mine.yaml", fmt::format("pdsim: 1\nname: mine\nsummary: one sentence\nworld: {{ranks: 4, backend: {}{}}}\n"
                               "program:\n  - init_process_group\n{}expect: {{outcome: ok}}\n",
                               backend, world, program));
  if (file.errors > 0) return render(file, file.diagnostics.front());
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  if (!report.ok()) return report.error().message;
  if (report->outcome == Outcome::ok) return report->diagnosis() ? "ok, but " + report->diagnosis()->headline : "ok";
  if (report->errors.empty()) return std::string(name_of(report->outcome));
  const RankError& e = report->errors.front();
  return fmt::format("{}: rank {}, {}: {}", name_of(report->outcome), e.rank, name_of(e.code), e.message);
}

constexpr const char* backends[] = {"gloo", "nccl", "mpi", "ideal"};

TEST(SubGroup, SumsOverItsMembersOnly) {
  for (const char* backend : backends)
    EXPECT_EQ(ends("  - new_group: {name: odd, ranks: odd}\n  - all_reduce: {count: 9, group: odd}\n", backend), "ok");
}

TEST(SubGroup, NeedsNoCallOfRanksOutside) {
  EXPECT_EQ(ends("  - new_group: {name: a, ranks: [1, 3]}\n  - barrier: {group: a}\n    when: {rank: [1, 3]}\n"), "ok");
}

TEST(SubGroup, IsUnknownToARankThatDidNotCallNewGroup) {
  EXPECT_EQ(ends("  - new_group: {name: a, ranks: [1, 3]}\n    when: {rank: [1, 3]}\n  - barrier: {group: a}\n"),
            "error: rank 0, invalid-argument: barrier: rank 0 has not called a new_group named `a`");
}

TEST(SubGroup, KnowsItsOwnRanksAsRoots) {
  EXPECT_EQ(ends("  - new_group: {name: a, ranks: [1, 3]}\n  - broadcast: {count: 4, src: 2, group: a}\n"),
            "error: rank 1, invalid-argument: broadcast: global rank 2 is not in the process group a, whose ranks are "
            "1, 3");
}

TEST(SubGroup, IsGoneAfterDestroy) {
  EXPECT_EQ(ends("  - new_group: {name: a, ranks: all}\n  - destroy_process_group: {group: a}\n  - barrier\n"), "ok");
  EXPECT_EQ(
      ends("  - new_group: {name: a, ranks: all}\n  - destroy_process_group: {group: a}\n  - barrier: {group: a}\n"),
      "error: rank 0, group-destroyed: barrier: the process group a was destroyed");
  EXPECT_EQ(ends("  - new_group: {name: a, ranks: all}\n  - destroy_process_group\n  - barrier: {group: a}\n"),
            "error: rank 0, group-destroyed: barrier: the process group a was destroyed");
}

TEST(NewGroupOperation, NeedsInit) {
  EXPECT_EQ(
      ends("  - destroy_process_group\n  - new_group: {name: a, ranks: all}\n"),
      "error: rank 0, not-initialized: new_group needs the world's process group: call init_process_group before it");
}

TEST(UnevenCollective, MovesPartsOfEverySizeAndIsNotTakenForAMismatch) {
  for (const char* backend : backends)
    for (const char* call :
         {"all_gather_v: {counts", "reduce_scatter_v: {counts", "all_to_all_single: {input_split_sizes"})
      EXPECT_EQ(ends(fmt::format("  - {}: [3, 0, 7, 2]}}\n", call), backend), "ok");
}

TEST(UnevenCollective, TakesWhatEachRankSaysItSendsAndReceives) {
  std::string program;
  for (int rank = 0; rank < 4; ++rank)
    program += fmt::format(
        "  - all_to_all_single: {{input_split_sizes: [{0}, {0}, {0}, {0}], output_split_sizes: [1, 2, 3, 4]}}\n"
        "    when: {{rank: {1}}}\n",
        rank + 1, rank);
  for (const char* backend : backends) EXPECT_EQ(ends(program, backend), "ok");
}

TEST(ObjectCollective, MovesObjectsOfDifferentSizes) {
  for (const char* backend : backends) {
    EXPECT_EQ(ends("  - all_gather_object: {size: 100B}\n    when: {rank: 0}\n  - all_gather_object: {size: 1KiB}\n"
                   "    when: {rank: not 0}\n",
                   backend),
              "ok");
    EXPECT_EQ(ends("  - gather_object: {size: 100B, dst: 2}\n    when: {rank: 0}\n"
                   "  - gather_object: {size: 1KiB, dst: 2}\n    when: {rank: not 0}\n",
                   backend),
              "ok");
    EXPECT_EQ(
        ends("  - broadcast_object_list: {size: 100B, src: 3}\n  - scatter_object_list: {size: 7B, group_src: 1}\n",
             backend),
        "ok");
  }
}

TEST(ObjectCollective, IsNothingOnARankOutsideOfTheGroup) {
  EXPECT_EQ(ends("  - new_group: {name: a, ranks: 1..2}\n  - all_gather_object: {group: a}\n"
                 "  - broadcast_object_list: {group: a, src: 2}\n  - gather_object: {group: a, group_dst: 1}\n"
                 "  - scatter_object_list: {group: a}\n"),
            "ok");
}

TEST(Repeat, RunsItsBodyInRoundsThatWhenAndReportsNameAsSteps) {
  EXPECT_EQ(ends("  - repeat: {times: 3, do: [{all_reduce: {count: 4}}, {repeat: {times: 2, do: [barrier]}}]}\n"),
            "ok");
  EXPECT_EQ(ends("  - repeat:\n      times: 3\n      do:\n        - all_reduce: {count: 4}\n"
                 "          when: {step: 2, rank: not 1}\n"),
            "error: rank 0, peer-closed: Connection closed by peer: rank 1 has ended");
  EXPECT_EQ(ends("  - repeat:\n      times: 3\n      do:\n        - barrier\n        - raise: {message: enough}\n"
                 "          when: {step: 1}\n"),
            "error: rank 0, program-raised: enough");
}

TEST(Repeat, MayMakeAndDestroyGroups) {
  EXPECT_EQ(ends("  - repeat:\n      times: 2\n      do:\n        - new_group: {name: a, ranks: 0..1}\n"
                 "        - all_reduce: {group: a}\n        - destroy_process_group: {group: a}\n"),
            "ok");
}

TEST(RootedCall, TakesRanksOfTheWorldOrOfTheGroup) {
  const std::string made = "  - new_group: {name: a, ranks: 2..3}\n";
  EXPECT_EQ(ends(made + "  - broadcast: {group: a, src: 3}\n  - reduce: {group: a, group_dst: 1}\n"), "ok");
  EXPECT_EQ(ends(made + "  - broadcast: {group: a, src: 3}\n    when: {rank: 2}\n"
                        "  - broadcast: {group: a, group_src: 1}\n    when: {rank: 3}\n"),
            "ok");
}

TEST(UnevenCollective, WantsAsManyCountsAsTheGroupHasRanks) {
  EXPECT_EQ(ends("  - new_group: {name: a, ranks: 0..2}\n  - all_gather_v: {counts: [1, 2], group: a}\n"),
            "error: rank 0, invalid-argument: all_gather_v: 2 counts were given, and the group has 3 ranks");
}

TEST(Scan, CombinesTheRanksBefore) {
  for (const char* backend : backends)
    EXPECT_EQ(ends("  - scan: {count: 5, op: sum}\n  - exscan: {count: 5, op: max, dtype: i64}\n", backend), "ok");
}

TEST(Batch, StartsAllItsMessagesBeforeItWaits) {
  const std::string in_order =
      "  - send: {dst: 1}\n    when: {rank: 0}\n  - send: {dst: 0}\n    when: {rank: 1}\n"
      "  - recv: {src: 1}\n    when: {rank: 0}\n  - recv: {src: 0}\n    when: {rank: 1}\n";
  EXPECT_EQ(ends(in_order), "deadlock");
  EXPECT_EQ(ends("  - batch_isend_irecv:\n      messages:\n"
                 "        - {isend: {dst: 1}, when: {rank: 0}}\n        - {isend: {dst: 0}, when: {rank: 1}}\n"
                 "        - {irecv: {src: 1}, when: {rank: 0}}\n        - {irecv: {src: 0}, when: {rank: 1}}\n"),
            "ok");
}

TEST(RecvFromAny, TakesWhoSendsFirstAndDoesNotExistOnNccl) {
  const std::string program =
      "  - compute: {time: 1ms}\n    when: {rank: 1}\n  - send: {dst: 3, count: 8}\n    when: {rank: 1..2}\n"
      "  - recv: {src: any, count: 8}\n    when: {rank: 3}\n  - recv: {src: any, count: 8}\n    when: {rank: 3}\n";
  for (const char* backend : {"gloo", "mpi", "ideal"}) EXPECT_EQ(ends(program, backend), "ok");
  EXPECT_NE(ends(program, "nccl").find("nccl of pytorch-2.6 does not offer a receive from any source"),
            std::string::npos);
}

TEST(Tags, DoNotExistOnNccl) {
  const std::string program =
      "  - send: {dst: 1, count: 8, tag: 1}\n    when: {rank: 0}\n"
      "  - recv: {src: 0, count: 8, tag: 2}\n    when: {rank: 1}\n";
  EXPECT_EQ(ends(program, "nccl"), "ok");
  EXPECT_EQ(ends(program, "gloo"), "deadlock");
}

TEST(MonitoredBarrier, NamesWhoDoesNotCome) {
  const std::string late = "  - compute: {time: 20s}\n    when: {rank: 2..}\n";
  EXPECT_EQ(ends("  - monitored_barrier\n"), "ok");
  EXPECT_EQ(ends("  - monitored_barrier\n", "ideal"), "ok");  // a group without a timeout
  EXPECT_EQ(ends(late + "  - monitored_barrier: {timeout: 2s}\n"),
            "timeout: rank 0, timeout: monitored_barrier of world: rank 2 did not reach it within 2s");
  EXPECT_EQ(ends(late + "  - monitored_barrier: {timeout: 2s, wait_all_ranks: true}\n"),
            "timeout: rank 0, timeout: monitored_barrier of world: ranks 2, 3 did not reach it within 2s");
}

TEST(CheckedMode, TellsWhoCallsWhatBeforeAnythingIsStarted) {
  for (const char* backend : backends) {
    EXPECT_EQ(
        ends("  - broadcast: {count: 4, src: 1}\n    when: {rank: 2}\n  - all_reduce: {count: 4}\n    when: {rank: "
             "not 2}\n",
             backend, ", debug: detail"),
        "error: rank 0, collective-mismatch: the ranks of world called different collectives: all_reduce #1 of 4 "
        "f32, sum on ranks 0, 1, 3 against broadcast #1 of 4 f32, src 1 on rank 2");
    EXPECT_EQ(ends("  - new_group: {name: a, ranks: 1..}\n  - all_reduce: {count: 4, group: a}\n    when: {rank: 3}\n"
                   "  - all_reduce: {count: 5, group: a}\n    when: {rank: 1..2}\n",
                   backend, ", debug: detail"),
              "error: rank 1, collective-mismatch: the ranks of a called different collectives: all_reduce #1 of "
              "5 f32, sum on ranks 1, 2 against all_reduce #1 of 4 f32, sum on rank 3");
  }
}

}  // namespace
}  // namespace pdsim::scenarios
