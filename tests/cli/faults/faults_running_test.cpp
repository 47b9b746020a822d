// What breaks while ranks run: a connection is cut in the middle of a collective, the process that serves the store is killed. Every
// rank tells it, the command ends within its patience, and nothing is left. Jobs that cannot begin are in faults_test.cpp.

#include "tests/cli/support/connections.h"
#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/program_path.h"
#include "tests/cli/support/running.h"
#include "tests/cli/support/survivors.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

struct Broken {
  int status = -1;
  std::string output;
};

// Runs pdsim, breaks it as soon as that can be done, and waits for its end.
Broken break_run(const std::vector<std::string>& arguments, const std::function<bool()>& strike) {
  const Folder folder, told;
  const Leftovers before;
  const std::string output = told.path() / "output";
  const Running run(arguments, folder.path(), output);
  Broken broken;
  const bool struck = soon([&] { return run.ended() || strike(); });
  const bool ended =
      soon([&] { return run.ended() || (strike() && false); });  // a library may have a second connection
  EXPECT_TRUE(struck && ended) << (struck ? "it hangs" : "there was nothing to break");
  if (!ended) run.signal(SIGKILL);
  broken.status = run.status();
  EXPECT_TRUE(before.none_of(folder));
  broken.output = text_of(output);
  return broken;
}

bool has(const Broken& run, const std::string& text) { return run.output.find(text) != std::string::npos; }

std::vector<std::string> endless_bench(const std::string& world, const std::string& algorithm) {
  return {"bench", "--on",  world,  "--ranks", "2",       "--algorithm", algorithm, "--min",
          "4MiB",  "--max", "4MiB", "--iters", "1000000", "--patience",  "1s"};
}

bool cut(const std::string& world) {
  constexpr std::uint64_t some_calls = 20'000'000;
  return cut_a_connection(below(getpid(), "pdsim rank " + world), some_calls);
}

// Gloo itself forgets the message that it is moving; backends/gloo/watched_context.h.
TEST(BrokenConnection, OfGlooIsAnErrorOnBothRanksThatNamesTheOther) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  if (!can_cut()) GTEST_SKIP() << "this system lends no descriptors of other processes";
  for (const std::string algorithm : {"native", "ring"}) {
    const Broken run = break_run(endless_bench("gloo", algorithm), [] { return cut("gloo"); });
    EXPECT_EQ(run.status, 1) << run.output;
    EXPECT_TRUE(has(run, "rank 0: peer-closed\n")) << run.output;
    EXPECT_TRUE(has(run, "the connection was closed by rank 1 (gloo:")) << run.output;
    EXPECT_TRUE(has(run, "rank 1: peer-closed\n")) << run.output;
    EXPECT_TRUE(has(run, "the connection was closed by rank 0 (gloo:")) << run.output;
    EXPECT_TRUE(has(run, "[connection-lost]: ")) << run.output;
  }
}

// Open MPI waits forever, so that the patience ends it; or it ends the process itself.
TEST(BrokenConnection, OfMpiEndsInADiagnosisOrWithTheRankThatMpiEnded) {
  if (!is_there("mpi")) GTEST_SKIP() << "there is no mpi here";
  if (!can_cut()) GTEST_SKIP() << "this system lends no descriptors of other processes";
  setenv("OMPI_MCA_pml", "ob1", 1);  // over TCP, also on one machine
  setenv("OMPI_MCA_btl", "tcp,self", 1);
  setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
  const Broken run = break_run(endless_bench("mpi", "native"), [] { return cut("mpi"); });
  EXPECT_EQ(run.status, 1) << run.output;
  const bool hangs = has(run, "deadlock[all-stuck]: ") || has(run, "deadlock[missing-exit]: ");
  const bool died = run.output.find("the process of rank") != std::string::npos;
  EXPECT_TRUE(hangs || died) << run.output;
  EXPECT_EQ(run.output.find("could not begin"), std::string::npos) << run.output;
}

// In a job the store is served by rank 0's command, the parent of an agent that looks like it.
TEST(StoreServer, KilledInAJobIsToldByEveryOtherRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const std::string bench =
      program_path() + " bench --on gloo --algorithm native --min 4MiB --max 4MiB --iters 1000000";
  const std::string script =
      "for r in 0 1 2; do (RANK=$r WORLD_SIZE=3 " + bench + "; echo rank $r ends with $?) & done; wait";
  const Broken run = break_run({"launch", "-n", "1", "--", "sh", "-c", script}, [] {
    if (below(getpid(), "pdsim rank gloo").size() != 3) return false;
    const std::string line = program_path() + '\0' + "bench" + '\0' + "--on";
    for (const pid_t command : below(getpid(), " bench --on gloo"))
      if (!below(command, " bench --on gloo").empty() &&
          text_of("/proc/" + std::to_string(command) + "/cmdline").starts_with(line))
        return kill(command, SIGKILL) == 0;
    return false;
  });
  EXPECT_NE(run.output.find("rank 0 ends with 137"), std::string::npos) << run.output;
  for (const std::string rank : {"1", "2"}) {
    EXPECT_NE(run.output.find("pdsim: rank " + rank + " of 3: rank 0 of the job at 127.0.0.1:"), std::string::npos)
        << run.output;
    EXPECT_NE(run.output.find("rank " + rank + " ends with 4"), std::string::npos) << run.output;
  }
}

// Without a job it is rank 0's process.
TEST(StoreServer, KilledWithItsRankIsToldByEveryOtherRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Folder folder;
  folder.write("store_killed.yaml", R"(pdsim: 1
name: store_killed
summary: rank 0, which serves the store, is killed while the others wait in it
world: {ranks: 3, timeout: 60s}
model: {layers: {head: {linear: [4, 1]}}}
faults: [{crash: {}, match: {rank: 0}, at: {step: 0, before: store_get}}]
program: [init_process_group, train: {steps: 1, do: [store_get: {key: never}]}]
expect: {outcome: error}
)");
  const Ended run = run_pdsim({"scenario", "store_killed.yaml", "--on", "gloo", "--patience", "2s"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  const auto says = [&run](const char* text) { return run.output.find(text) != std::string::npos; };
  const bool at_once = says("ranks 1, 2 in step 0: store-closed\n");
  EXPECT_TRUE(at_once || (says("rank 1 in step 0: store-closed\n") && says("rank 2 in step 0: store-closed\n")))
      << run.output;
  EXPECT_NE(run.output.find("the store at 127.0.0.1:"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("the process that serves it ended"), std::string::npos) << run.output;
  EXPECT_TRUE(soon(no_child_left)) << "a process is still there";
}

}  // namespace
}  // namespace pdsim::cli_tests
