// The calls of a record as a scenario: one program for all ranks, loops, groups, asynchronous calls, and what cannot be written.

#include "scenarios/guests/saved/merged_program.h"
#include "scenarios/guests/saved/program_text.h"
#include "scenarios/guests/saved/saved_scenario.h"
#include "scenarios/language/loader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::guest_tests {
namespace {

using namespace literals;
using namespace scenarios::guests;

// Calls of one rank, one after the other.
class Calls {
 public:
  explicit Calls(Rank rank) { log_.rank = rank; }
  Call& call(const std::string& name, Time issued, Time finished) {
    Call call;
    call.id = static_cast<std::int64_t>(log_.calls.size());
    call.layer = name == "send" || name == "recv" ? Layer::point_to_point : Layer::collective;
    call.name = name;
    call.group = "world";
    call.count = name == "barrier" ? -1 : 4;
    call.issued = issued;
    call.finished = finished;
    call.state = finished == Time::max() ? CallState::started : CallState::completed;
    log_.calls.push_back(call);
    return log_.calls.back();
  }
  RankLog log() const { return log_; }
  RankLog& change() { return log_; }

 private:
  RankLog log_;
};

std::string no_source(const std::string&, int) { return {}; }

std::string program_of(const std::vector<RankLog>& logs) {
  RunRecord run;
  for (const RankLog& log : logs) run.ranks.push_back({log, {}, {}});
  const GroupNames groups(run);
  std::vector<RankOperations> ranks;
  for (const RankLog& log : logs) ranks.push_back(operations_of(log, groups, no_source));
  return program_text(merged(ranks), static_cast<int>(ranks.size()));
}

TEST(SavedCalls, WhatAllRanksDoIsWrittenOnceAndWhatSomeDoWithTheirNumbers) {
  Calls zero(0), one(1), two(2);
  for (Calls* rank : {&zero, &one, &two}) rank->call("all_reduce", 0_us, 1_us);
  one.call("barrier", 1_us, Time::max());
  for (Calls* rank : {&zero, &two}) rank->call("broadcast", 1_us, Time::max()).root = 2;
  EXPECT_EQ(program_of({zero.log(), one.log(), two.log()}),
            "  - all_reduce: {count: 4}\n"
            "  - broadcast: {src: 2, count: 4}\n    when: {rank: [0, 2]}\n"
            "  - barrier:\n    when: {rank: 1}\n");
}

TEST(SavedCalls, LoopsAreFoldedAlsoInsideOfEachOther) {
  Calls zero(0);
  Time now{};
  const auto next = [&](const std::string& name) {
    zero.call(name, now, now + 1_us);
    now += 1_us;
  };
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int step = 0; step < 5; ++step) next("all_reduce");
    next("barrier");
  }
  EXPECT_EQ(program_of({zero.log()}),
            "  - repeat:\n      times: 3\n      do:\n        - repeat:\n            times: 5\n            do:\n"
            "              - all_reduce: {count: 4}\n        - barrier\n");
}

TEST(SavedCalls, ACallThatEndsAfterTheNextBeganHasAWaitOfItsOwn) {
  Calls zero(0);
  zero.call("all_reduce", 0_us, 5_us);
  zero.call("send", 1_us, 2_us).peer = 1;
  zero.call("barrier", 6_us, 7_us);
  EXPECT_EQ(program_of({zero.log()}),
            "  - all_reduce: {count: 4, async: true}\n    label: work_1\n  - send: {dst: 1, count: 4}\n"
            "  - wait: {for: work_1}\n  - barrier\n");
}

TEST(SavedCalls, ARankThatHangsWaitsForWhatIsOpen) {
  Calls zero(0);
  zero.call("recv", 0_us, Time::max()).peer = any_source;
  zero.call("send", 1_us, 2_us).peer = 1;
  EXPECT_EQ(program_of({zero.log()}),
            "  - irecv: {src: any, count: 4}\n    label: work_1\n  - send: {dst: 1, count: 4}\n  - wait: {for: work_1}\n");
}

TEST(SavedCalls, GroupsOfOneRecordedNameAreToldApartByTheirRanks) {
  RunRecord run;
  for (Rank rank = 0; rank < 4; ++rank) {
    Calls of(rank);
    Call& made = of.call("new_group", 0_us, 1_us);
    made.layer = Layer::program;
    const std::vector<Rank> ranks = rank < 2 ? std::vector<Rank>{0, 1} : std::vector<Rank>{2, 3};
    of.change().notes.push_back({made.id, {}, {}, notes::GroupMade{"group 1", 1, ranks}});
    of.call("all_reduce", 1_us, 2_us).group = "group 1";
    run.ranks.push_back({of.log(), {}, {}});
  }
  const std::string text =
      saved_scenario(run, {"world: {ranks: 4}\n", "train.py", 0}, "mine", "{outcome: ok}", no_source).text;
  EXPECT_NE(text.find("new_group: {name: group_1, ranks: [0, 1]}"), std::string::npos) << text;
  EXPECT_NE(text.find("new_group: {name: group_1_2, ranks: [2, 3]}"), std::string::npos) << text;
  EXPECT_NE(text.find("all_reduce: {count: 4, group: group_1_2}"), std::string::npos) << text;
}

// A rank that has run out of inputs calls at the end of join() what the other one calls in its loop.
TEST(SavedCalls, CallsThatJoinMakesAreWrittenAsTheCallsThatTheyMeet) {
  const auto logs = [](std::int64_t count) {
    Calls zero(0), one(1);
    zero.call("all_reduce", 0_us, 3_us).seq = 1;
    zero.call("broadcast", 1_us, 2_us).seq = 2;
    Call& join = one.call("join", 0_us, 4_us);
    join.layer = Layer::program;
    const std::int64_t around = join.id;
    for (const auto& [name, seq] : {std::pair("all_reduce", 1), std::pair("broadcast", 2)}) {
      Call& call = one.call(name, Time{seq}, 3_us);
      call.parent = around;
      call.seq = seq;
      call.count = count;
    }
    return std::vector<RankLog>{zero.log(), one.log()};
  };
  const auto text = [](const std::vector<RankLog>& ranks) {
    RunRecord run;
    for (const RankLog& log : ranks) run.ranks.push_back({log, {}, {}});
    return saved_scenario(run, {"world: {ranks: 2}\n", "train.py", 0}, "mine", "{outcome: ok}", no_source).text;
  };
  EXPECT_EQ(text(logs(4)).find("when:"), std::string::npos) << text(logs(4));
  EXPECT_NE(text(logs(5)).find("when:"), std::string::npos) << "calls that do not match stay as they are";
}

TEST(SavedCalls, ARankThatDiedIsAFaultAndOneThatGoesOnAfterAnErrorIsNamed) {
  Calls zero(0), one(1);
  zero.change().end = RankEnd::died;
  zero.change().error = {Code::rank_crashed, "the process was ended by signal 9", {}};
  one.call("barrier", 0_us, 1_us).state = CallState::failed;
  one.call("all_reduce", 1_us, 2_us);
  RunRecord run;
  run.ranks = {{zero.log(), {}, {}}, {one.log(), {}, {}}};
  const SavedScenario saved =
      saved_scenario(run, {"world:\n  ranks: 2\n", "train.py", 0}, "mine", "{outcome: error}", no_source);
  EXPECT_NE(saved.text.find("  - crash: {}\n    match: {rank: 0}"), std::string::npos) << saved.text;
  ASSERT_EQ(saved.left_out.size(), 1U);
  EXPECT_NE(saved.text.find("# not written: rank 1: barrier: the script continues after its error"), std::string::npos)
      << saved.text;
  const scenarios::LoadedFile file = scenarios::load_text("mine.yaml", saved.text);
  EXPECT_EQ(file.errors, 0) << (file.diagnostics.empty() ? "" : file.diagnostics.front().what) << saved.text;
}

TEST(SavedCalls, AFileNameThatIsNotAScenariosIsRefused) {
  EXPECT_EQ(saved_name_problem("some/mine.yaml"), "");
  EXPECT_NE(saved_name_problem("my-run.yaml"), "");
  EXPECT_NE(saved_name_problem("mine.json"), "");
}

}  // namespace
}  // namespace pdsim::guest_tests
