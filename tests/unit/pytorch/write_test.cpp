// What we write in PyTorch's form reads back as what it was.

#include "scenarios/records/pytorch/write.h"

#include "scenarios/records/log_view.h"
#include "scenarios/records/pytorch/job.h"
#include "tests/unit/pytorch/dumps.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios::pytorch {
namespace {

Dump read_back(const std::string& text, Rank rank) {
  const Result<Tree> tree = read_tree(text);
  EXPECT_TRUE(tree.ok()) << tree.error().message;
  const Result<Dump> dump = tree.ok() ? dump_of(*tree, rank) : Result<Dump>(tree.error());
  EXPECT_TRUE(dump.ok()) << dump.error().message;
  return dump.ok() ? *dump : Dump{};
}

void expect_same(const Dump& a, const Dump& b) {
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.groups, b.groups);
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.entries, b.entries);
}

TEST(PytorchWriting, ReadsBackFromBothForms) {
  DumpScript script(1, 3);
  script.group("1", "tp", {0, 1}).calls(3).in("1", "tp").call("nccl:_all_gather_base", EntryState::started);
  script.last().started_ns = script.last().created_ns + 5;
  script.last().op_id = 70000;
  script.message("nccl:send 1->0", EntryState::scheduled).batch({"nccl:send 1->0", "nccl:recv 1<-0"});
  script.last().retired = true;
  script.call("nccl:all_reduce", EntryState::completed, {}, "Float8_e4m3fn");
  const Dump& dump = script.dump();
  expect_same(read_back(pickle_text(dump), 1), dump);
  expect_same(read_back(json_text(dump), 1), dump);
}

Call collective(std::int64_t id, Seq seq, const std::string& name, CallState state) {
  Call call;
  call.id = id;
  call.layer = Layer::collective;
  call.name = name;
  call.group = "world";
  call.seq = seq;
  call.state = state;
  call.count = 12;
  call.dtype = DType::bf16;
  call.issued = Time{1'000'000} * (id + 1);
  call.started = call.issued + Time{1000};
  if (state == CallState::completed) call.finished = call.issued + Time{500'000};
  call.site = {"train", 2, 17, 5};
  return call;
}

RunRecord run_of_two() {
  RunRecord run;
  run.ranks.resize(2);
  for (Rank r = 0; r < 2; ++r) {
    RankLog& log = run.ranks[static_cast<std::size_t>(r)].log;
    log.rank = r;
    log.calls.push_back({});  // an operation of the program, which has no place there
    log.calls.back().name = "train";
    log.calls.push_back(collective(1, 1, "all_reduce", CallState::completed));
    log.calls.push_back(collective(2, 2, "all_gather", CallState::completed));
    log.calls.push_back(collective(3, 3, "barrier", CallState::completed));
    log.calls.back().count = -1;
    Call message = collective(4, -1, r == 0 ? "send" : "recv", CallState::started);
    message.layer = Layer::point_to_point;
    message.peer = 1 - r;
    log.calls.push_back(message);
  }
  return run;
}

TEST(PytorchWriting, OfOurRunsKeepsWhatPytorchHasAPlaceFor) {
  const RunRecord run = run_of_two();
  const std::vector<Dump> dumps = dumps_of(run, {"gloo", "mine.yaml", Time{30'000'000'000'000}});
  ASSERT_EQ(dumps.size(), 2U);
  EXPECT_EQ(dumps[0].groups, (std::vector<Group>{{"0", "default_pg", {0, 1}}}));
  ASSERT_EQ(dumps[0].entries.size(), 4U);
  EXPECT_EQ(dumps[0].entries[0].name, "gloo:all_reduce");
  EXPECT_EQ(dumps[0].entries[0].collective_seq, 1);
  EXPECT_EQ(dumps[0].entries[0].timeout_ms, 30000);
  EXPECT_EQ(*dumps[0].entries[0].frames, (std::vector<Frame>{{"train (step 2)", "mine.yaml", 17}}));
  EXPECT_EQ(dumps[0].entries[1].output_sizes, (Sizes{{24}}));
  EXPECT_EQ(dumps[0].entries[3].name, "gloo:send 0->1");
  EXPECT_EQ(dumps[1].entries[3].name, "gloo:recv 1<-0");
  EXPECT_TRUE(dumps[0].entries[3].is_p2p);
  RunRecord anybody = run;
  anybody.ranks[1].log.calls.back().peer = any_source;
  EXPECT_EQ(dumps_of(anybody, {"gloo", "mine.yaml", Time{1}})[1].entries[3].name, "gloo:recvAnySource");

  std::vector<Dump> read;
  for (const Dump& dump : dumps) read.push_back(read_back(pickle_text(dump), dump.rank));
  const Result<RunRecord> back = run_of(read);
  ASSERT_TRUE(back.ok());
  for (std::size_t r = 0; r < 2; ++r) {
    const std::vector<Call>& calls = back->ranks[r].log.calls;
    ASSERT_EQ(calls.size(), 4U);
    EXPECT_EQ(calls[0].site.origin->frames, (std::vector<StackFrame>{{"train (step 2)", "mine.yaml", 17}}));
    EXPECT_EQ(place_text(calls[0].site), "mine.yaml:17 in train (step 2)");
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Call& ours = run.ranks[r].log.calls[i + 1];
      EXPECT_EQ(calls[i].name, ours.name);
      EXPECT_EQ(calls[i].seq, ours.seq);
      EXPECT_EQ(calls[i].state, ours.state);
      EXPECT_EQ(calls[i].count, ours.count);
      EXPECT_EQ(calls[i].peer, ours.peer);
      EXPECT_EQ(calls[i].issued, ours.issued - run.ranks[r].log.calls[1].issued);
      if (ours.name != "barrier") {
        EXPECT_EQ(calls[i].dtype, ours.dtype);
      }
    }
  }
}

TEST(PytorchWriting, MarksWhatGaveUpAsRetiredAndLeavesOutRanksWithoutARecord) {
  RunRecord run = run_of_two();
  run.ranks[0].log.calls[3].state = CallState::timed_out;
  run.ranks[1].log = {};
  run.ranks[1].log.rank = 1;
  run.ranks[1].log.end = RankEnd::died;
  const std::vector<Dump> dumps = dumps_of(run, {});
  ASSERT_EQ(dumps.size(), 1U);
  EXPECT_EQ(dumps[0].entries[2].state, EntryState::started);
  EXPECT_TRUE(dumps[0].entries[2].retired);
  EXPECT_EQ(dumps[0].status, (std::vector<GroupStatus>{{"0", 3, 3, 2}}));
}

}  // namespace
}  // namespace pdsim::scenarios::pytorch
