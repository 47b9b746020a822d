#include "scenarios/language/pipeline_schedule.h"

#include "core/base/check.h"
#include "core/pipeline/check.h"
#include "core/pipeline/families.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim::scenarios {

Result<PipelineSchedule> pipeline_schedule(const PipelineOptions& options, int ranks) {
  if (!options.order) {
    const PipelineFamily* family = pipeline_family_named(options.schedule);
    PDSIM_CHECK(family != nullptr, "the loader accepts the names of the table");
    return make_pipeline(*family,
                         {ranks, static_cast<int>(options.microbatches), static_cast<int>(options.stages_per_rank)});
  }
  Result<PipelineSchedule> schedule = pipeline_from_csv(options.order->value, "order");
  if (!schedule.ok()) return schedule;
  if (schedule->ranks() != ranks)
    return Error{
        Code::invalid_argument,
        fmt::format("`order` has {} lines, but the group has {} ranks: write one line for each", schedule->ranks(), ranks),
        {}};
  if (const PipelineCheck check = check_pipeline(*schedule); !check.ok())
    return Error{Code::invalid_argument, to_string(check.problems.front()), {}};
  return schedule;
}

}  // namespace pdsim::scenarios
