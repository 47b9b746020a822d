// PendingCollective: one rank's part in a collective, as the engines that work on plans see it (closed_form_engine.h, in_flight_engine.h).
#pragma once

#include "core/collectives/algorithms.h"
#include "core/collectives/plan_runner.h"
#include "sim/network/exchange.h"

#include <memory>

namespace pdsim::sim {

class InFlightCollective;

struct PendingCollective : std::enable_shared_from_this<PendingCollective> {
  virtual ~PendingCollective() = default;

  // Whether this is all that its rank has under way, and the rank waits for it.
  virtual bool waits_for_nothing_else() const = 0;
  // Gives it to the in-flight engine, or to the exchange where that does not accept it.
  virtual void post() = 0;
  virtual void post_to_exchange() = 0;
  // Its plan, begun elsewhere, goes on in the exchange, as PlanRun::resume(). The result may be called when the operation is over.
  virtual Transport::Done resume(Plan plan, PlanPoint at) = 0;
  virtual void end() = 0;  // its plan has ended

  Batch batch;                              // in the exchange: of the present round
  InFlightCollective* in_flight = nullptr;  // that it is part of
  bool finished = false;
  Rank rank = 0;                         // in the group
  int ranks_per_node = 1;                // of the group (PlanArgs)
  const Algorithm* algorithm = nullptr;  // null: not looked up yet
  Tag tag = 0;                           // of its messages
  Collective call;
};

}  // namespace pdsim::sim
