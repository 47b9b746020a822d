// PendingCollective: one rank's part in a collective, as the plan engines see it (closed_form_engine.h, in_flight_engine.h).
#pragma once

#include "core/collectives/algorithms.h"
#include "core/collectives/plan_runner.h"
#include "sim/network/exchange.h"

#include <memory>

namespace pdsim::sim {

class InFlightCollective;

struct PendingCollective : std::enable_shared_from_this<PendingCollective> {
  virtual ~PendingCollective() = default;

  // Whether its rank has nothing else under way, and waits for it.
  virtual bool waits_for_nothing_else() const = 0;
  // Hands it to the in-flight engine, or to the exchange where that engine does not accept it.
  virtual void post() = 0;
  virtual void post_to_exchange() = 0;
  // Continues its plan, begun elsewhere, in the exchange, like PlanRun::resume(). `data` is null where the call has none.
  struct Resumed {
    Transport::Done go_on;     // may be called when the operation is over
    PlanData* data = nullptr;  // where it is now; until the operation is over
  };
  virtual Resumed resume(Plan plan, std::unique_ptr<PlanData> data, PlanPoint at) = 0;
  virtual void end() = 0;  // its plan has ended

  Batch batch;                              // in the exchange: the current round
  InFlightCollective* in_flight = nullptr;  // the collective it is part of
  bool finished = false;
  Rank rank = 0;                         // in the group
  int ranks_per_node = 1;                // of the group (PlanArgs)
  const Algorithm* algorithm = nullptr;  // null: not looked up yet
  Tag tag = 0;                           // of its messages
  Collective call;
};

}  // namespace pdsim::sim
