// Commands under mpirun, srun, torchrun and pdsim launch: they join the ranks that are there. Rank 0 reports, the others are
// quiet, all end with the same status. The launchers that are not installed are stood in for by their variables.

#include "tests/cli/support/program.h"
#include "tests/cli/support/program_path.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

const std::string validate = " validate --max-bytes 16B --collective barrier --algorithm linear --on ";
const std::string forget = "unset RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR; ";

Ended launch_two(const std::vector<std::string>& flags, const std::string& script) {
  const Folder folder;
  std::vector<std::string> arguments{"launch", "-n", "2"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), {"--", "sh", "-c", script});
  Ended run = run_pdsim(arguments, folder.path());
  EXPECT_TRUE(folder.names().empty());
  return run;
}

// What it prints, and its status in the last line.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(("exec 2>&1; " + command + "; echo status $?").c_str(), "r");
  std::array<char, 4096> chunk{};
  while (pipe != nullptr) {
    const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe);
    if (n == 0) break;
    text.append(chunk.data(), n);
  }
  if (pipe != nullptr) pclose(pipe);
  return text;
}

void expect_one_report(const Ended& run, const std::string& world) {
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_EQ(run.problems, "");
  EXPECT_EQ(run.output.find("[rank 0] validate on " + world), 0U) << run.output;
  EXPECT_NE(run.output.find("[rank 0] 1 cases, 0 wrong elements, 0 skipped, 0 did not finish: ok\n"),
            std::string::npos);
  EXPECT_EQ(run.output.find("[rank 1]"), std::string::npos) << run.output;
}

TEST(Join, ValidateOnGlooTakesTheRanksOfALaunch) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  expect_one_report(launch_two({}, program_path() + validate + "gloo"), "gloo");
}

TEST(Join, ValidateOnMpiTakesTheRanksOfALaunchWithSeats) {
  if (!is_there("mpi")) GTEST_SKIP() << "there is no mpi here";
  expect_one_report(launch_two({"--on", "mpi"}, program_path() + validate + "mpi"), "mpi");
}

TEST(Join, TakesTheRanksOfMpirun) {
  if (!is_there("mpi")) GTEST_SKIP() << "there is no mpi here";
  const std::string mpirun = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 ";
  for (const std::string world : {"mpi", "gloo"}) {
    if (!is_there(world)) continue;
    const std::string text = output_of(mpirun + program_path() + validate + world);
    EXPECT_EQ(text.find("validate on " + world), 0U) << text;
    EXPECT_EQ(text.find("validate on", 1), std::string::npos) << text;
    EXPECT_NE(text.find("\n1 cases, 0 wrong elements, 0 skipped, 0 did not finish: ok\nstatus 0\n"), std::string::npos)
        << text;
  }
}

// mpirun gives its ranks a terminal, and then writes into a pipe.
TEST(Join, WhatRanksOfMpirunPrintHasNoColour) {
  if (!is_there("mpi") || !is_there("gloo")) GTEST_SKIP() << "there is no mpi or no gloo here";
  const std::string text = output_of(
      "TERM=xterm OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2 " +
      program_path() +
      " scenario " PDSIM_SOURCE_DIR "/scenarios/catalog/unused_params.yaml --variant fixed --quiet --on gloo");
  EXPECT_EQ(text.find("PASS  fixed"), 0U) << text;
  EXPECT_EQ(text.find('\033'), std::string::npos) << text;
}

// Pairs, then one part after the other for each collective that is compared, all in the same processes. How fast they are is
// this machine's affair.
TEST(Join, TimesThePairsOfTheRanksThatAreThere) {
  if (!is_there("mpi")) GTEST_SKIP() << "there is no mpi here";
  const Ended run = launch_two({"--on", "mpi"}, program_path() + " validate --expect 0.01 --on mpi");
  EXPECT_EQ(run.problems, "");
  EXPECT_NE(run.output.find("\n[rank 0] 0 1 "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("\n[rank 0] all_to_all "), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find("[rank 1]"), std::string::npos) << run.output;
}

TEST(Join, TakesTheRanksOfSrun) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const std::string srun =
      "export SLURM_PROCID=$RANK SLURM_NTASKS=2 SLURM_JOB_ID=$PPID SLURM_STEP_ID=0 SLURM_NNODES=1; ";
  expect_one_report(launch_two({}, srun + forget + program_path() + validate + "gloo"), "gloo");
}

// On several machines srun says who they are, and nobody sets MASTER_ADDR; here the first of them is this one.
TEST(Join, TakesTheRanksOfSrunOnSeveralMachines) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const std::string srun =
      "export SLURM_PROCID=$RANK SLURM_LOCALID=0 SLURM_NODEID=$RANK SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 "
      "SLURM_JOB_ID=$PPID SLURM_STEP_ID=0 SLURM_NNODES=2 SLURM_STEP_NUM_NODES=2 SLURM_STEP_TASKS_PER_NODE='1(x2)' "
      "SLURM_STEP_NODELIST=localhost,node2 SLURM_JOB_NODELIST=localhost,node[2-9]; ";
  expect_one_report(launch_two({}, srun + forget + "unset MASTER_PORT; " + program_path() + validate + "gloo"), "gloo");
}

// The agent of torchrun listens at MASTER_PORT; its store is not ours, and does not answer us.
TEST(Join, GoesBehindThePortWhereTorchrunServesItsOwnStore) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const int agent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  socklen_t length = sizeof address;
  address.sin_family = AF_INET;
  ASSERT_EQ(bind(agent, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(agent, 1), 0);
  getsockname(agent, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string torchrun =
      "export MASTER_ADDR=localhost MASTER_PORT=" + std::to_string(ntohs(address.sin_port)) +
      " GROUP_RANK=0 ROLE_RANK=$RANK ROLE_NAME=default ROLE_WORLD_SIZE=2 GROUP_WORLD_SIZE=1 "
      "TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RESTART_COUNT=0 TORCHELASTIC_MAX_RESTARTS=0 "
      "TORCHELASTIC_RUN_ID=r$PPID; ";
  expect_one_report(launch_two({}, torchrun + program_path() + validate + "gloo"), "gloo");
  close(agent);
}

TEST(Join, AVerdictThatDoesNotHoldIsTheStatusOfEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Folder folder;
  folder.write("x.yaml",
               "pdsim: 1\nname: x\nsummary: y\nworld: {ranks: 2}\nprogram: [init_process_group, barrier]\nexpect: "
               "{outcome: deadlock}\n");
  const std::string script = program_path() + " scenario x.yaml --on gloo --quiet; echo status $?; exit 0";
  const Ended run = run_pdsim({"launch", "-n", "2", "--", "sh", "-c", script}, folder.path());
  EXPECT_NE(run.output.find("[rank 0] status 1\n"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("[rank 1] status 1\n"), std::string::npos) << run.output;
}

TEST(Join, RanksMayDieAndHangWithoutEndingTheJob) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run =
      launch_two({}, program_path() + " scenario " PDSIM_SOURCE_DIR
                                      "/scenarios/catalog/unused_params.yaml --on gloo --quiet --patience 500ms");
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("[rank 0] 5 of 5 variants as expected"), std::string::npos) << run.output;
}

TEST(Join, TheSimulatedWorldHasItsRanksToItself) {
  const Ended run =
      launch_two({}, program_path() + " validate --ranks 3 --max-bytes 16B --collective barrier --algorithm linear");
  EXPECT_EQ(run.status, 0) << run.problems;
  for (const char* line : {"[rank 0] validate on sim, 3 ranks", "[rank 1] validate on sim, 3 ranks"})
    EXPECT_NE(run.output.find(line), std::string::npos) << run.output;
}

struct WrongScript {
  std::string script;
  std::string problem;
};

TEST(Join, WhatDoesNotGoTogetherIsToldOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const std::string other_ranks = "--ranks asks for 3, but the job that torchrun started has 2; remove --ranks";
  const std::vector<WrongScript> wrongs{
      {program_path() + validate + "gloo --ranks 3", other_ranks},
      {"unset MASTER_ADDR; " + program_path() + validate + "gloo",
       "RANK and WORLD_SIZE are in the environment, but not"},
      {"export RANK=5; " + program_path() + validate + "gloo", "RANK is `5` in the environment"},
      {"export RANK=1; " + program_path() + validate + "mpi", "this job was not started by Open MPI's mpirun"},
      {program_path() + " scenario " PDSIM_SOURCE_DIR "/scenarios/catalog/all_reduce_closed_form.yaml --on gloo",
       "all_reduce_closed_form has 8 ranks, and the job that torchrun has started 2"},
  };
  for (const WrongScript& wrong : wrongs) {
    const Ended run = launch_two({}, wrong.script + "; [ $? = 2 ]");
    if (wrong.problem.find("mpirun") != std::string::npos && !is_there("mpi")) continue;
    EXPECT_EQ(run.status, 0) << run.problems;
    for (const char* rank : {"[rank 0] pdsim: ", "[rank 1] pdsim: "})
      EXPECT_NE(run.problems.find(rank + wrong.problem), std::string::npos) << run.problems;
  }
}

TEST(Join, ASecretInTheCommandLineIsRefusedAndNotPrinted) {
  const Folder folder;
  const Ended run = run_pdsim({"validate", "--on", "gloo", "--join-secret", "hunter2"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.problems.find("write env:NAME or file:PATH"), std::string::npos) << run.problems;
  EXPECT_EQ((run.output + run.problems).find("hunter2"), std::string::npos) << run.problems;
}

TEST(Join, ASecretThatIsNotThereIsNamed) {
  const std::string job = "RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 ";
  const std::string command = job + program_path() + validate + "gloo --join-secret ";
  const std::string variable = output_of(command + "env:NO_SUCH_SECRET"), file = output_of(command + "file:/no/such");
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  EXPECT_EQ(variable, "pdsim: --join-secret env:NO_SUCH_SECRET: the variable is not set\nstatus 2\n");
  EXPECT_EQ(file, "pdsim: --join-secret file:/no/such: the file cannot be read\nstatus 2\n");
}

TEST(Join, ARankWithAnotherSecretIsRefusedAndTheJobGoesOn) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const std::string command = program_path() + validate + "gloo";
  const Ended run = launch_two({}, "if [ $RANK = 1 ]; then PDSIM_JOIN_SECRET=wrong " + command +
                                       "; echo status $?; fi; printf 'right\\n' > secret.$RANK; " + command +
                                       " --join-secret file:secret.$RANK; s=$?; rm secret.$RANK; exit $s");
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("[rank 1] status 2\n"), std::string::npos) << run.output;
  EXPECT_NE(run.problems.find("[rank 1] pdsim: rank 1 has a different secret than rank 0: give all ranks the same"),
            std::string::npos)
      << run.problems;
  EXPECT_NE(run.problems.find("[rank 0] pdsim: rank 0 refused a connection from "), std::string::npos) << run.problems;
  EXPECT_NE(run.output.find("[rank 0] 1 cases, 0 wrong elements, 0 skipped, 0 did not finish: ok\n"), std::string::npos)
      << run.output;
  EXPECT_EQ((run.output + run.problems).find("wrong\n"), std::string::npos);
}

}  // namespace
}  // namespace pdsim::cli_tests
