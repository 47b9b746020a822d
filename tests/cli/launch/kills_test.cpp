// Real worlds at random moments: the launcher is interrupted or killed, one of its processes (a rank, or mpirun) is stopped or
// killed. The command ends with the right status, and nothing stays behind: no process, file, port or shared memory.
//
//   more   PDSIM_KILLS=300 test_cli --gtest_filter='Kills.*', or `ctest -C slow -R kills.hundreds`

#include "core/base/random.h"
#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/running.h"
#include "tests/cli/support/survivors.h"
#include "tests/cli/support/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

struct Blow {
  std::string_view what;
  int signal;
  bool to_a_rank;
  std::vector<int> statuses;  // besides 0 and 1: the run was over before, or its verdict was not touched
};

const std::array<Blow, 5> blows{{
    {"SIGINT to the launcher", SIGINT, false, {128 + SIGINT}},
    {"SIGTERM to the launcher", SIGTERM, false, {128 + SIGTERM}},
    {"SIGKILL to the launcher", SIGKILL, false, {128 + SIGKILL}},
    {"SIGSTOP to a rank", SIGSTOP, true, {3}},  // 3: it had not come up yet
    {"SIGKILL to a rank", SIGKILL, true, {3}},
}};

constexpr std::array<std::string_view, 4> variants{"broken", "error_at_next_forward", "small_buckets", "fixed"};

void pause_ms(std::uint64_t ms) { poll(nullptr, 0, static_cast<int>(ms)); }

void strike(const std::string& world, Random& random, Tally& tally) {
  const Blow& blow = blows[random.below(blows.size())];
  tally.add(blow.what);
  const std::string variant{variants[random.below(variants.size())]};
  const std::uint64_t moment = random.below(300);
  const std::uint64_t victim = random.next();
  const bool in_memory = world == "mpi" && random.below(2) == 0;  // it keeps its files in /dev/shm if it may
  SCOPED_TRACE(std::string(blow.what) + " after " + std::to_string(moment) + " ms of " + variant + " on " + world);
  const Folder folder;
  const Leftovers before;
  const std::string file = PDSIM_SOURCE_DIR "/scenarios/catalog/unused_params.yaml";
  const Running run({"scenario", file, "--variant", variant, "--on", world, "--patience", "500ms"}, folder.path(), {},
                    in_memory ? Temporary::anywhere : Temporary::in_the_folder);
  pause_ms(moment);
  const std::vector<pid_t> children = run.children();
  if (!blow.to_a_rank) run.signal(blow.signal);
  if (blow.to_a_rank && !children.empty()) kill(children[victim % children.size()], blow.signal);
  // A rank that is stopped before it has come up costs half a minute.
  const auto is_over = [&] { return run.ended(); };
  const bool ended = soon(is_over) || soon(is_over) || soon(is_over) || soon(is_over) || soon(is_over);
  EXPECT_TRUE(ended) << "it hangs";
  if (!ended) run.signal(SIGKILL);
  const int status = run.status();
  const bool known =
      status <= 1 || std::find(blow.statuses.begin(), blow.statuses.end(), status) != blow.statuses.end();
  EXPECT_TRUE(known) << "status " << status;
  EXPECT_TRUE(before.none_of(folder));
}

void strike_often(const std::string& world, int otherwise) {
  if (run_pdsim({"scenario", "ddp_equals_single_process", "--on", world}, "/").status == 3)
    GTEST_SKIP() << "there is no " << world << " here";
  const char* asked = std::getenv("PDSIM_KILLS");
  const int count = asked != nullptr ? std::atoi(asked) : otherwise;
  Random random(20261121);
  Tally tally;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) strike(world, random, tally);
  tally.print(world);
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Within the first moments of a rank: before it is another program than its parent, loads, connects, and in init.
void strike_early(const std::string& world, int time) {
  const int moment = time * 7 % 40;
  SCOPED_TRACE(std::to_string(moment) + " ms after a rank appears on " + world);
  const Folder folder, told_folder;
  const Leftovers before;
  const std::string output = (told_folder.path() / "output").string();
  const Running run({"scenario", PDSIM_SOURCE_DIR "/scenarios/catalog/unused_params.yaml", "--variant", "fixed", "--on",
                     world, "--patience", "600s"},
                    folder.path(), output);
  const auto ranks = [&world] { return below(getpid(), "rank " + world); };
  const bool appeared = run.wait_until([&ranks] { return !ranks().empty(); });
  pause_ms(static_cast<std::uint64_t>(moment));
  const std::vector<pid_t> victims = ranks();
  const bool met = appeared && !victims.empty() && kill(victims.back(), SIGKILL) == 0;
  const bool ended = soon([&run] { return run.ended(); });
  EXPECT_TRUE(ended) << "it waits for its patience";
  if (!ended) run.signal(SIGKILL);
  const int status = run.status();
  const std::string told = contents(output);
  EXPECT_TRUE(before.none_of(folder));
  if (!met || status == 0) return;  // it was over
  EXPECT_EQ(status, 1) << told;
  EXPECT_NE(told.find("by signal 9"), std::string::npos) << told;
}

void strike_early_often(const std::string& world, int otherwise) {
  if (run_pdsim({"scenario", "ddp_equals_single_process", "--on", world}, "/").status == 3)
    GTEST_SKIP() << "there is no " << world << " here";
  const char* asked = std::getenv("PDSIM_KILLS");
  const int count = asked != nullptr ? std::atoi(asked) : otherwise;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) strike_early(world, i);
}

TEST(Kills, OfARankInItsFirstMomentsAreNamedOnGloo) { strike_early_often("gloo", 20); }
TEST(Kills, OfARankInItsFirstMomentsAreNamedOnMpi) { strike_early_often("mpi", 8); }

TEST(Kills, AtRandomMomentsLeaveNothingOnGloo) { strike_often("gloo", 30); }
TEST(Kills, AtRandomMomentsLeaveNothingOnMpi) { strike_often("mpi", 15); }

}  // namespace
}  // namespace pdsim::cli_tests
