// Topologies, speeds and costs of a message that mean nothing, each error with the text that the user sees.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

const std::string a_link = "  link: {latency: 5us, bandwidth: 25GB/s}";
const std::string flat = "  ranks: 2\n" + a_link;
const std::string two_level = "  nodes: 2\n  ranks_per_node: 2\n  inter: {latency: 5us}\n";

TEST(NetworkError, WantsToKnowTheFirstByte) {
  EXPECT_EQ(report_of(with(a_link, "  link: {first_byte: late}")),
            R"(error[scenario]: `late` is not a valid `first_byte`
  --> mine.yaml:6:22
  |
6 |   link: {first_byte: late}
  |                      ^^^^ expected `paid` or `free`
)");
}

TEST(NetworkError, WantsAnOverheadWithAUnit) {
  EXPECT_EQ(report_of(with(a_link, "  link: {overhead: 5}")), R"(error[scenario]: `5` is not a duration
  --> mine.yaml:6:20
  |
6 |   link: {overhead: 5}
  |                    ^ write a number and a unit with no space: 5ns, 5us, 5ms, 5s, 5min
)");
}

TEST(NetworkError, WantsATickWithAUnit) {
  EXPECT_EQ(report_of(with(a_link, "  link: {tick: -1ns}")), R"(error[scenario]: `-1ns` is not a duration
  --> mine.yaml:6:16
  |
6 |   link: {tick: -1ns}
  |                ^^^^ write a number and a unit with no space: 5ns, 5us, 5ms, 5s, 5min
)");
}

TEST(NetworkError, WantsAKnownTopology) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {fat_three: {leaf: 2}}")),
            R"(error[scenario]: unknown topology `fat_three` in world.topology
  --> mine.yaml:6:14
  |
6 |   topology: {fat_three: {leaf: 2}}
  |              ^^^^^^^^^ did you mean `fat_tree`?
)");
}

TEST(NetworkError, WantsOneTopology) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {fat_tree: {leaf: 2}, torus: {x: 2}}")),
            R"(error[scenario]: `torus` beside `fat_tree` in one entry
  --> mine.yaml:6:35
  |
6 |   topology: {fat_tree: {leaf: 2}, torus: {x: 2}}
  |                                   ^^^^^ an entry is one topology; start another entry
)");
}

TEST(NetworkError, WantsATopologyWithAName) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {}")), R"(error[scenario]: an entry without topology
  --> mine.yaml:6:13
  |
6 |   topology: {}
  |             ^^ there are `fat_tree`, `rail` or `torus`
)");
}

TEST(NetworkError, WantsTheSizeOfALeaf) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {fat_tree: {oversubscription: 2}}")),
            R"(error[scenario]: `leaf` is missing in fat_tree
  --> mine.yaml:6:14
  |
6 |   topology: {fat_tree: {oversubscription: 2}}
  |              ^^^^^^^^ leaf: nodes below a leaf switch; in a flat world, ranks
)");
}

TEST(NetworkError, WantsALeafOfOneAtLeast) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {fat_tree: {leaf: 0}}")),
            R"(error[scenario]: `0` is out of range for `leaf`
  --> mine.yaml:6:31
  |
6 |   topology: {fat_tree: {leaf: 0}}
  |                               ^ expected a whole number 1..8192
)");
}

TEST(NetworkError, WantsMoreBandwidthBelowALeafSwitchThanAbove) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {fat_tree: {leaf: 2, oversubscription: 0.5}}")),
            R"(error[scenario]: `0.5` is out of range for `oversubscription`
  --> mine.yaml:6:52
  |
6 |   topology: {fat_tree: {leaf: 2, oversubscription: 0.5}}
  |                                                    ^^^ expected a number 1..1000
)");
}

TEST(NetworkError, WantsAHopWithAUnit) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {fat_tree: {leaf: 2, hop: 1}}")),
            R"(error[scenario]: `1` is not a duration
  --> mine.yaml:6:39
  |
6 |   topology: {fat_tree: {leaf: 2, hop: 1}}
  |                                       ^ write a number and a unit with no space: 5ns, 5us, 5ms, 5s, 5min
)");
}

TEST(NetworkError, WantsNodesForRails) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {rail: {}}")), R"(error[scenario]: rails in a flat world
  --> mine.yaml:6:13
  |
6 |   topology: {rail: {}}
  |             ^^^^^^^^^^ a rail connects the ranks with the same place in all nodes; give `nodes` and `ranks_per_node`
)");
}

TEST(NetworkError, WantsNoLeafOfRails) {
  EXPECT_EQ(report_of(with(flat, two_level + "  topology: {rail: {leaf: 2}}")),
            R"(error[scenario]: unknown key `leaf` in rail
  --> mine.yaml:8:21
  |
8 |   topology: {rail: {leaf: 2}}
  |                     ^^^^ its keys are `oversubscription` or `hop`
)");
}

TEST(NetworkError, WantsATorusThatTheRanksFill) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {torus: {x: 3}}")),
            R"(error[scenario]: a torus of 3 x 1 x 1 in a world of 2 ranks
  --> mine.yaml:6:13
  |
6 |   topology: {torus: {x: 3}}
  |             ^^^^^^^^^^^^^^^ x * y * z must be 2
)");
}

TEST(NetworkError, WantsATorusThatTheNodesFill) {
  EXPECT_EQ(report_of(with(flat, two_level + "  topology: {torus: {x: 2, y: 2}}")),
            R"(error[scenario]: a torus of 2 x 2 x 1 in a world of 2 nodes
  --> mine.yaml:8:13
  |
8 |   topology: {torus: {x: 2, y: 2}}
  |             ^^^^^^^^^^^^^^^^^^^^^ x * y * z must be 2
)");
}

TEST(NetworkError, WantsTheFirstSideOfATorus) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {torus: {y: 2}}")), R"(error[scenario]: `x` is missing in torus
  --> mine.yaml:6:14
  |
6 |   topology: {torus: {y: 2}}
  |              ^^^^^ x: nodes along x; in a flat world, ranks
)");
}

TEST(NetworkError, WantsSidesOfOneAtLeast) {
  EXPECT_EQ(report_of(with(a_link, "  topology: {torus: {x: 2, z: 0}}")),
            R"(error[scenario]: `0` is out of range for `z`
  --> mine.yaml:6:31
  |
6 |   topology: {torus: {x: 2, z: 0}}
  |                               ^ expected a whole number 1..8192
)");
}

TEST(NetworkError, WantsAListOfSpeeds) {
  EXPECT_EQ(report_of(with(a_link, "  speeds: {rank: 1, work: 2}")),
            R"(error[scenario]: `speeds`: a mapping is not a list of mappings
  --> mine.yaml:6:11
  |
6 |   speeds: {rank: 1, work: 2}
  |           ^^^^^^^^^^^^^^^^^^ expected a list of mappings
)");
}

TEST(NetworkError, WantsSpeedsOfRanksThatThereAre) {
  EXPECT_EQ(report_of(with(a_link, "  speeds: [{rank: 2, work: 2}]")), R"(error[scenario]: rank 2 in a world of 2
  --> mine.yaml:6:19
  |
6 |   speeds: [{rank: 2, work: 2}]
  |                   ^ ranks are 0..1
)");
}

TEST(NetworkError, WantsWorkThatTakesSomeTime) {
  EXPECT_EQ(report_of(with(a_link, "  speeds: [{rank: 1, work: -2}]")),
            R"(error[scenario]: `-2` is out of range for `work`
  --> mine.yaml:6:28
  |
6 |   speeds: [{rank: 1, work: -2}]
  |                            ^^ expected a number 0..1000
)");
}

TEST(NetworkError, WantsABandwidthPerSecond) {
  EXPECT_EQ(report_of(with(a_link, "  speeds: [{rank: 1, bandwidth: 25GB}]")), R"(error[scenario]: `25GB` is not a rate
  --> mine.yaml:6:33
  |
6 |   speeds: [{rank: 1, bandwidth: 25GB}]
  |                                 ^^^^ write a number and a unit with no space: 500MB/s, 25GB/s, 100Gbit/s
)");
}

TEST(NetworkError, WantsAKnownKeyOfASpeed) {
  EXPECT_EQ(report_of(with(a_link, "  speeds: [{rank: 1, factor: 2}]")),
            R"(error[scenario]: unknown key `factor` in world.speeds
  --> mine.yaml:6:22
  |
6 |   speeds: [{rank: 1, factor: 2}]
  |                      ^^^^^^ its keys are `rank`, `work` or `bandwidth`
)");
}

}  // namespace
}  // namespace pdsim::scenarios
