#include "scenarios/measure/bench.h"

namespace pdsim::scenarios {

Result<Timed> time(const TrialWorld& world, const TimingRequest& request) {
  const RankProgram program = timing_program(request);
  const Result<RunRecord> run = run_trial(world, request, program);
  if (!run.ok()) return run.error();
  return Timed{timed_rounds(request, run->ranks), explain_failure(world, *run), run->message_count};
}

}  // namespace pdsim::scenarios
