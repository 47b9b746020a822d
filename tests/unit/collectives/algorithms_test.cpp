// The table of algorithms, as it comes out of the families' files.

#include "core/collectives/plans/family.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace pdsim {
namespace {

TEST(Algorithms, HoldEachRowOfEachFamilyOnceForEachOfItsCollectives) {
  std::set<std::pair<CollectiveKind, std::string_view>> rows;
  for (const AlgorithmFamily family : algorithm_families())
    for (const AlgorithmRow& row : family()) {
      int collectives = 0;
      for (const CollectiveRow& kind : collective_table) {
        if (!row.kinds.has(kind.kind)) continue;
        ++collectives;
        EXPECT_TRUE(rows.emplace(kind.kind, row.name).second) << kind.name << " " << row.name << " stands there twice";
        const Result<const Algorithm*> found = find_algorithm(kind.kind, row.name);
        ASSERT_TRUE(found.ok()) << kind.name << " " << row.name;
        EXPECT_EQ((*found)->plan, row.plan) << kind.name << " " << row.name;
      }
      EXPECT_GE(collectives, 1) << row.name << " serves no collective";
    }
  EXPECT_EQ(rows.size(), algorithms().size());
}

TEST(Algorithms, HaveOneThatIsAutomaticForEachCollective) {
  for (const CollectiveRow& kind : collective_table) {
    int automatic = 0;
    for (const AlgorithmFamily family : algorithm_families())
      for (const AlgorithmRow& row : family()) {
        if (!row.automatic || !row.kinds.has(kind.kind)) continue;
        ++automatic;
        EXPECT_EQ((*find_algorithm(kind.kind, "auto"))->name, row.name) << kind.name;
      }
    EXPECT_EQ(automatic, kind.composed ? 0 : 1) << kind.name;
  }
}

// One plan serves even and uneven parts only because every plan asks for its parts.
TEST(Algorithms, ServeSeveralCollectivesOnlyWhereTheyDifferInTheSizesOfParts) {
  for (const AlgorithmFamily family : algorithm_families())
    for (const AlgorithmRow& row : family()) {
      std::set<std::pair<bool, bool>> parts;
      std::set<Sources> sources;
      for (const CollectiveRow& kind : collective_table) {
        if (!row.kinds.has(kind.kind)) continue;
        parts.emplace(kind.input_in_parts, kind.output_in_parts);
        sources.insert(kind.shape.sources);
      }
      EXPECT_EQ(parts.size(), 1U) << row.name;
      EXPECT_EQ(sources.size(), 1U) << row.name;
    }
}

}  // namespace
}  // namespace pdsim
