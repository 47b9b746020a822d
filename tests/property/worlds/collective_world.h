// CollectiveWorld: where cases run. The properties know this interface only, so that one source holds for every world.
//
//   run      every rank of a group of c.ranks runs `steps` one after the other; the first one's input is inputs[rank], each
//            other's is what the one before left. The first step's schedule and library are the world's.
//   refuses  why this world cannot run the case; empty when it can. Such a case is drawn again.
//   adding   a subclass, and a line in worlds() of properties.h
#pragma once

#include "core/collectives/reference.h"
#include "core/group/process_group.h"
#include "core/group/rank_program.h"
#include "tests/property/collective_case.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::property {

struct RankOutcome {
  bool ended = false;  // false: blocked, or its process died
  Status status;
  std::vector<std::byte> output;  // of the last step; empty where the rank has none
  bool input_untouched = true;    // of steps out of place
};

struct WorldOutcome {
  std::vector<RankOutcome> ranks;
  std::optional<RunRecord> record;  // simulated world only
  Time longest{};                   // of the steps, on any rank's own clock
};

class CollectiveWorld {
 public:
  virtual ~CollectiveWorld() = default;
  virtual std::string_view name() const = 0;
  virtual std::string refuses(const CollectiveCase& c) const = 0;
  virtual WorldOutcome run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) = 0;

  WorldOutcome run(const CollectiveCase& c, const RankBuffers& inputs) { return run(std::span(&c, 1), inputs); }
};

// What a rank of any world does. `inputs` by rank.
RankOutcome run_steps(ProcessGroup& group, std::span<const CollectiveCase> steps, const RankBuffers& inputs);

// Elements of a rank's input and output in the case.
std::int64_t input_count(const CollectiveCase& c, Rank rank);
std::int64_t output_count(const CollectiveCase& c, Rank rank);

}  // namespace pdsim::property
