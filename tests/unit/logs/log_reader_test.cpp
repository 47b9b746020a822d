// Lines to facts: prefixes of launchers, names of files, forms of several versions, blocks of lines, and logs that mean harm.

#include "scenarios/records/logs/log_reader.h"

#include "scenarios/records/logs/line_forms.h"
#include "scenarios/records/logs/line_prefix.h"
#include "scenarios/records/own_frame.h"
#include "tests/unit/logs/log_samples.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios::logs {
namespace {

TEST(LinePrefix, NamesTheRankWhateverTheLauncher) {
  struct Row {
    std::string_view line;
    Rank rank;
    std::string_view text;
  };
  for (const Row& row :
       {Row{"[rank3]: hello", 3, "hello"}, Row{"[rank3]:[E1206 18:44:16.994932383 a.cpp:1709] hello", 3, "hello"},
        Row{"[1,12]<stdout>:hello", 12, "hello"}, Row{"[1,12]<stderr>: hello", 12, "hello"},
        Row{"[default1]:[rank9]: hello", 9, "hello"}, Row{"(Worker pid=34) [rank2]:[E a.cpp:1] hello", 2, "hello"},
        Row{"2026-09-17 13:40:02 [rank0]: hello", 0, "hello"}, Row{"hello", no_rank, "hello"},
        Row{"[rank999999999999]: hello", no_rank, "hello"}}) {
    PrefixReader reader;
    const PrefixedLine line = reader.read(row.line);
    EXPECT_EQ(line.rank, row.rank) << row.line;
    EXPECT_EQ(line.text, row.text) << row.line;
  }
  PrefixReader labelled;
  EXPECT_EQ(labelled.read("0: a").rank, 0);
  EXPECT_EQ(labelled.read(" 3: b").rank, 3);
  PrefixReader plain;
  EXPECT_EQ(plain.read("epoch 1").rank, no_rank);
  EXPECT_EQ(plain.read("3: not a label").rank, no_rank);
}

TEST(LinePrefix, ReadsGroupsAndTimes) {
  PrefixReader reader;
  const PrefixedLine line =
      reader.read("[rank4]:[E318 07:39:53.500000000 ProcessGroupNCCL.cpp:1785] [PG ID 2 PG GUID 9(mesh_tp) Rank 1] x");
  EXPECT_EQ(line.group, "9");
  EXPECT_EQ(line.group_desc, "mesh_tp");
  EXPECT_EQ(line.group_rank, 1);
  EXPECT_EQ(line.rank, 4);
  EXPECT_EQ(line.at_ns, date_ns("2025-03-18_07:39:53").value() + 500'000'000);
  EXPECT_EQ(reader.read("[PG 1 Rank 0] x").group, "1");
  EXPECT_EQ(reader.read("[PG 0 (default_pg) Rank 3] x").group_desc, "default_pg");
}

TEST(LogReader, TakesTheRankFromTheNameOfTheFile) {
  EXPECT_EQ(ranks_of_names({"out/rank_3.log", "out/rank_12.log"}), (std::vector<Rank>{3, 12}));
  EXPECT_EQ(ranks_of_names({"run7/attempt_0/0/stderr.log", "run7/attempt_0/1/stderr.log"}), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(ranks_of_names({"job-4711.0.out", "job-4711.1.out"}), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(ranks_of_names({"job-4711.out"}), (std::vector<Rank>{no_rank}));
}

TEST(LogReader, ReadsTheFormsOfSeveralVersions) {
  const LogFacts facts = facts_of(
      "[Rank 1] Caught collective operation timeout: WorkNCCL(OpType=BROADCAST, TensorShape=[1], Timeout(ms)=1800000) "
      "ran for 1802710 "
      "milliseconds before timing out.\n"
      "[rank2]:[E ProcessGroupNCCL.cpp:1] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, "
      "OpType=COALESCED, "
      "NumelIn=18446744073709551615, NumelOut=18446744073709551615, Timeout(ms)=1800000) ran for 1800014 milliseconds "
      "before timing out.\n"
      "[rank2]:[E ProcessGroupNCCL.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 2]  failure detected by watchdog at work "
      "sequence id: 1 PG "
      "status: last enqueued work: 547, last completed work: -1\n"
      "[rank3]: torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients "
      "joined.\n");
  ASSERT_EQ(facts.facts.size(), 4U);
  const auto* old = facts.facts[0].as<WatchdogTimeout>();
  ASSERT_NE(old, nullptr);
  EXPECT_EQ(old->op, "BROADCAST");
  EXPECT_EQ(old->seq, -1);
  EXPECT_EQ(facts.facts[0].rank, 1);
  EXPECT_EQ(facts.facts[1].as<WatchdogTimeout>()->elements_in, -1) << "an unsigned -1";
  EXPECT_EQ(facts.facts[2].as<GroupProgress>()->enqueued, 547);
  EXPECT_EQ(facts.facts[2].as<GroupProgress>()->completed, -1);
}

TEST(LogReader, AProgressBarBeforeThePrefixDoesNotHideIt) {
  const LogFacts facts =
      facts_of("Epoch 10/10: 240it [05:55,  1.47s/it, loss=5.46]" + watchdog(2, 5, "ALLREDUCE", 8, 5, 4));
  ASSERT_FALSE(facts.facts.empty());
  EXPECT_EQ(facts.facts.front().rank, 2);
}

TEST(LogReader, ReadsStacksOfFaulthandlerAndTheRecorder) {
  const LogFacts facts = facts_of(
      "=== Rank 1: http://node:41234 ===\nThread 0x00007f1 (most recent call first):\n  File "
      "\"/usr/lib/python3.11/threading.py\", line 320 in "
      "wait\n  File \"/job/train.py\", line 9 in feed\n\n[rank0]:[E a.cpp:1] Stack trace of the failed collective: "
      "\n[rank0]: #0 all_reduce from "
      "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py:3174\n[rank0]: #1 step from "
      "/job/train.py:31\n");
  ASSERT_EQ(facts.facts.size(), 2U);
  for (const Fact& fact : facts.facts) {
    const auto* stack = fact.as<Stack>();
    ASSERT_NE(stack, nullptr);
    ASSERT_NE(own_frame(stack->frames), nullptr);
    EXPECT_EQ(frame_text(*own_frame(stack->frames)),
              stack->source == StackSource::faulthandler ? "/job/train.py:9 in feed" : "/job/train.py:31 in step");
    EXPECT_EQ(fact.rank, stack->source == StackSource::faulthandler ? 1 : 0);
  }
}

TEST(LogReader, EveryFormReadsALineOrSaysThatItIsOfNoUse) {
  for (const std::span<const LineForm> forms : {nccl_forms(), other_forms()})
    for (const LineForm& form : forms)
      for (const std::string& line :
           {std::string(form.mark), std::string(form.mark) + std::string(300, '9'),
            std::string(form.mark) + "[-1, 99999999999999999999", std::string("rank ") + std::string(form.mark)})
        static_cast<void>(fact_of_line(line));  // ends, and reads nothing beyond the line
}

TEST(HostileLogs, LongLinesNulsAndEndlessRanksAreBounded) {
  std::string log(3 * most_line, 'x');
  log += "\n";
  log += std::string(1000, '\0') + "\n[rank1]:" + std::string(2 * most_line, '[') + "\n";
  log += watchdog(0, 3, "ALLREDUCE", 8, 3, 2);
  const LogFacts cut = facts_of(log);
  EXPECT_EQ(cut.cut_lines, 2);
  EXPECT_EQ(cut.facts.size(), 2U);

  std::string many;
  for (int rank = 0; rank < 60'000; ++rank)
    many += "[rank" + std::to_string(rank) + "]: Connection closed by peer [10.0.0.3]:4\n";
  for (int i = 0; i < 50'000; ++i) many += "[rank7]: Connection closed by peer [10.0.0.3]:4\n";
  many += "[rank4000000000]: Connection closed by peer [10.0.0.3]:4\n";
  const LogFacts facts = facts_of(many);
  EXPECT_EQ(facts.ranks.size(), 60'000U);
  EXPECT_EQ(facts.lines_beyond, 1);
  EXPECT_LE(facts.facts.size(), 60'000U + most_alike + 1);
  EXPECT_EQ(found(diagnose_logs(facts, "job.log")), "none");
}

TEST(HostileLogs, WhatIsNoLogIsNotTakenForOne) {
  EXPECT_FALSE(looks_like_log(""));
  EXPECT_FALSE(looks_like_log("{\"event\":1}\n"));
  EXPECT_FALSE(looks_like_log(std::string("\x80\x02}q\n", 5)));
  EXPECT_FALSE(looks_like_log(std::string("\x01\x02\x03\x04\xff\n", 6)));
  EXPECT_TRUE(looks_like_log("starting\n[rank0]: x\n"));
}

}  // namespace
}  // namespace pdsim::scenarios::logs
