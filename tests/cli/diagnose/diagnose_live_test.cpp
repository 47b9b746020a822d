// `pdsim diagnose --live` against a server of our own that answers as PyTorch's debug server does.

#include "tests/cli/support/debug_server.h"
#include "tests/cli/support/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

std::string live_entry(int number, const std::string& state, std::int64_t created_ns = 1'700'000'000'000'000'000) {
  return "{\"record_id\": " + std::to_string(number) +
         ", \"process_group\": [\"0\", \"default_pg\"], \"collective_seq_id\": " + std::to_string(number + 1) +
         ", \"profiling_name\": \"gloo:all_reduce\", \"time_created_ns\": " +
         std::to_string(created_ns + number) +
         ", \"input_sizes\": [[4]], \"input_dtypes\": [\"Float\"], \"state\": \"" + state +
         "\", \"timeout_ms\": 600000}";
}

std::string live_record(int calls, bool last_is_open, std::int64_t created_ns = 1'700'000'000'000'000'000) {
  std::string text =
      R"({"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}}, "entries": [)";
  for (int i = 0; i < calls; ++i)
    text += (i == 0 ? "" : ", ") + live_entry(i, i + 1 == calls && last_is_open ? "started" : "completed", created_ns);
  return text + "]}";
}

std::string live_stack(const std::string& place) {
  return "Thread 0x00007f12 (most recent call first):\n  File "
         "\"/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py\", line "
         "3174 in all_reduce\n  File \"" +
         place + "\n";
}

const std::string in_step = "/job/train.py\", line 31 in step";
const std::string in_save = "/job/train.py\", line 44 in save";

void add_pages(DebugServer& server, std::vector<PageRank> records, std::vector<PageRank> stacks) {
  for (PageRank& rank : records) rank.address = server.url();
  for (PageRank& rank : stacks) rank.address = server.url();
  server.add("/fr_trace_json", debug_page(records, "fr_trace_json"));
  server.add("/stacks", debug_page(stacks, "dump_traceback"));
}

TEST(DiagnoseLive, ExplainsAllRanksRecordsAndStacksTogether) {
  DebugServer server({});
  add_pages(server, {{"", live_record(3, true)}, {"", live_record(3, true)}, {"", live_record(2, false)}},
            {{"", live_stack(in_step)}, {"", live_stack(in_step)}, {"", live_stack(in_save)}});
  const Folder folder;
  const Ended run = run_pdsim({"diagnose", "--live", server.url()}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("deadlock[missing-call]: ranks 0, 1 wait in all_reduce #3 for rank 2"), std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("ranks 0, 1: was in /job/train.py:31 in step, inside all_reduce"), std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("rank 2: was in /job/train.py:44 in save"), std::string::npos) << run.output;
  const Ended json = run_pdsim({"diagnose", "--json", "--live", server.url()}, folder.path());
  EXPECT_EQ(nlohmann::json::parse(json.output).at("findings").at(0).at("culprits"), nlohmann::json({2}));
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Rank 2 is not in the call of the others, which may be in flight.
void add_young_pages(DebugServer& server) {
  const std::string open = live_record(3, true, now_ns());
  add_pages(server, {{"", open}, {"", open}, {"", live_record(2, false, now_ns())}},
            {{"", live_stack(in_step)}, {"", live_stack(in_step)}, {"", live_stack(in_save)}});
}

TEST(DiagnoseLive, AsksAgainWhereTheOpenCallsAreYoung) {
  DebugServer server({});
  add_young_pages(server);
  add_pages(server, {{"", live_record(3, true)}, {"", live_record(3, true)}, {"", live_record(2, false)}},
            {{"", live_stack(in_step)}, {"", live_stack(in_step)}, {"", live_stack(in_save)}});
  const Folder folder;
  const Ended run = run_pdsim({"diagnose", "--live", server.url(), "--again", "1ms"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.problems.find("no open call is known to be older than 10s; asking again in 1ms"), std::string::npos)
      << run.problems;
  EXPECT_NE(run.output.find("for rank 2, which has not called it"), std::string::npos) << run.output;
}

TEST(DiagnoseLive, AsksOnceWhereToldTo) {
  DebugServer server({});
  add_young_pages(server);
  const Folder folder;
  const Ended run = run_pdsim({"diagnose", "--live", server.url(), "--again", "0s"}, folder.path());
  EXPECT_EQ(run.problems, "");
  EXPECT_NE(run.output.find("nothing to explain"), std::string::npos) << run.output;
  const Ended refused = run_pdsim({"diagnose", "--live", server.url(), "--again", "soon"}, folder.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.problems.find("--again: "), std::string::npos) << refused.problems;
}

TEST(DiagnoseLive, ExplainsItsFirstAnswersWhereTheJobEndsMeanwhile) {
  DebugServer server({});
  add_young_pages(server);
  server.add("/fr_trace_json", DebugServer::silence);
  server.add("/stacks", DebugServer::silence);
  const Folder folder;
  const Ended run = run_pdsim({"diagnose", "--live", server.url(), "--again", "1ms", "--wait", "1s"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.problems.find("the report is of its first answers"), std::string::npos) << run.problems;
  EXPECT_NE(run.output.find("nothing to explain"), std::string::npos) << run.output;
}

TEST(DiagnoseLive, AsksAWorkerItselfWhereThePageDidNotBringItsRecord) {
  DebugServer server({{"/handler/fr_trace_json", live_record(2, false)}});
  add_pages(server, {{"", live_record(3, true)}, {"", live_record(3, true)}, {"", "Timeout: read timed out", true}},
            {{"", live_stack(in_step)}, {"", live_stack(in_step)}, {"", live_stack(in_save)}});
  const Folder folder;
  const Ended run = run_pdsim({"diagnose", "--live", server.url()}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("for rank 2, which has not called it"), std::string::npos) << run.output;
}

TEST(DiagnoseLive, NamesWhoDoesNotAnswerAndExplainsTheOthers) {
  DebugServer server({{"/handler/fr_trace_json", DebugServer::silence},
                      {"/handler/dump_nccl_trace_json", DebugServer::silence},
                      {"/handler/torchcomms_fr_trace_json", DebugServer::silence},
                      {"/handler/dump_traceback", DebugServer::silence}});
  add_pages(server, {{"", live_record(3, true)}, {"", live_record(3, true)}, {"", "Timeout: read timed out", true}},
            {{"", live_stack(in_step)}, {"", live_stack(in_step)}, {"", "Timeout: read timed out", true}});
  const Folder folder;
  const Ended run = run_pdsim({"diagnose", "--live", server.url(), "--wait", "2s"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.problems.find("rank 2 (" + server.url() + ") did not answer: no answer within 2s"),
            std::string::npos)
      << run.problems;
  EXPECT_NE(run.output.find("[missing-record]: ranks 0, 1 wait in all_reduce #3 for rank 2"), std::string::npos)
      << run.output;
}

TEST(DiagnoseLive, FindsTheWorkersInTheStoreWhenThePagesHang) {
  DebugServer server({{"/handler/fr_trace_json", live_record(3, true)},
                      {"/handler/dump_traceback", live_stack(in_step)},
                      {"/fr_trace_json", DebugServer::silence},
                      {"/fr_trace_nccl_json", DebugServer::silence},
                      {"/torchcomms_fr_trace_json", DebugServer::silence},
                      {"/stacks", DebugServer::silence}});
  std::string keys = "<pre>\n";
  for (int rank = 0; rank < 3; ++rank)
    keys += "debug_server/rank" + std::to_string(rank) + ": b&#39;" + server.url() + "&#39;\n";
  server.add("/tcpstore", keys + "</pre>");
  const Folder folder;
  const Ended run = run_pdsim({"diagnose", "--live", server.url(), "--wait", "2s"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("all-stuck"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("ranks 0..2: was in /job/train.py:31 in step"), std::string::npos) << run.output;
}

TEST(DiagnoseLive, RefusesWhatIsNoDebugServerInOneLine) {
  const Folder folder;
  const DebugServer other({{"/", "hello"}, {"/fr_trace_json", "hello"}});
  const Ended wrong = run_pdsim({"diagnose", "--live", other.url()}, folder.path());
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.problems.find("its pages name no worker"), std::string::npos) << wrong.problems;
  for (const char* url : {"https://127.0.0.1:1", "127.0.0.1:25999", "http://", "http://host:99999", "http://host:x"}) {
    const Ended run = run_pdsim({"diagnose", "--live", url}, folder.path());
    EXPECT_EQ(run.status, 2) << url;
    EXPECT_NE(run.problems.find("is not an address of the form http://HOST:PORT"), std::string::npos) << run.problems;
  }
  const Ended refused = run_pdsim({"diagnose", "--live", "http://127.0.0.1:1", "--wait", "2s"}, folder.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.problems.find("cannot connect"), std::string::npos) << refused.problems;
  EXPECT_EQ(run_pdsim({"diagnose"}, folder.path()).status, 2);
}

}  // namespace
}  // namespace pdsim::cli_tests
