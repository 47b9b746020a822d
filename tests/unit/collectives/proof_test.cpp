// Every algorithm is proven: all numbers of ranks up to 64, every root, counts around the number of ranks, in place too.
#include "core/collectives/proof/plan_proof.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace pdsim {
namespace {

// PDSIM_PROOF_RANKS=130 goes farther, with three roots for each number of ranks; 17 goes less far.
ProofOptions options() {
  const char* ranks = std::getenv("PDSIM_PROOF_RANKS");
  if (ranks == nullptr) return {};
  const int last = std::atoi(ranks);
  return last > ProofOptions{}.max_size ? ProofOptions{65, last, false} : ProofOptions{1, last, true};
}

class EveryAlgorithm : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryAlgorithm, IsProvenForUpTo64RanksAndEveryRootAndCostsItsClosedForm) {
  std::int64_t cases = 0;
  for (const Algorithm& a : algorithms()) {
    if (name_of(a.kind) != GetParam()) continue;
    const PlanProof proof = prove(a, options());
    cases += proof.cases;
    EXPECT_TRUE(proof.ok) << proof.problem << "\n" << proof.drawn;
  }
  RecordProperty("cases", std::to_string(cases));
  std::cout << cases << " cases of " << GetParam() << "\n";
}

std::vector<std::string_view> collectives_with_plans() {
  std::vector<std::string_view> names;
  for (const CollectiveRow& r : collective_table)
    if (r.planned) names.push_back(r.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Collectives, EveryAlgorithm, testing::ValuesIn(collectives_with_plans()),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(EveryCollective, HasAtLeastTwoAlgorithms) {
  for (const std::string_view name : collectives_with_plans()) {
    int rows = 0;
    for (const Algorithm& a : algorithms()) rows += name_of(a.kind) == name ? 1 : 0;
    EXPECT_GE(rows, 2) << name;
  }
}

}  // namespace
}  // namespace pdsim
