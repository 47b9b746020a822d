// A real library between threads of this process. Schedules are the machine's own; the case's are ignored.
#pragma once

#include "tests/property/worlds/collective_world.h"
#include "tests/unit/backends/ranks_in_threads.h"

#include <utility>

namespace pdsim::property {

class ThreadWorld final : public CollectiveWorld {
 public:
  ThreadWorld(std::string_view name, testing::MakeBackend make) : name_(name), make_(std::move(make)) {}
  std::string_view name() const override { return name_; }
  std::string refuses(const CollectiveCase& c) const override;
  using CollectiveWorld::run;
  WorldOutcome run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) override;

 private:
  std::string_view name_;
  testing::MakeBackend make_;
};

}  // namespace pdsim::property
