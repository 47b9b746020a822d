// FILE.plan: the text of a collective algorithm, read, expanded for a few ranks, and followed as far as the checker goes.
#include "core/collectives/text/plan_text.h"

#include "core/collectives/proof/plan_checker.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = PlanText::parse("fuzzed.plan", fuzz::text_of(data, size));
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&parsed)) {
    PDSIM_CHECK(problem->at.line >= 1 && problem->at.column >= 1, "a problem has its place");
    PDSIM_CHECK(!problem->what.empty() && !problem->label.empty(),
                "a problem says what is wrong and what would be right");
    return 0;
  }
  const auto& text = std::get<std::shared_ptr<const PlanText>>(parsed);
  for (const int ranks : {1, 3, 4}) {
    const PlanVerdict verdict = check_plan(text->algorithm(), ranks, ranks + 3, 0);
    PDSIM_CHECK(verdict.ok == verdict.problem.empty(), "a plan that is refused is refused for something");
    const PlanMark at = text->mark({verdict.rank, ranks, ranks + 3, 0}, verdict.round);
    PDSIM_CHECK(at.line >= 1, "every round stands somewhere");
  }
  return 0;
}
