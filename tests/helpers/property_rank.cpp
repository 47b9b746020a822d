// A rank process that checks properties of collectives on drawn cases, together with the other ranks of its world:
// `rank <world> <what>`, as the launcher starts it.
//
//   plans    bit for bit what the simulated world gives, every algorithm
//   native   every law of the collectives, of what the library itself has

#include "core/group/init_process_group.h"
#include "scenarios/worlds/real_world.h"
#include "tests/property/native_laws.h"
#include "tests/property/same_bits.h"
#include "tests/property/worlds/communicator_world.h"

#include <cstdio>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  using namespace pdsim;
  using namespace pdsim::literals;
  const std::string_view world_name = argc > 2 ? argv[2] : "", what = argc > 3 ? argv[3] : "";
  auto channel = RankChannel::open();
  if (!channel.ok()) {
    std::fprintf(stderr, "%s\n", channel.error().message.c_str());
    return 3;
  }
  return scenarios::run_rank(**channel, world_name, {}, [what](RankEnvironment& env) {
    ProgramResult result;
    auto store = env.rendezvous.env(60_s);
    if (!store.ok()) return ProgramResult{store.error(), {}};
    property::CommunicatorWorld world(env, **store);
    const property::Outcome outcome = what == "native" ? property::check_native(world, property::cases_wanted(2))
                                                       : property::check_all_plans(world, property::cases_wanted(2));
    if (!outcome.failure.empty()) result.status = Error{Code::wrong_data, outcome.failure, {}};
    result.values["cases"] = {static_cast<double>(outcome.cases)};
    return result;
  });
}
