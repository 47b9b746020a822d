// Plans as text: what is read, that it is the plan meant, and what is wrong with it, at its place.
#include "core/collectives/text/plan_text.h"

#include "core/collectives/plan_room.h"
#include "core/collectives/proof/plan_proof.h"
#include "core/collectives/text/plan_print.h"
#include "core/collectives/tuning/algorithm_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim {
namespace {

constexpr const char* ring_text = R"(# reduce-scatter, then all-gather
plan all_reduce my_ring
copy input -> all
for k in 0..p-2:
  chunk r-k -> r+1 +
for k in 0..p-2:
  chunk r+1-k -> r+1
)";

constexpr const char* binomial_text = R"(plan broadcast my_tree
let me = (r - root) % p
if me == 0:
  copy input -> all
for far in 1 << max(0, ceil_log2(p)-1)..1 by /2:
  if me % (2*far) == 0 and me + far < p:
    all -> r + far
)";

constexpr const char* doubling_text = R"(plan all_reduce my_doubling
needs p & (p-1) == 0
copy input -> all
for far in 1..p-1 by *2:
  all -> r ^ far +
)";

constexpr const char* barrier_text = R"(plan barrier my_barrier
for far in 1..p-1 by *2:
  nothing -> r + far
)";

constexpr const char* scatter_text = R"(plan reduce_scatter my_pairwise
copy part r -> output
for k in 1..p-1:
  copy input -> scratch
  round:
    send scratch part r+k -> r+k
    receive output <- r-k +
scratch_is_in_the_header
)";

std::shared_ptr<const PlanText> read(const std::string& text) {
  auto plan = PlanText::parse("my.plan", text);
  const PlanProblem* problem = std::get_if<PlanProblem>(&plan);
  EXPECT_EQ(problem, nullptr) << sentence_of("my.plan", problem == nullptr ? PlanProblem{} : *problem);
  return problem == nullptr ? std::get<std::shared_ptr<const PlanText>>(plan) : nullptr;
}

PlanProblem problem_of(const std::string& text) {
  auto plan = PlanText::parse("my.plan", text);
  const PlanProblem* problem = std::get_if<PlanProblem>(&plan);
  return problem == nullptr ? PlanProblem{} : *problem;
}

// The rounds of a rank that do something; slices of nothing lie anywhere.
std::vector<std::vector<Step>> rounds_of(const Algorithm& algorithm, const PlanArgs& args) {
  std::vector<std::vector<Step>> rounds;
  for (Plan plan = algorithm.begin(args); plan.next();) {
    std::vector<Step> steps(plan.steps().begin(), plan.steps().end());
    for (Step& step : steps)
      for (Slice* slice : {&step.slice, &step.from})
        if (slice->count == 0) *slice = {0, 0, BufferId::output};
    if (!steps.empty()) rounds.push_back(std::move(steps));
  }
  return rounds;
}

bool is_same(const std::vector<std::vector<Step>>& a, const std::vector<std::vector<Step>>& b) {
  const auto same_step = [](const Step& x, const Step& y) {
    return x.kind == y.kind && x.peer == y.peer && x.slice == y.slice && x.from == y.from;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_step);
  });
}

TEST(PlanText, IsTheFamilyThatItWritesDown) {
  struct Pair {
    const char* text;
    CollectiveKind kind;
    const char* name;
  };
  for (const Pair& pair :
       {Pair{ring_text, CollectiveKind::all_reduce, "ring"}, Pair{binomial_text, CollectiveKind::broadcast, "binomial"},
        Pair{doubling_text, CollectiveKind::all_reduce, "recursive_doubling"},
        Pair{barrier_text, CollectiveKind::barrier, "dissemination"}}) {
    const auto text = read(pair.text);
    ASSERT_NE(text, nullptr);
    const Algorithm* family = find_algorithm(pair.kind, pair.name).value();
    int compared = 0;
    for (int p = 1; p <= 20; ++p)
      for (const std::int64_t n : {0, 1, 7, 40})
        for (const Rank root : {0, p - 1})
          for (Rank r = 0; r < p; ++r) {
            const PlanArgs args{r, p, row(pair.kind).has_input ? n : 0, row(pair.kind).rooted ? root : 0};
            if (!text->is_for(args)) continue;
            EXPECT_TRUE(is_same(rounds_of(text->algorithm(), args), rounds_of(*family, args)))
                << pair.name << " p=" << p << " r=" << r << " n=" << n << " root=" << root;
            ++compared;
          }
    EXPECT_GT(compared, 100) << pair.name;
    EXPECT_TRUE(prove(text->algorithm(), {1, 20}).ok) << pair.name;
  }
}

TEST(PlanText, OfEveryFamilyIsReadBackAsTheSamePlan) {
  int compared = 0;
  for (const Algorithm& family : algorithms()) {
    const CollectiveRow& kind = row(family.kind);
    if (!kind.planned || kind.shape.uneven) continue;
    for (const int p : {1, 2, 3, 5, 8})
      for (const int local : {1, 2}) {
        if (p % local != 0) continue;
        const PlanCase at{p, kind.has_input ? 11 : 0, kind.rooted ? p - 1 : 0, local, false};
        const std::string printed = printed_plan(family, at);
        ASSERT_NE(printed, "") << family.name;
        const auto text = read(printed);
        ASSERT_NE(text, nullptr) << printed;
        for (Rank r = 0; r < p; ++r) {
          const PlanArgs args{r, p, at.count, at.root, nullptr, local};
          EXPECT_TRUE(is_same(rounds_of(text->algorithm(), args), rounds_of(family, args)))
              << name_of(family.kind) << printed;
          ++compared;
        }
      }
  }
  EXPECT_GT(compared, 1000);
}

TEST(PlanText, ThatIsWrongIsRefusedWithItsPlace) {
  std::string wrong = ring_text;
  wrong.replace(wrong.find("r-k"), 3, "r+k");
  const auto text = read(wrong);
  const PlanProof proof = prove(text->algorithm());
  ASSERT_FALSE(proof.ok);
  EXPECT_EQ(proof.at.size, 3);
  const PlanMark at = text->mark({proof.rank, proof.at.size, proof.at.count, proof.at.root}, proof.round);
  EXPECT_GE(at.line, 5) << proof.problem;
  AlgorithmProofs proofs;
  const Status status = proofs.check(text->algorithm(), 4, 1);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("(my.plan:"), std::string::npos) << status.error().message;
}

TEST(PlanText, IsNotRunForRanksThatItIsNotFor) {
  const auto text = read(doubling_text);
  AlgorithmProofs proofs;
  EXPECT_TRUE(proofs.check(text->algorithm(), 8, 1).ok());
  EXPECT_EQ(proofs.check(text->algorithm(), 6, 1).error().message,
            "the plan checker refuses all_reduce my_doubling: its `needs` excludes every call on 6 ranks");
}

TEST(PlanText, WithAMistakeIsTold) {
  struct Wrong {
    const char* text;
    int line, column;
    const char* what;
  };
  for (const Wrong& wrong : {
           Wrong{"", 1, 1, "the plan is empty"},
           Wrong{"ring\n", 1, 1, "a plan begins with `plan`"},
           Wrong{"plan all_reduced x\n", 1, 6, "`all_reduced` is not a collective that plans can describe"},
           Wrong{"plan all_gather_v x\n", 1, 6, "`all_gather_v` is not a collective that plans can describe"},
           Wrong{"plan all_reduce\n", 1, 16, "a name is missing: of the plan"},
           Wrong{"plan all_reduce x\nchunk q -> r+1\n", 2, 7, "unknown name `q`"},
           Wrong{"plan all_reduce x\nchunk r > r+1\n", 2, 14, "`->` is missing"},
           Wrong{"plan all_reduce x\nchunk r -> r+1 + +\n", 2, 18, "`+` where a number or a name belongs"},
           Wrong{"plan all_reduce x\nfor k in 1..p-1\n  chunk r -> r+1\n", 2, 16, "`:` is missing"},
           Wrong{"plan all_reduce x\nfor k in 1..p-1:\nchunk r -> r+1\n", 2, 1, "the block is empty"},
           Wrong{"plan all_reduce x\n  all -> r+1\n    all -> r+2\n", 3, 3,
                 "this line is indented more than its block"},
           Wrong{"plan all_reduce x\n  all -> r+1\n all -> r+2\n", 3, 2,
                 "this line is indented less than the first statement"},
           Wrong{"plan all_reduce x\nelse:\n  all -> r+1\n", 2, 1, "`else` without an `if`"},
           Wrong{"plan all_reduce x\nround:\n  round:\n    all -> r+1\n", 3, 3, "a round inside a round"},
           Wrong{"plan all_reduce x\nsent all -> r+1\n", 2, 1, "`sent` does not begin a statement"},
           Wrong{"plan all_reduce x\nlet p = 3\n", 2, 5, "`p` already has a meaning"},
           Wrong{"plan all_reduce x\nall -> r+99999999999999999999\n", 2, 10, "99999999999999999999 is too large"},
           Wrong{"plan all_reduce x\n\tall -> r+1\n", 2, 1, "a tab is not allowed in a plan"},
           Wrong{"plan all_reduce x\nchunks p\nchunks p\n", 3, 1, "duplicate in the header"},
       }) {
    const PlanProblem problem = problem_of(wrong.text);
    EXPECT_EQ(problem.what, wrong.what) << wrong.text;
    EXPECT_EQ(problem.at.line, wrong.line) << wrong.text;
    EXPECT_EQ(problem.at.column, wrong.column) << wrong.text;
    EXPECT_FALSE(problem.label.empty()) << wrong.text;
  }
}

TEST(PlanText, WhoseNumbersGoWrongIsToldAtTheExpression) {
  struct Wrong {
    const char* body;
    const char* what;
  };
  for (const Wrong& wrong :
       {Wrong{"all -> r + 1 / (p-3)\n", "a division by 0"}, Wrong{"all -> r + (1 << 63)\n", "a shift by 63"},
        Wrong{"for k in 1..p by 0:\n  all -> r+k\n", "the loop never ends with 0"},
        Wrong{"for k in 0..p by *2:\n  all -> r+k\n", "0 times 2 never grows"},
        Wrong{"let a = 1 << 40\nall -> r + a*a\n", "the number does not fit in 64 bits"},
        Wrong{"chunk 0 of 0 -> r+1\n", "0 chunks"}, Wrong{"output[4:2] -> r+1\n", "elements 4..2 are not a slice"},
        Wrong{"chunks 2..p -> r+1\n", "chunks 2..3 of 3"},
        Wrong{"for k in 1..1 << 60:\n  let a = k\n", "rank 0 of 3 runs more than 20600 statements"},
        Wrong{"for k in 1..1 << 62 by 1 << 61:\n  let a = log2(0 - k)\n", "a logarithm of -1"}}) {
    const auto text = read(std::string("plan all_reduce x\n") + wrong.body);
    ASSERT_NE(text, nullptr) << wrong.body;
    const auto problem = text->problem({0, 3, 8, 0});
    ASSERT_TRUE(problem.has_value()) << wrong.body;
    EXPECT_EQ(problem->what, wrong.what);
    EXPECT_GE(problem->at.line, 2);
    const PlanProof proof = prove(text->algorithm(), {3, 3});
    EXPECT_FALSE(proof.ok) << wrong.body;
    EXPECT_NE(proof.problem.find("my.plan:"), std::string::npos) << proof.problem;
  }
}

TEST(PlanText, TakesPartsAndScratch) {
  const auto text = read(
      "plan reduce_scatter pairwise\nscratch p*n\ncopy input -> scratch\ncopy scratch part r -> output\n"
      "for k in 1..p-1:\n  round:\n    scratch part r+k -> r+k into output +\n");
  ASSERT_NE(text, nullptr);
  const PlanProof proof = prove(text->algorithm(), {1, 9});
  EXPECT_TRUE(proof.ok) << proof.problem << "\n" << proof.drawn;
  const auto gather = read("plan all_gather direct\ncopy input -> part r\nfor k in 1..p-1:\n  part r -> r+k\n");
  EXPECT_TRUE(prove(gather->algorithm(), {1, 9}).ok);
}

TEST(PlanText, HasNoWordOutsideItsHeaderThatBelongsThere) {
  EXPECT_EQ(problem_of(scatter_text).what, "`scratch_is_in_the_header` does not begin a statement");
}

}  // namespace
}  // namespace pdsim
