// A world whose ranks are processes, as one of them sees it: every rank process draws the same cases and runs its own part.
//
//   outcome  goes through the store to every rank, so that all come to the same verdict, and shrink in step
//   schedule the machine's own; the case's is ignored
#pragma once

#include "core/group/rank_program.h"
#include "tests/property/worlds/collective_world.h"

#include <map>
#include <memory>

namespace pdsim::property {

class CommunicatorWorld final : public CollectiveWorld {
 public:
  // Both outlive this.
  CommunicatorWorld(RankEnvironment& env, Store& store) : env_(env), store_(store) {}
  std::string_view name() const override { return env_.backend.name(); }
  std::string refuses(const CollectiveCase& c) const override;
  using CollectiveWorld::run;
  WorldOutcome run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) override;

 private:
  Result<ProcessGroup*> group_of(int size);  // of the first ranks
  Status exchange(WorldOutcome& outcome);

  RankEnvironment& env_;
  Store& store_;
  std::map<int, std::unique_ptr<ProcessGroup>> groups_;
  int runs_ = 0;
};

}  // namespace pdsim::property
