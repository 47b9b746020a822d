// PlannedCall: one rank's part in a collective, as the engines see that work on plans (ahead.h, flows.h).
#pragma once

#include "core/collectives/algorithms.h"
#include "core/collectives/plan_runner.h"
#include "sim/exchange.h"

#include <memory>

namespace pdsim::sim {

class Flow;

struct PlannedCall : std::enable_shared_from_this<PlannedCall> {
  virtual ~PlannedCall() = default;

  // Whether this is all that its rank has under way, and the rank waits for it.
  virtual bool waits_for_nothing_else() const = 0;
  // Gives it to the flows, or to the exchange where they do not take it.
  virtual void post() = 0;
  virtual void post_to_exchange() = 0;
  // Its plan, begun elsewhere, goes on in the exchange: as resume_plan(). What is given back may be called when it is over.
  virtual Transport::Done resume(Plan plan, PlanPoint at) = 0;
  virtual void end() = 0;  // its plan has ended

  Batch batch;           // in the exchange: of the present round
  Flow* flow = nullptr;  // that it is part of
  bool finished = false;
  Rank rank = 0;                         // in the group
  int ranks_per_node = 1;                // of the group (PlanArgs)
  const Algorithm* algorithm = nullptr;  // null: not looked up yet
  Tag tag = 0;                           // of its messages
  Collective call;
};

}  // namespace pdsim::sim
