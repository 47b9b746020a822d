// Faults in worlds of real processes: those at points of the program. Faults of messages cannot be forced on a real network; such
// a variant is skipped there, with the reason.
//
//   crash   the process hands over its record and kills itself with SIGKILL
//   hang    the rank's thread sleeps forever
//   slow    the rank is delayed: for `for` times (factor - 1), but at least 100 ms, because real starts vary that much; without
//           `for`, 1 ms times (factor - 1) before every operation
#pragma once

#include "core/base/result.h"
#include "core/record/flight_record.h"
#include "core/runtime/runtime.h"
#include "scenarios/language/scenario.h"

#include <functional>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

// unsupported, naming the first fault that only the simulated world has.
Status real_faults_supported(const Scenario& scenario, std::string_view world);
// Whether a fault ends the process of a rank.
bool kills_ranks(const Scenario& scenario);

class RealFaults {
 public:
  // `crash` does not return.
  RealFaults(const Scenario& scenario, int rank, int launch, Runtime& runtime, FlightRecorder& recorder,
             std::function<void()> crash);
  // Called before each operation of the rank program. Notes the fault it applies, except a crash.
  void reach(int step, std::string_view operation);

 private:
  struct Armed {
    const sim::FaultSpec* spec;
    bool fired = false;
  };
  bool is_at(const sim::FaultSpec& fault, int step, std::string_view operation) const;
  void fire(Armed& armed, std::string_view operation);

  int launch_;
  Runtime& runtime_;
  FlightRecorder& recorder_;
  std::function<void()> crash_;
  std::vector<Armed> armed_;  // this rank's
};

}  // namespace pdsim::scenarios
