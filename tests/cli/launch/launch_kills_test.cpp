// pdsim launch at random moments: its guard, its launcher or a rank is interrupted, killed or stopped, while ranks run with
// children in sessions of their own. The job ends with the right status, and nothing stays behind: no process, file, port or shared
// memory.
//
//   more   PDSIM_KILLS=300 test_cli --gtest_filter='LaunchKills.*', or `ctest -C slow -R kills.hundreds`

#include "core/base/random.h"
#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/program_path.h"
#include "tests/cli/support/running.h"
#include "tests/cli/support/survivors.h"
#include "tests/cli/support/tally.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

enum class Victim : char { guard, launcher, rank };

struct LaunchBlow {
  std::string_view what;
  Victim victim;
  int signal;
};

const std::array<LaunchBlow, 9> launch_blows{{
    {"SIGINT to the guard", Victim::guard, SIGINT},
    {"SIGTERM to the guard", Victim::guard, SIGTERM},
    {"SIGQUIT to the guard", Victim::guard, SIGQUIT},
    {"SIGHUP to the guard", Victim::guard, SIGHUP},
    {"SIGKILL to the guard", Victim::guard, SIGKILL},
    {"SIGKILL to the launcher", Victim::launcher, SIGKILL},
    {"SIGKILL to a rank", Victim::rank, SIGKILL},
    {"SIGSTOP to a rank", Victim::rank, SIGSTOP},
    {"SIGSEGV to a rank", Victim::rank, SIGSEGV},
}};

// Ranks with a child in their group, one in a session of its own, and one whose parent has gone.
constexpr const char* program = "sleep 1000 & setsid sleep 1000 & (sleep 1000 & exit 0); wait";

// True when the blow met somebody.
bool strike(const Running& run, const LaunchBlow& blow, std::uint64_t which) {
  if (blow.victim == Victim::guard) {
    run.signal(blow.signal);
    return true;
  }
  std::vector<pid_t> victims = run.children();
  if (blow.victim == Victim::rank && !victims.empty()) victims = children_of(victims.front());
  // Orphans of ranks are the launcher's children as well, but only ranks lead a group.
  if (blow.victim == Victim::rank)
    victims.erase(std::remove_if(victims.begin(), victims.end(), [](pid_t pid) { return getpgid(pid) != pid; }),
                  victims.end());
  return !victims.empty() && kill(victims[which % victims.size()], blow.signal) == 0;
}

void strike_once(Random& random, Tally& tally) {
  const LaunchBlow& blow = launch_blows[random.below(launch_blows.size())];
  tally.add(blow.what);
  const std::uint64_t moment = random.below(60);
  const std::uint64_t which = random.next();
  const std::string ranks = std::to_string(1 + random.below(4));
  SCOPED_TRACE(std::string(blow.what) + " after " + std::to_string(moment) + " ms, " + ranks + " ranks");
  const Folder folder;
  const Leftovers before;
  const Running run({"launch", "-n", ranks, "--patience", "300ms", "--grace", "500ms", "--", "sh", "-c", program},
                    folder.path());
  poll(nullptr, 0, static_cast<int>(moment));
  const bool met = strike(run, blow, which);
  if (!met) run.signal(SIGTERM);  // nobody was there yet
  const bool ended = soon([&] { return run.ended(); });
  EXPECT_TRUE(ended) << "it hangs";
  if (!ended) run.signal(SIGKILL);
  EXPECT_EQ(run.status(), 128 + (met ? blow.signal : SIGTERM));
  EXPECT_TRUE(before.none_of(folder));
}

// Anybody below the launcher: a rank's command, its agent, or the process that does its work. A process that is stopped before it
// has come up costs half a minute, so that is tried only where there is time.
void strike_a_job(Random& random, Tally& tally) {
  const bool stops = std::getenv("PDSIM_KILLS") != nullptr && random.below(3) == 0;
  tally.add(stops ? "SIGSTOP" : "SIGKILL");
  const std::uint64_t moment = random.below(250), which = random.next();
  SCOPED_TRACE(std::string(stops ? "SIGSTOP" : "SIGKILL") + " after " + std::to_string(moment) + " ms");
  const Folder folder;
  const Leftovers before;
  const Running run(
      {"launch",       "-n",       "3",       "--patience", "300ms",      "--grace", "500ms",        "--",
       program_path(), "validate", "--on",    "gloo",       "--patience", "500ms",   "--collective", "all_reduce",
       "--max-bytes",  "64B",      "--dtype", "f32",        "--op",       "sum"},
      folder.path());
  poll(nullptr, 0, static_cast<int>(moment));
  std::vector<pid_t> below = run.children();
  const std::size_t guards = below.size();
  for (std::size_t i = 0; i < below.size(); ++i)
    for (const pid_t pid : children_of(below[i])) below.push_back(pid);
  below.erase(below.begin(), below.begin() + static_cast<std::ptrdiff_t>(guards));
  if (!below.empty()) kill(below[which % below.size()], stops ? SIGSTOP : SIGKILL);
  const auto is_over = [&] { return run.ended(); };
  const bool ended = soon(is_over) || soon(is_over) || soon(is_over) || soon(is_over) || soon(is_over);
  EXPECT_TRUE(ended) << "it hangs";
  if (!ended) run.signal(SIGKILL);
  const std::array<int, 7> known{0, 1, 3, 4, 128 + SIGTERM, 128 + SIGKILL, 128 + SIGSTOP};
  const int status = run.status();
  EXPECT_NE(std::find(known.begin(), known.end(), status), known.end()) << "status " << status;
  EXPECT_TRUE(before.none_of(folder));
}

int times_of(int otherwise) {
  const char* asked = std::getenv("PDSIM_KILLS");
  return asked != nullptr ? std::atoi(asked) : otherwise;
}

TEST(LaunchKills, InsideAJobOfGlooLeaveNothing) {
  if (run_pdsim({"launch", "-n", "1", "--on", "gloo", "--", "true"}, "/").status == 3)
    GTEST_SKIP() << "there is no gloo";
  Random random(20261122);
  Tally tally;
  for (int i = 0; i < times_of(8) && !HasFailure(); ++i) strike_a_job(random, tally);
  tally.print("below launch, of a job on gloo");
}

TEST(LaunchKills, AtRandomMomentsLeaveNothing) {
  Random random(20261121);
  Tally tally;
  for (int i = 0; i < times_of(25) && !HasFailure(); ++i) strike_once(random, tally);
  tally.print("launch");
}

}  // namespace
}  // namespace pdsim::cli_tests
