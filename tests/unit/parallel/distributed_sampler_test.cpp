#include "core/parallel/distributed_sampler.h"

#include "tests/oracle/directory.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace pdsim {
namespace {

using Indices = std::vector<std::int64_t>;

std::vector<nlohmann::json> recorded(const std::string& table) {
  std::ifstream file(oracle::directory() + "/tables/" + table);
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

DistributedSampler sampler(std::int64_t length, int replicas, Rank rank, SamplerOptions options = {}) {
  return DistributedSampler::make(length, replicas, rank, options).value();
}

TEST(DistributedSampler, DrawsTheIndicesThatPyTorchDrew) {
  int matched = 0;
  for (const auto& row : recorded("sampler.jsonl")) {
    const auto length = row["length"].get<std::int64_t>();
    const int replicas = row["replicas"];
    SamplerOptions options{row["shuffle"], row["drop_last"], row["seed"]};
    for (Rank rank = 0; rank < replicas; ++rank) {
      DistributedSampler s = sampler(length, replicas, rank, options);
      s.set_epoch(row["epoch"]);
      const auto expected = row["indices"][static_cast<std::size_t>(rank)].get<Indices>();
      if (options.shuffle) {
        EXPECT_EQ(s.indices_from(row["permutation"].get<Indices>()).value(), expected) << row;
      } else {
        EXPECT_EQ(s.indices(), expected) << row;
      }
      EXPECT_EQ(s.length(), row["num_samples"].get<std::int64_t>()) << row;
      EXPECT_EQ(s.total_size(), row["total_size"].get<std::int64_t>()) << row;
    }
    ++matched;
  }
  RecordProperty("matched", matched);
  EXPECT_GE(matched, 1);
}

TEST(DistributedSampler, CoversTheDataSetOnceWhenTheRanksDivideIt) {
  for (const bool shuffle : {false, true}) {
    std::multiset<std::int64_t> drawn;
    for (Rank rank = 0; rank < 4; ++rank)
      for (const std::int64_t i : sampler(64, 4, rank, {shuffle, false, 7}).indices()) drawn.insert(i);
    EXPECT_EQ(drawn.size(), 64U);
    EXPECT_EQ(std::set<std::int64_t>(drawn.begin(), drawn.end()).size(), 64U);
  }
}

TEST(DistributedSampler, PadsWithTheFirstIndicesOrDropsTheTail) {
  EXPECT_EQ(sampler(5, 4, 0, {false, false, 0}).indices(), (Indices{0, 4}));
  EXPECT_EQ(sampler(5, 4, 3, {false, false, 0}).indices(), (Indices{3, 2}));
  EXPECT_EQ(sampler(5, 4, 3, {false, true, 0}).indices(), (Indices{3}));
  EXPECT_EQ(sampler(1, 4, 2, {false, false, 0}).indices(), (Indices{0}));
}

TEST(DistributedSampler, KeepsItsOrderFromEpochToEpochUnlessToldTheEpoch) {
  DistributedSampler s = sampler(100, 2, 0);
  const Indices first = s.indices();
  EXPECT_EQ(s.indices(), first);
  s.set_epoch(1);
  EXPECT_NE(s.indices(), first);
  s.set_epoch(0);
  EXPECT_EQ(s.indices(), first);
}

TEST(DistributedSampler, RefusesARankOutsideOfItsReplicasAndAPermutationOfAnotherLength) {
  EXPECT_EQ(DistributedSampler::make(8, 2, 2).error().message, "Invalid rank 2, rank should be in the interval [0, 1]");
  EXPECT_EQ(DistributedSampler::make(8, 0, 0).error().code, Code::invalid_argument);
  EXPECT_EQ(DistributedSampler::make(-1, 1, 0).error().code, Code::invalid_argument);
  EXPECT_EQ(sampler(8, 2, 0).indices_from(Indices{0, 1}).error().code, Code::invalid_argument);
}

TEST(ChunkSizes, AreThoseOfPyTorch) {
  int matched = 0;
  for (const auto& row : recorded("chunk.jsonl")) {
    EXPECT_EQ(chunk_sizes(row["batch"], row["devices"]), row["sizes"].get<Indices>()) << row;
    ++matched;
  }
  EXPECT_GE(matched, 1);
}

}  // namespace
}  // namespace pdsim
