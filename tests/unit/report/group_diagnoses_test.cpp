// Diagnoses of process groups, of calls that ranks do not come out of, of messages, and of timeouts: in the simulated world, from files.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

struct Told {
  std::string outcome, id = "none", headline, cause, error;
  std::vector<Rank> ranks;
  std::vector<std::string> blocked;  // "0 all_reduce"
};

Told told(const std::string& program, const std::string& backend = "gloo", const std::string& world = "") {
  const LoadedFile file = load_text(
      "mine.yaml",
      fmt::format("pdsim: 1\nname: mine\nsummary: one sentence\nseed: 3\n"
                  "world: {{ranks: 4, backend: {}{}}}\nprogram:\n  - init_process_group\n{}expect: {{outcome: ok}}\n",
                  backend, world, program));
  if (file.errors > 0) {
    ADD_FAILURE() << render(file, file.diagnostics.front());
    return {};
  }
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  if (!report.ok()) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  Told t;
  t.outcome = name_of(report->outcome);
  if (!report->errors.empty())
    t.error = fmt::format("{} after {}: {}", name_of(report->errors.front().code), to_string(report->errors.front().at),
                          report->errors.front().message);
  for (const BlockedRank& b : report->blocked) t.blocked.push_back(fmt::format("{} {}", b.rank, b.in));
  if (!report->diagnosis()) return t;
  t.id = report->diagnosis()->id;
  t.headline = report->diagnosis()->headline;
  t.cause = report->diagnosis()->cause;
  t.ranks = report->diagnosis()->ranks;
  return t;
}

constexpr const char* backends_of_groups[] = {"gloo", "nccl", "mpi", "ideal"};
const char* const short_timeout = ", timeout: 10s";

TEST(NewGroupMismatch, NamesTheMembersThatDidNotCall) {
  for (const char* backend : backends_of_groups) {
    const Told t = told(
        "  - new_group: {name: pair, ranks: [0, 2]}\n    when: {rank: 0}\n"
        "  - all_reduce: {count: 4, group: pair}\n    when: {rank: 0}\n  - barrier\n",
        backend, short_timeout);
    EXPECT_EQ(t.id, "new-group-mismatch") << backend << " " << t.outcome << " " << t.headline;
    EXPECT_EQ(t.headline, "rank 0 makes the group pair of ranks 0, 2, and rank 2 did not call new_group for it");
    EXPECT_EQ(t.ranks, std::vector<Rank>{2});
  }
}

TEST(NewGroupMismatch, TellsGroupsThatWereMadeInDifferentOrders) {
  for (const char* backend : backends_of_groups) {
    const Told t = told(
        "  - new_group: {name: a, ranks: [0, 1]}\n    when: {rank: [0, 2, 3]}\n"
        "  - new_group: {name: b, ranks: [1, 2, 3]}\n"
        "  - new_group: {name: a, ranks: [0, 1]}\n    when: {rank: 1}\n"
        "  - all_reduce: {count: 4, group: a}\n  - all_reduce: {count: 4, group: b}\n",
        backend, short_timeout);
    EXPECT_EQ(t.id, "new-group-mismatch") << backend << " " << t.outcome << " " << t.headline;
    EXPECT_EQ(t.headline, "new_group #1 is a of ranks 0, 1 on rank 0, and b of ranks 1, 2, 3 on rank 1");
  }
}

TEST(NewGroupMismatch, IsNotSaidOfAGroupThatWorks) {
  EXPECT_EQ(told("  - new_group: {name: a, ranks: [0, 1]}\n    when: {rank: 0..1}\n  - barrier: {group: a}\n"
                 "    when: {rank: 0..1}\n  - barrier: {}\n    when: {rank: 2..}\n")
                .id,
            "missing-call");
}

TEST(MissingCall, KnowsTheMembersOfAGroupThatNeverCalledInIt) {
  const Told t =
      told("  - new_group: {name: odd, ranks: odd}\n  - all_reduce: {count: 4, group: odd}\n    when: {rank: 1}\n");
  EXPECT_EQ(t.id, "missing-call");
  EXPECT_EQ(t.headline, "rank 3 leaves out a call that rank 1 makes: all_reduce at line 9");
}

TEST(GroupCycle, LeadsThroughTwoGroups) {
  const std::string program =
      "  - new_group: {name: a, ranks: 0..1}\n  - new_group: {name: b, ranks: 0..1}\n"
      "  - all_reduce: {count: 4, group: a}\n    when: {rank: 0}\n  - all_reduce: {count: 4, group: b}\n"
      "  - all_reduce: {count: 4, group: a}\n    when: {rank: 1}\n";
  for (const char* backend : {"gloo", "nccl"}) {
    const Told t = told(program, backend);
    EXPECT_EQ(t.id, "group-cycle") << backend << " " << t.outcome << " " << t.headline;
    EXPECT_EQ(t.headline, "ranks 0, 1 wait for each other across groups a, b");
    EXPECT_EQ(t.ranks, (std::vector<Rank>{0, 1}));
  }
}

TEST(GroupCycle, IsSeenWhenItEndsByTimeouts) {
  const Told t = told(
      "  - new_group: {name: a, ranks: 0..1}\n  - new_group: {name: b, ranks: 0..1}\n"
      "  - all_reduce: {count: 4, group: a}\n    when: {rank: 0}\n  - all_reduce: {count: 4, group: b}\n"
      "  - all_reduce: {count: 4, group: a}\n    when: {rank: 1}\n",
      "gloo", ", debug: detail");
  EXPECT_EQ(t.outcome, "timeout");  // the comparison itself gives up
  EXPECT_EQ(t.id, "group-cycle") << t.headline;
  EXPECT_EQ(t.ranks, (std::vector<Rank>{0, 1}));
}

TEST(SendCycle, IsSeenWhenItEndsByTimeouts) {
  const Told t = told(
      "  - compute: {time: 5s}\n    when: {rank: 3}\n  - send: {dst: 1}\n    when: {rank: 0}\n"
      "  - send: {dst: 0}\n    when: {rank: 1}\n  - barrier\n",
      "gloo", ", timeout: 1s");
  EXPECT_EQ(t.outcome, "timeout");
  EXPECT_EQ(t.id, "send-cycle") << t.headline;
  EXPECT_EQ(t.ranks, (std::vector<Rank>{0, 1}));
}

TEST(GroupCycle, LeadsThroughThreeGroupsAndRanks) {
  const Told t = told(
      "  - new_group: {name: a, ranks: [0, 1]}\n  - new_group: {name: b, ranks: [1, 2]}\n"
      "  - new_group: {name: c, ranks: [0, 2]}\n"
      "  - barrier: {group: a}\n    when: {rank: 0}\n  - barrier: {group: b}\n    when: {rank: 1}\n"
      "  - barrier: {group: c}\n    when: {rank: 2}\n"
      "  - barrier: {group: c}\n    when: {rank: 0}\n  - barrier: {group: a}\n    when: {rank: 1}\n"
      "  - barrier: {group: b}\n    when: {rank: 2}\n");
  EXPECT_EQ(t.id, "group-cycle") << t.headline;
  EXPECT_EQ(t.ranks, (std::vector<Rank>{0, 1, 2}));
}

TEST(GroupCycle, IsNotOneGroupsDisorder) {
  EXPECT_EQ(
      told("  - all_gather: {}\n    when: {rank: 0}\n  - barrier\n  - all_gather: {}\n    when: {rank: 1..}\n").id,
      "collective-mismatch");
}

TEST(MissingExit, NamesARankThatEndedBeforeItsCallWasDone) {
  const Told t = told(
      "  - all_reduce: {count: 4, async: true}\n    label: sum\n    when: {rank: 0}\n"
      "  - compute: {time: 1ms}\n    when: {rank: 1..}\n  - all_reduce: {count: 4}\n    when: {rank: 1..}\n");
  EXPECT_EQ(t.id, "missing-exit") << t.outcome << " " << t.headline;
  EXPECT_EQ(t.headline, "rank 0 ended before its all_reduce #1 was done, and ranks 1..3 waited for it");
  EXPECT_EQ(t.ranks, std::vector<Rank>{0});
}

TEST(MissingExit, NamesASenderThatDidNotWait) {
  const Told t = told(
      "  - isend: {dst: 1, count: 4}\n    label: mine\n    when: {rank: 0}\n"
      "  - compute: {time: 1ms}\n    when: {rank: 1}\n  - recv: {src: 0, count: 4}\n    when: {rank: 1}\n");
  EXPECT_EQ(t.id, "missing-exit") << t.outcome << " " << t.headline;
  EXPECT_EQ(t.headline, "rank 0 ended before its send was done, and rank 1 waited for it");
}

TEST(MissingExit, NamesTheRanksThatAreLeftBehindInACall) {
  const Told t = told("  - all_reduce: {count: 400}\n  - all_reduce: {count: 400}\n", "gloo",
                      ", link: {latency: 5us, bandwidth: 25GB/s, loss: 0.04}");
  EXPECT_EQ(t.id, "missing-exit") << t.outcome << " " << t.headline;
  EXPECT_EQ(t.headline, "ranks 0, 3 never left all_reduce #1, which ranks 1, 2 left");
}

TEST(AllStuck, IsSaidWhereNothingDiffersAndNoLossWasRecorded) {
  const Told t = told("  - barrier\n", "gloo", ", link: {latency: 5us, bandwidth: 25GB/s, loss: 1}");
  EXPECT_EQ(t.outcome, "deadlock");
  EXPECT_NE(t.id, "missing-call");
}

const std::string late_program = "  - compute: {time: 1s}\n    when: {rank: 2}\n  - barrier\n";
const std::string large_program = "  - all_reduce: {count: 4000000}\n";  // 16 MB at 100 MB/s

TEST(DelayedEnter, IsARankAtWorkElsewhere) {
  for (const char* backend : {"gloo", "nccl"}) {
    // NCCL's watchdog does not cover a group's first call.
    const Told t = told("  - all_reduce: {count: 1}\n" + late_program, backend, ", timeout: 100ms");
    EXPECT_EQ(t.outcome, "timeout");
    EXPECT_EQ(t.id, "delayed-enter") << backend << " " << t.headline;
    EXPECT_EQ(t.ranks, std::vector<Rank>{2});
    EXPECT_EQ(told(late_program, backend, ", timeout: 2s").id, "none");
  }
}

TEST(ParameterMismatch, NamesThePartOfAnAllToAllThatDoesNotFit) {
  const auto program = [](const std::string& last) {
    return "  - barrier\n"
           "  - all_to_all_single: {input_split_sizes: [1, 2, 3, 4], output_split_sizes: [1, 2, 4, 1]}\n    when: {rank: 0}\n"
           "  - all_to_all_single: {input_split_sizes: [2, 2, 2, 2], output_split_sizes: [2, 2, 2, 1]}\n    when: {rank: 1}\n"
           "  - all_to_all_single: {input_split_sizes: [4, 2, 2, 2], output_split_sizes: [3, 2, 2, 1]}\n    when: {rank: 2}\n"
           "  - all_to_all_single: {input_split_sizes: " +
           last + ", output_split_sizes: [4, 2, 2, 1]}\n    when: {rank: 3}\n";
  };
  EXPECT_EQ(told(program("[1, 1, 1, 1]"), "nccl").id, "none");
  const Told pair = told(program("[1, 1, 2, 1]"), "nccl");
  EXPECT_EQ(pair.id, "parameter-mismatch") << pair.headline;
  EXPECT_EQ(pair.headline, "in all_to_all_v #2 of group world rank 3 sends 2 elements to rank 2, which makes room for 1");
  EXPECT_EQ(pair.ranks, (std::vector<Rank>{2, 3}));
  EXPECT_EQ(told(program("[5, 5, 5, 1]"), "nccl").ranks, std::vector<Rank>{3});  // every part that does not fit is one of its own
}

TEST(NewGroupMismatch, IsEveryRankThatMakesTheGroupOfItsOwnRanksAlone) {
  for (const char* backend : {"gloo", "nccl"}) {
    const Told t = told(
        "  - new_group: {name: low, ranks: [0, 1]}\n    when: {rank: [0, 1]}\n"
        "  - new_group: {name: high, ranks: [2, 3]}\n    when: {rank: [2, 3]}\n"
        "  - all_reduce: {count: 4, group: low}\n    when: {rank: [0, 1]}\n"
        "  - all_reduce: {count: 4, group: high}\n    when: {rank: [2, 3]}\n",
        backend, short_timeout);
    EXPECT_EQ(t.id, "new-group-mismatch") << backend << " " << t.outcome << " " << t.headline;
    EXPECT_NE(t.headline.find("new_group #1 is"), std::string::npos) << t.headline;
  }
}

// new_group itself returns there.
TEST(FirstCallOnNccl, OfAGroupThatOthersDidNotMakeIsWhereItsRanksHang) {
  const Told t = told(
      "  - new_group: {name: pair, ranks: [0, 2]}\n    when: {rank: 0}\n  - compute: {time: 1ms}\n    label: after\n"
      "  - all_reduce: {count: 4, group: pair}\n    label: sum\n    when: {rank: 0}\n",
      "nccl");
  EXPECT_EQ(t.outcome, "deadlock") << t.error;
  EXPECT_EQ(t.headline, "rank 0 makes the group pair of ranks 0, 2, and rank 2 did not call new_group for it");
  EXPECT_EQ(t.blocked, std::vector<std::string>{"0 all_reduce"});
}

TEST(FirstCallOnNccl, OfTwoGroupsOfOneNumberGivesBothTheIdThatWasWrittenFirst) {
  const char* at_once =
      "  - new_group: {name: low, ranks: [0, 1]}\n    when: {rank: [0, 1]}\n"
      "  - new_group: {name: high, ranks: [2, 3]}\n    when: {rank: [2, 3]}\n"
      "  - all_reduce: {count: 4, group: low}\n    when: {rank: [0, 1]}\n"
      "  - all_reduce: {count: 4, group: high}\n    when: {rank: [2, 3]}\n";
  const Told t = told(at_once, "nccl");
  EXPECT_EQ(t.outcome, "deadlock") << t.error;
  EXPECT_EQ(t.blocked, (std::vector<std::string>{"2 all_reduce", "3 all_reduce"}));
  EXPECT_EQ(t.id, "new-group-mismatch") << t.headline;
  const auto later = [](const char* of_2, const char* of_3) {
    return fmt::format(
        "  - new_group: {{name: low, ranks: [0, 1]}}\n    when: {{rank: [0, 1]}}\n"
        "  - new_group: {{name: high, ranks: [2, 3]}}\n    when: {{rank: [2, 3]}}\n"
        "  - all_reduce: {{count: 4, group: low}}\n    when: {{rank: [0, 1]}}\n"
        "  - compute: {{time: {}}}\n    when: {{rank: 2}}\n  - compute: {{time: {}}}\n    when: {{rank: 3}}\n"
        "  - all_reduce: {{count: 4, group: high}}\n    when: {{rank: [2, 3]}}\n",
        of_2, of_3);
  };
  EXPECT_EQ(told(later("1s", "1s"), "nccl").outcome, "deadlock");  // rank 3 reads what rank 0 wrote
  EXPECT_EQ(told(later("1s", "2s"), "nccl").outcome, "ok");        // by chance
}

// NCCL makes a group's communicator in its first call: the first rank hands out the number through the store.
TEST(FirstCallOnNccl, EndsByTheStoresTimeoutWhenTheFirstRankDoesNotCome) {
  const Told t = told("  - compute: {time: 60s}\n    when: {rank: 0}\n  - barrier\n", "nccl", ", timeout: 10s");
  EXPECT_EQ(t.outcome, "deadlock");  // of rank 0, whose peers gave up
  EXPECT_EQ(t.error.find("store-timeout after 10"), 0U) << t.error;
  EXPECT_NE(t.error.find("retrieving ncclUniqueId from [0] via c10d key-value store by key '0'"), std::string::npos);
  EXPECT_EQ(t.ranks, std::vector<Rank>{0}) << t.id << " " << t.headline;
}

TEST(FirstCallOnNccl, OfAGroupGoesByTheStoresTimeoutAndNotByTheGroups) {
  const Told t = told(
      "  - new_group: {name: pair, ranks: [0, 1], timeout: 2s}\n  - compute: {time: 60s}\n    when: {rank: 0}\n"
      "  - all_reduce: {count: 4, group: pair}\n    when: {rank: [0, 1]}\n",
      "nccl", ", timeout: 10s");
  EXPECT_EQ(t.error.find("store-timeout after 10"), 0U) << t.error;
}

TEST(FirstCallOnNccl, HasNoTimeoutWhereAnotherRankIsLate) {
  const Told t = told("  - compute: {time: 60s}\n    when: {rank: 2}\n  - barrier\n", "nccl", ", timeout: 10s");
  EXPECT_EQ(t.outcome, "ok") << t.error;
  EXPECT_EQ(t.id, "none") << t.headline;
}

TEST(DelayedEnter, IsWhatAMonitoredBarrierSees) {
  const Told t = told("  - compute: {time: 1s}\n    when: {rank: 2}\n  - monitored_barrier: {timeout: 100ms}\n");
  EXPECT_EQ(t.id, "delayed-enter") << t.headline;
  EXPECT_EQ(t.ranks, std::vector<Rank>{2});
}

TEST(TimeoutTooShort, IsACallThatTakesLonger) {
  for (const char* backend : {"gloo", "nccl"}) {
    const std::string world = ", payload: none, link: {latency: 5us, bandwidth: 100MB/s}";
    const Told t = told(large_program, backend, world + ", timeout: 100ms");
    EXPECT_EQ(t.outcome, "timeout");
    EXPECT_EQ(t.id, "timeout-too-short") << backend << " " << t.headline;
    EXPECT_NE(t.headline.find("all ranks were in it"), std::string::npos) << t.headline;
    EXPECT_EQ(told(large_program, backend, world + ", timeout: 1s").id, "none");
  }
}

// Rank 0 starts two messages, and rank 1 receives them in this order of tags.
std::string two_messages(int first_tag, int second_tag, std::int64_t first_count = 4) {
  std::string program;
  const auto add = [&program](const std::string& call, int rank, const std::string& label) {
    program += fmt::format("  - {}\n    label: {}\n    when: {{rank: {}}}\n", call, label, rank);
  };
  add(fmt::format("isend: {{dst: 1, count: {}, tag: 1}}", first_count), 0, "out_1");
  add("isend: {dst: 1, count: 4, tag: 2}", 0, "out_2");
  const auto count_of = [&](int tag) { return tag == 1 ? first_count : 4; };
  add(fmt::format("irecv: {{src: 0, count: {}, tag: {}}}", count_of(first_tag), first_tag), 1, "in_1");
  add(fmt::format("irecv: {{src: 0, count: {}, tag: {}}}", count_of(second_tag), second_tag), 1, "in_2");
  for (const char* label : {"out_1", "out_2"}) program += fmt::format("  - wait: {{for: {}}}\n    when: {{rank: 0}}\n", label);
  for (const char* label : {"in_1", "in_2"}) program += fmt::format("  - wait: {{for: {}}}\n    when: {{rank: 1}}\n", label);
  return program;
}

TEST(IgnoredTags, AreAFindingWhereTheLibraryMatchesByOrderAlone) {
  for (const char* backend : backends_of_groups) {
    const Told t = told(two_messages(2, 1), backend);
    EXPECT_EQ(t.outcome, "ok") << backend;
    EXPECT_EQ(t.id, std::string_view(backend) == "nccl" ? "ignored-tags" : "none") << backend << " " << t.headline;
  }
  const Told t = told(two_messages(2, 1), "nccl");
  EXPECT_EQ(t.headline, "rank 1 receives with tag 2 and gets what rank 0 sent with tag 1, because NCCL ignores tags");
  EXPECT_EQ(t.ranks, (std::vector<Rank>{0, 1}));
}

TEST(IgnoredTags, AreNoneWhereMessagesMeetAsTheirTagsSay) { EXPECT_EQ(told(two_messages(1, 2), "nccl").id, "none"); }

// The program is not portable, but it is correct: no other message has the tag of the receive.
TEST(IgnoredTags, AreNoneWhereNobodySendsTheTag) { EXPECT_EQ(told(two_messages(7, 8), "nccl").id, "none"); }

TEST(IgnoredTags, ExplainMessagesOfDifferentSizes) {
  const Told t = told(two_messages(2, 1, 1 << 20), "nccl");
  EXPECT_EQ(t.id, "ignored-tags") << t.outcome << " " << t.headline;
}

}  // namespace
}  // namespace pdsim::scenarios
