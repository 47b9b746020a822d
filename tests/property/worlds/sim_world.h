// The simulated world of a case: its schedule, jitter, late ranks and delayed messages come from the case's seed.
//
//   start    all ranks begin together, a virtual second after the start; with a schedule each a little later
#pragma once

#include "sim/run.h"
#include "tests/property/worlds/collective_world.h"

#include <functional>

namespace pdsim::property {

sim::WorldSpec spec_of(const CollectiveCase& c);
sim::RunOptions options_of(const CollectiveCase& c);

class SimWorld final : public CollectiveWorld {
 public:
  using Adjust = std::function<void(sim::WorldSpec&, sim::RunOptions&)>;
  // `adjust` may change the world that the case gives.
  explicit SimWorld(Adjust adjust = nullptr) : adjust_(std::move(adjust)) {}
  std::string_view name() const override { return "sim"; }
  std::string refuses(const CollectiveCase& c) const override;
  using CollectiveWorld::run;
  WorldOutcome run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) override;

 private:
  sim::FaultSpec killing(const CollectiveCase& c, const RankBuffers& inputs);

  Adjust adjust_;
};

}  // namespace pdsim::property
