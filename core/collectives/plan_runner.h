// Runs a plan over a transport: posts each round as one batch, combines what arrived, and goes on.
//
//   start     never blocks; `done` is called once, perhaps before start returns, with the first error or ok
//   memory    one received-but-not-combined buffer per receive_reduce of a round, and the algorithm's scratch; both end
//             with the run. The call's input and output must stay alive until `done`.
//   input     is never written. avg and premul_sum scale it while it is copied; avg of integers divides the sum instead
//   errors    the transport's; invalid_argument when a round of the plan leaves its buffers or its group (plan_room.h), before
//             anything of the round is posted; limit_exceeded when there is no memory for its scratch
//   cost      no fiber, no thread: what the transport calls back on
#pragma once

#include "core/collectives/algorithms.h"
#include "core/collectives/collective.h"
#include "core/collectives/plan_room.h"
#include "core/runtime/transport.h"

#include <cstdint>
#include <functional>

namespace pdsim {

using PlanDone = std::function<void(Status)>;

// `tag` goes onto every message of the run; concurrent runs of one group need different tags.
void run_plan(Transport& transport, const Collective& call, const Algorithm& algorithm, Tag tag, PlanDone done);

// What a send or a recv of the program asks of a transport.
Message message_of(const Collective& call);

// Where a run without data stands that something else has begun.
enum class PlanPoint : std::uint8_t { round_to_post, round_in_flight, round_to_combine };

// Goes on with it. Gives what to call when the round in flight, or its combining, is over; a round to post is posted at once, and
// nothing is given. `plan` is of `algorithm` and has yielded that round.
Transport::Done resume_plan(Transport& transport, const Collective& call, const Algorithm& algorithm, Plan plan,
                            Tag tag, PlanDone done, PlanPoint at);

}  // namespace pdsim
