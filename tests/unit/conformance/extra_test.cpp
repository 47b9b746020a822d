// The calls of PyTorch 1.13 that the first records left out (tests/oracle/extra), in the simulated world with Gloo's semantics of that
// version, bit for bit.
#include "core/group/new_group.h"
#include "sim/run.h"
#include "tests/oracle/directory.h"
#include "tests/unit/conformance/extra_calls.h"
#include "tests/unit/conformance/sha256.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>

namespace pdsim::oracle {
namespace {

using Json = nlohmann::json;

struct ExtraDifference {
  std::string_view kind, why;
  bool (*applies)(const Json& recorded);
};
bool compares_nan(const Json& c) {
  return (c.at("op") == "max" || c.at("op") == "min") && c.at("dtype").get<std::string>().front() == 'f';
}
bool is_floating(const Json& c) { return c.at("dtype").get<std::string>().front() == 'f'; }
constexpr std::string_view keeps_nan =
    "Gloo's max and min keep a NaN or lose it by the order of operands; ours keep it";
constexpr std::string_view nan_bits =
    "a NaN that arithmetic makes has the bits of the processor's instruction, and here of ours";
constexpr std::string_view gaps =
    "what lies between the elements of a view counts as elements of the chunks, and sums are rounded in another order";
constexpr std::array extra_differences{ExtraDifference{"strided_view", gaps, is_floating},
                                       ExtraDifference{"special_all_reduce", keeps_nan, compares_nan},
                                       ExtraDifference{"special_reduce", keeps_nan, compares_nan},
                                       ExtraDifference{"special_all_reduce", nan_bits, is_floating},
                                       ExtraDifference{"special_reduce", nan_bits, is_floating}};

std::string_view reason_of(const Json& recorded) {
  for (const ExtraDifference& row : extra_differences)
    if (row.kind == recorded.at("kind") && row.applies(recorded)) return row.why;
  return "";
}

// Empty: the same.
std::string difference_of_extra(const Json& recorded, std::size_t rank, const ExtraOutcome& ours) {
  const Json& theirs = recorded.at("ranks").at(rank);
  if (theirs.contains("error"))
    return !ours.status.ok() && ours.status.error().code == Code::invalid_argument ? "" : "PyTorch raises";
  if (!ours.status.ok()) return ours.status.error().message;
  if (!ours.compared) return "";
  const std::vector<std::string> tensors = recorded_tensors(theirs.at("output").dump());
  if (tensors == ours.output) return "";
  for (std::size_t i = 0; i < std::min(tensors.size(), ours.output.size()); ++i)
    if (tensors[i] != ours.output[i])
      return "tensor " + std::to_string(i) + ": " + tensors[i] + " is here " + ours.output[i];
  return std::to_string(tensors.size()) + " tensors are here " + std::to_string(ours.output.size());
}

using OutcomesOfRank = std::vector<ExtraOutcome>;

// All cases in one world, one after the other.
std::vector<OutcomesOfRank> replay_extra(const std::vector<Json>& cases) {
  sim::WorldSpec spec;
  spec.ranks_per_node = cases.at(0).at("world");
  spec.profile = "pytorch-1.13";
  std::vector<OutcomesOfRank> outcomes(static_cast<std::size_t>(spec.ranks_per_node));
  const RunRecord run = sim::run(spec, {}, [&](RankEnvironment& env) -> ProgramResult {
                          auto store = env.rendezvous.env(env.backend.default_timeout());
                          if (!store.ok()) return {store.error(), {}};
                          GroupMaker maker(env.backend, **store, env.rank, env.world_size, env.recorder);
                          std::vector<Rank> everybody(static_cast<std::size_t>(env.world_size));
                          std::iota(everybody.begin(), everybody.end(), 0);
                          const auto world = maker.new_group(everybody);
                          if (!world.ok()) return {world.error(), {}};
                          for (const Json& c : cases) {
                            auto group = maker.new_group(c.value("members", everybody));
                            if (!group.ok()) return {group.error(), {}};
                            ProcessGroup& used = c.contains("members") ? **group : **world;
                            outcomes[static_cast<std::size_t>(env.rank)].push_back(run_extra(c.dump(), used, env.rank));
                          }
                          return {wait((*world)->barrier()), {}};  // rank 0 serves the store until all are here
                        }).value();
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
  return outcomes;
}

struct ExtraCounts {
  int same = 0;
  std::map<std::string_view, int> by_reason;
};

ExtraCounts compare_extra(const std::vector<Json>& cases) {
  const std::vector<OutcomesOfRank> outcomes = replay_extra(cases);
  ExtraCounts counts;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string id = cases[i].at("id");
    std::string difference;
    for (std::size_t r = 0; r < outcomes.size() && difference.empty(); ++r)
      difference = i < outcomes[r].size() ? difference_of_extra(cases[i], r, outcomes[r][i]) : "never reached";
    const std::string_view why = reason_of(cases[i]);
    if (difference.empty()) {
      ++counts.same;
    } else if (why.empty()) {
      ADD_FAILURE() << id << " " << cases[i].at("kind") << " of " << cases[i].at("dtype")
                    << " differs and is not listed: " << difference.substr(0, 400);
    } else {
      ++counts.by_reason[why];
    }
  }
  return counts;
}

// Some cases of each row must differ, or the row is to go.
void expect_all_used(const std::map<std::string_view, int>& by_reason) {
  for (const ExtraDifference& row : extra_differences)
    EXPECT_GT(by_reason.count(row.why), 0U) << "nothing differs any more because: " << row.why;
}

TEST(RecordedExtraCalls, GiveWhatPyTorchGaveOrAreListedWithTheirReason) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory() + "/extra")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty());
  std::map<std::string_view, int> by_reason;
  for (const auto& file : files) {
    std::vector<Json> cases;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) cases.push_back(Json::parse(line));
    const ExtraCounts counts = compare_extra(cases);
    std::cout << file.filename().string() << ": " << counts.same << " of " << cases.size() << " cases the same\n";
    for (const auto& [why, count] : counts.by_reason) {
      std::cout << "  " << count << " differ: " << why << "\n";
      by_reason[why] += count;
    }
  }
  expect_all_used(by_reason);
}

TEST(Sha256, IsTheStandardsOfAShortAndALongMessage) {
  const std::string abc = "abc", long_one(1000, 'a');
  const auto bytes = [](const std::string& s) { return std::as_bytes(std::span(s.data(), s.size())); };
  EXPECT_EQ(sha256(bytes(abc)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(bytes(long_one)), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

}  // namespace
}  // namespace pdsim::oracle
