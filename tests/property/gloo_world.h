// Real Gloo between threads of this process. Schedules are the machine's own; the case's are ignored.
#pragma once

#include "tests/property/collective_world.h"

namespace pdsim::property {

class GlooWorld final : public CollectiveWorld {
 public:
  std::string_view name() const override { return "gloo"; }
  std::string refuses(const CollectiveCase& c) const override;
  using CollectiveWorld::run;
  WorldOutcome run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) override;
};

}  // namespace pdsim::property
