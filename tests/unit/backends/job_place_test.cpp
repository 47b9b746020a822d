#include "backends/launch/job_place.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<JobPlace>> place(const Variables& variables) {
  return job_place([&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

JobPlace joined(const Variables& variables) {
  const auto found = place(variables);
  EXPECT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found.ok() && found->has_value());
  return found.ok() && *found ? **found : JobPlace{};
}

std::string problem(const Variables& variables) {
  const auto found = place(variables);
  return found.ok() ? "none" : found.error().message;
}

const Variables torch{{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};
const Variables open_mpi{{"OMPI_COMM_WORLD_RANK", "2"},
                         {"OMPI_COMM_WORLD_SIZE", "3"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                         {"PMIX_NAMESPACE", "8350.1"}};
const Variables slurm{{"SLURM_PROCID", "1"},
                      {"SLURM_NTASKS", "2"},
                      {"SLURM_JOB_ID", "77"},
                      {"SLURM_STEP_ID", "0"},
                      {"SLURM_NNODES", "1"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

TEST(JobPlace, IsNoneWhereNothingSaysThatThereIsAJob) {
  EXPECT_FALSE(place({})->has_value());
  EXPECT_FALSE(place({{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "1"}, {"WORLD_SIZE", "2"}})->has_value());
}

TEST(JobPlace, OfTorchrunIsAtTheMaster) {
  const JobPlace p = joined(torch);
  EXPECT_EQ(p.rank, 1);
  EXPECT_EQ(p.size, 4);
  EXPECT_EQ(p.host, "node1");
  EXPECT_EQ(p.port, 29500);
  EXPECT_EQ(p.ports, 1);
  EXPECT_FALSE(p.is_mpi);
}

TEST(JobPlace, LiesBehindThePortWhereTorchrunServesItsOwnStore) {
  const JobPlace p = joined(with(torch, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"TORCHELASTIC_RUN_ID", "x"}}));
  EXPECT_EQ(p.port, 29501);
  EXPECT_EQ(p.ports, 16);
  EXPECT_EQ(p.name, "x");
}

TEST(JobPlace, OfMpirunOnOneMachineIsInItsMemory) {
  const JobPlace p = joined(open_mpi);
  EXPECT_EQ(p.rank, 2);
  EXPECT_EQ(p.size, 3);
  EXPECT_EQ(p.host, "");
  EXPECT_EQ(p.name, "8350.1");
  EXPECT_TRUE(p.is_mpi);
}

TEST(JobPlace, OfMpirunOnSeveralMachinesNeedsTheMaster) {
  const Variables several = with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}});
  EXPECT_NE(problem(several).find("set MASTER_ADDR"), std::string::npos) << problem(several);
  EXPECT_EQ(joined(with(several, {{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "4000"}})).host, "node1");
}

TEST(JobPlace, OfALaunchWithSeatsOfMpiIsAtTheMasterAndOfMpi) {
  const JobPlace p = joined(with(open_mpi, with(torch, {{"RANK", "2"}, {"WORLD_SIZE", "3"}})));
  EXPECT_EQ(p.host, "node1");
  EXPECT_EQ(p.rank, 2);
  EXPECT_TRUE(p.is_mpi);
}

TEST(JobPlace, OfTorchrunBelowMpirunIsTorchrunsWhereTheMasterIsKnown) {
  EXPECT_EQ(joined(with(open_mpi, torch)).rank, 1);
  EXPECT_EQ(joined(with(open_mpi, {{"RANK", "0"}, {"WORLD_SIZE", "9"}})).rank, 2);
}

TEST(JobPlace, OfSrunIsTheStepsAndABatchScriptIsNone) {
  const JobPlace p = joined(slurm);
  EXPECT_EQ(p.rank, 1);
  EXPECT_EQ(p.name, "slurm-77.0");
  EXPECT_FALSE(place(with(without(slurm, "SLURM_STEP_ID"), {{"ENVIRONMENT", "BATCH"}}))->has_value());
  EXPECT_TRUE(place(with(slurm, {{"ENVIRONMENT", "BATCH"}}))->has_value());
  EXPECT_NE(problem(with(slurm, {{"SLURM_NNODES", "2"}})), "none");
}

// Nobody sets MASTER_ADDR there.
TEST(JobPlace, OfSrunOnSeveralMachinesIsOnTheFirstOfThem) {
  const Variables several = with(slurm, {{"SLURM_NNODES", "2"}});
  const std::vector<std::pair<std::string, std::string>> lists{
      {"node7", "node7"},       {"node[08-11,14],login", "node08"},
      {"node[3,5-6]", "node3"}, {"rack[1-2]n[03-4]", "rack1n03"},
      {"gpu-a,gpu-b", "gpu-a"}, {"n[1-2]-ib", "n1-ib"}};
  for (const auto& [list, first] : lists)
    for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"})
      EXPECT_EQ(joined(with(several, {{name, list}})).host, first) << list;
  const JobPlace p = joined(with(several, {{"SLURM_STEP_NODELIST", "b[1-2]"}, {"SLURM_JOB_NODELIST", "a1,b[1-2]"}}));
  EXPECT_EQ(p.host, "b1");
  EXPECT_EQ(p.name, "slurm-77.0");
  EXPECT_EQ(p.port, 15000 + 77 * 7 * 16);
  EXPECT_EQ(p.ports, 16);
  const JobPlace next = joined(with(several, {{"SLURM_STEP_NODELIST", "b[1-2]"}, {"SLURM_STEP_ID", "1"}}));
  EXPECT_EQ(next.port, p.port + 16);
  const JobPlace huge = joined(with(several, {{"SLURM_STEP_NODELIST", "b"}, {"SLURM_JOB_ID", "4294967294"}}));
  EXPECT_GE(huge.port, 15000);
  EXPECT_LT(huge.port, 31000);
  const JobPlace told =
      joined(with(several, {{"SLURM_STEP_NODELIST", "b"}, {"MASTER_ADDR", "m"}, {"MASTER_PORT", "9"}}));
  EXPECT_EQ(told.host, "m");
  EXPECT_EQ(told.ports, 1);
}

TEST(JobPlace, IsNoneInAShellThatSrunHasStarted) {
  EXPECT_FALSE(place(with(slurm, {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}))->has_value());
  EXPECT_FALSE(place(with(slurm, {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}))->has_value());
}

TEST(JobPlace, OfAnotherMpiNeedsTheMaster) {
  const Variables pmi{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};
  EXPECT_NE(problem(pmi), "none");
  EXPECT_EQ(joined(with(pmi, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}})).size, 2);
}

TEST(JobPlace, SaysWhatIsMissingOrWrong) {
  EXPECT_EQ(problem(without(torch, "MASTER_ADDR")),
            "RANK and WORLD_SIZE are in the environment, but not MASTER_ADDR and MASTER_PORT: set all four to join the "
            "other ranks, or none to start them here");
  EXPECT_EQ(problem(without(torch, "MASTER_PORT")), "MASTER_PORT is missing in the environment");
  EXPECT_EQ(problem(with(torch, {{"RANK", "4"}})),
            "RANK is `4` in the environment, and must be a whole number from 0 to 3");
  EXPECT_EQ(problem(with(torch, {{"RANK", "-1"}})).find("RANK is `-1`"), 0U);
  EXPECT_EQ(problem(with(torch, {{"RANK", "1x"}})).find("RANK is `1x`"), 0U);
  EXPECT_EQ(problem(with(torch, {{"WORLD_SIZE", "0"}})).find("WORLD_SIZE is `0`"), 0U);
  EXPECT_EQ(problem(with(torch, {{"MASTER_PORT", "65536"}})).find("MASTER_PORT is `65536`"), 0U);
}

}  // namespace
}  // namespace pdsim
