// Which collectives the check before the run warns of, because only some ranks of a group call them.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

std::string four_ranks(const std::string& sections, const std::string& program,
                       const std::string& end = "expect: {outcome: ok}\n", const std::string& world = "") {
  const std::string text = "pdsim: 1\nname: mine\nsummary: one sentence\n"
                           "world: {ranks: 4, link: {latency: 5us, bandwidth: 25GB/s}" + world + "}\n" +
                           sections + "program:\n  - init_process_group\n" + program + end;
  std::string told;
  for (const Diagnostic& d : load_text("mine.yaml", text).diagnostics) told += d.what + "\n";
  return told;
}

const std::string two_layers = "model: {layers: {embed: {linear: [4, 8]}, head: {linear: [8, 1]}}}\n";

TEST(ReachWarning, AGroupOfAMeshIsComplete) {
  const std::string sharded = "mesh: {rep: 2, shard: 2}\n" + two_layers + "fully_shard: {group: shard}\n";
  EXPECT_EQ(four_ranks(sharded, "  - eval: {steps: 3}\n    when: {rank: [0, 1]}\n"), "");
  EXPECT_EQ(four_ranks(sharded, "  - eval: {steps: 3}\n    when: {rank: [0, 1, 3]}\n"),
            "only rank 3 calls `all_gather` of group `shard_1` (the shards of the parameters)\n");
}

TEST(ReachWarning, AGroupOfOneRankIsComplete) {
  EXPECT_EQ(four_ranks("mesh: {ddp: 4, fsdp: 1}\n" + two_layers + "fully_shard: {group: fsdp}\n",
                       "  - checkpoint: {path: out/model.pt}\n    when: {rank: 0}\n"),
            "");
}

TEST(ReachWarning, ABackwardInNoSyncSendsNothing) {
  EXPECT_EQ(four_ranks(two_layers, R"(  - train:
      steps: 3
      do:
        - zero_grad
        - no_sync: {do: [{forward: {input: mb}}, backward]}
          when: {rank: 1}
        - forward
        - backward
        - optimizer_step
)"),
            "");
}

const std::string made_by_members = "  - new_group: {name: teachers, ranks: [0, 1]}\n    when: {rank: [0, 1]}\n";

TEST(ReachWarning, MembersAloneMayMakeAGroupSinceTwo) { EXPECT_EQ(four_ranks("", made_by_members), ""); }

TEST(ReachWarning, AllRanksMakeAGroupWithABarrierInTheStore) {
  EXPECT_EQ(four_ranks("", made_by_members, "expect: {outcome: ok}\n", ", profile: pytorch-1.13"),
            "only ranks 0, 1 call `new_group`\n");
}

TEST(ReachWarning, TheNthGroupIsTheSameOnAllRanks) {
  EXPECT_EQ(four_ranks("", R"(  - new_group: {name: emb_0, ranks: [0, 2]}
    when: {rank: [0, 2]}
  - new_group: {name: emb_1, ranks: [1, 3]}
    when: {rank: [1, 3]}
)"),
            "call 1 of `new_group` is `emb_0` on ranks 0, 2, and `emb_1` on ranks 1, 3\n");
  EXPECT_EQ(four_ranks("", "  - new_group: {name: emb_0, ranks: [0, 2]}\n  - new_group: {name: emb_1, ranks: [1, 3]}\n"), "");
}

TEST(ReachWarning, NamesTheVariantsThatItConcerns) {
  const std::string program = "  - barrier\n  - barrier: {}\n    label: last\n";
  EXPECT_EQ(four_ranks("", program, R"(variants:
  whole: {expect: {outcome: ok}}
  broken: {set: {program.last.when: {rank: 0}}, expect: {outcome: deadlock}}
)"),
            "only rank 0 calls `barrier`, in variant `broken`\n");
}

}  // namespace
}  // namespace pdsim::scenarios
