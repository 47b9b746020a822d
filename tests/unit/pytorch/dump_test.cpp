// Dumps as texts: what is understood, what is refused with which words, and that damaged ones do no harm.

#include "scenarios/records/pytorch/dump.h"

#include "core/base/random.h"
#include "scenarios/records/pytorch/job.h"
#include "tests/unit/pytorch/python_pickles.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios::pytorch {
namespace {

Result<Dump> dump_from(std::string_view text) {
  const Result<Tree> tree = read_tree(std::string(text));
  if (!tree.ok()) return tree.error();
  return dump_of(*tree, 0);
}

// Why the text, or a part of it, is left out.
std::string why_refused(std::string_view text) {
  const Result<Dump> dump = dump_from(text);
  if (!dump.ok()) return dump.error().message;
  return dump->left_out.empty() ? "it was read" : dump->left_out.named().front();
}

constexpr std::string_view json_dump = R"({"comm_lib_version": "2.27.5", "version": "2.10",
  "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
  "pg_status": {"0": {"last_enqueued_collective": "5", "last_started_collective": "-1", "last_completed_collective": "4"}},
  "entries": [{"record_id": 4, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 5, "p2p_seq_id": 0,
    "op_id": 5, "profiling_name": "nccl:all_reduce", "time_created_ns": 1724779239936775119, "input_sizes": [[3, 4]],
    "input_dtypes": ["Float"], "output_sizes": [[3, 4]], "output_dtypes": ["Float"], "state": "started",
    "time_discovered_started_ns": 1724779239936775120, "time_discovered_completed_ns": 0, "retired": false,
    "timeout_ms": 600000, "is_p2p": false, "thread_id": "1", "thread_name": "pt_main"}]})";

TEST(PytorchDump, IsReadFromJson) {
  const Result<Dump> dump = dump_from(json_dump);
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  EXPECT_EQ(dump->version, "2.10");
  EXPECT_EQ(dump->status, (std::vector<GroupStatus>{{"0", 5, -1, 4}}));
  ASSERT_EQ(dump->entries.size(), 1U);
  EXPECT_EQ(dump->entries[0].state, EntryState::started);
  EXPECT_EQ(dump->entries[0].started_ns, 1724779239936775120);
  EXPECT_EQ(dump->entries[0].completed_ns, 0);
  EXPECT_EQ(dump->entries[0].input_sizes, (Sizes{{3, 4}}));
}

TEST(PytorchDump, OfOlderVersionsIsUnderstood) {
  const Result<Dump> dump = dump_from(
      R"({"version": "1.5", "entries": [{"seq_id": 3, "pg_name": "0", "profiling_name": "nccl:all_reduce", "state": "completed"}]})");
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  EXPECT_EQ(dump->entries[0].collective_seq, 3);
  EXPECT_EQ(dump->entries[0].group, "0");
}

TEST(PytorchDump, SaysWhichMemberOfWhichEntryIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"version": "2", "entries": 3})", "the dump: `entries` is an integer, and must be a list"},
      {R"({"version": "2", "entries": [3]})", "entry 0: `entries` is an integer, and must be a dictionary"},
      {R"({"version": "2", "entries": [{}, {"record_id": "x"}]})",
       "entry 1: `record_id` is a text, and must be an integer from -1 to 9007199254740992"},
      {R"({"version": "2", "entries": [{"state": "done"}]})",
       "entry 0: `state` is a text, and must be one of scheduled, started, completed"},
      {R"({"version": "2", "entries": [{"is_p2p": 1}]})", "entry 0: `is_p2p` is an integer, and must be a truth value"},
      {R"({"version": "2", "entries": [{"input_sizes": [[-1]]}]})",
       "`input_sizes` is -1, and must be a whole number from 0 to 1099511627776"},
      {R"({"version": "2", "entries": [{"input_sizes": [3]}]})", "must be a list of lists of integers"},
      {R"({"version": "2", "entries": [{"frames": [1]}]})",
       "entry 0: `frames` is an integer, and must be a dictionary"},
      {R"({"version": "2", "pg_config": {"0": {"ranks": "[0, x]"}}})", "group 0 of pg_config: `ranks` is a text"},
      {R"({"version": "2", "pg_config": []})", "`pg_config` is a list, and must be a dictionary"},
      {R"({"version": "2"})", "it is not a dump of PyTorch's Flight Recorder"},
      {R"([1])", "it is not a dump of PyTorch's Flight Recorder"},
      {R"({"version": )", "invalid JSON at byte 13"},
      {std::string(100, '['), "nested deeper than 64 levels"},
      {"", "invalid JSON at byte 1"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(why_refused(text).find(part), std::string::npos) << why_refused(text);
}

TEST(PytorchDump, LosesOnlyTheEntryWithANumberBeyondItsRange) {
  const std::string good = R"({"record_id": 7, "profiling_name": "nccl:barrier"})";
  const std::pair<std::string, std::string> cases[] = {
      {R"("time_created_ns": -1)", "entry 0: `time_created_ns` is -1, and must be a whole number from 0 to 46"},
      {R"("collective_seq_id": 9223372036854775807)", "entry 0: `collective_seq_id` is 9223372036854775807, and must"},
      {R"("timeout_ms": "9223372036854775807")", "entry 0: `timeout_ms` is 9223372036854775807, and must"},
      {R"("record_id": 1e30)", "entry 0: `record_id` is a real number, and must be an integer from -1 to"},
      {R"("output_sizes": [[4, 4611686018427387904]])", "entry 0: `output_sizes` is 4611686018427387904, and must"},
      {R"("frames": [{"line": 4294967296}])", "entry 0: `line` is 4294967296, and must"},
  };
  for (const auto& [member, problem] : cases) {
    const Result<Dump> dump = dump_from(R"({"version": "2", "entries": [{)" + member + "}, " + good + "]}");
    ASSERT_TRUE(dump.ok()) << dump.error().message;
    ASSERT_EQ(dump->entries.size(), 1U) << member;
    EXPECT_EQ(dump->entries[0].record_id, 7);
    ASSERT_EQ(dump->left_out.count(), 1U);
    EXPECT_NE(dump->left_out.named()[0].find(problem), std::string::npos) << dump->left_out.named()[0];
  }
  EXPECT_NE(why_refused(R"({"version": "2", "pg_config": {"0": {"ranks": [0, 131072]}}})")
                .find("group 0 of pg_config: `ranks` is 131072, and must be a whole number from 0 to 131071"),
            std::string::npos);
}

TEST(PytorchDump, LosesTheEntryThatIsYearsFromTheOthers) {
  Dump dump;
  for (int i = 0; i < 4; ++i) {
    Entry entry;
    entry.record_id = i;
    entry.name = "nccl:barrier";
    entry.created_ns = i == 2 ? 1 : 1'700'000'000'000'000'000 + i;
    dump.entries.push_back(entry);
  }
  std::vector<Dump> dumps{dump};
  leave_out_far_times(dumps);
  ASSERT_EQ(dumps[0].entries.size(), 3U);
  ASSERT_EQ(dumps[0].left_out.count(), 1U);
  EXPECT_EQ(dumps[0].left_out.named()[0].find("the entry with record_id 2: `time_created_ns` is 1, and must"), 0U);
  const Result<RunRecord> run = run_of(dumps);
  ASSERT_TRUE(run.ok());
  EXPECT_LT(run->elapsed, Time{1'000'000});
}

TEST(PytorchDump, ThatNamesOneListAMillionTimesIsRefusedBeforeItFillsTheMemory) {
  // Ten thousand times the same entry, whose sizes are ten thousand times the same list.
  std::string text =
      "\x80\x04}(U\x07versionU\x01"
      "2U\x07"
      "entries](}(U\x0binput_sizes](](K\x01K\x02"
      "e\x94";
  for (int i = 0; i < 10000; ++i) text += std::string("h\0", 2);
  text += "eu\x94";
  for (int i = 0; i < 10000; ++i) text += "h\x01";
  text += "eu.";
  EXPECT_NE(why_refused(text).find("names more than 4194304 values"), std::string::npos) << why_refused(text);
}

TEST(PytorchDump, PrintsNothingThatATerminalObeys) {
  const Result<Dump> dump =
      dump_from("{\"version\": \"2\\u001b[31m\", \"entries\": [{\"profiling_name\": \"a\\u0007\xc3\xa4\"}]}");
  ASSERT_TRUE(dump.ok()) << dump.error().message;
  EXPECT_EQ(dump->version, "2?[31m");
  EXPECT_EQ(dump->entries[0].name, "a?\xc3\xa4");
}

// Whatever comes out, it must be a dump that a run can be made of, or an error.
void try_to_read(const std::string& text) {
  const Result<Dump> dump = dump_from(text);
  if (dump.ok()) {
    (void)run_of({*dump});
  } else {
    EXPECT_FALSE(dump.error().message.empty());
  }
}

TEST(PytorchDump, DamagedAnywhereIsReadOrRefused) {
  std::vector<std::string> originals{std::string(json_dump)};
  for (const std::string& pickle : python_pickles()) originals.push_back(pickle);
  for (const std::string& original : originals) {
    for (std::size_t length = 0; length < original.size(); length += 7) try_to_read(original.substr(0, length));
    Random random(7);
    for (int round = 0; round < 100; ++round) {
      std::string text = original;
      const std::uint64_t changes = 1 + random.below(4);
      for (std::uint64_t i = 0; i < changes; ++i) {
        const std::uint64_t at = random.below(text.size());
        const std::uint64_t byte = random.below(256);
        text[at] = static_cast<char>(byte);
      }
      try_to_read(text);
    }
  }
}

}  // namespace
}  // namespace pdsim::scenarios::pytorch
