// The work of a rank's process. The launcher writes it into each rank's start frame, and the process reads it there: nothing is
// passed as a flag, and nothing is looked up again.
//
//   scenario  the file's text and a variant, so that a rank on another machine needs no file
//   others    the requests of bench, validate and validate --pairs, as they are
//   format    JSON: the kind, and a member for each row of `fields` in rank_request.cpp. Times are picoseconds
//   adding    a member of a request: its row there. A kind of request: its struct in the variant, its rows, and its program
#pragma once

#include "core/measure/pairs.h"
#include "core/measure/timing.h"
#include "core/measure/validation.h"
#include "scenarios/language/scenario.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace pdsim::scenarios {

class OwnPlan;

struct ScenarioRequest {
  std::string file, text, variant;
  std::uint64_t seed = 0;
};

using RankRequest = std::variant<ScenarioRequest, TimingRequest, ValidationRequest, PairRequest>;

// The loaded variant, with its current seed.
RankRequest request_of(const Scenario& scenario);

// One line without zero bytes.
std::string request_text(const RankRequest& request);
// input_invalid: a member is missing or of another type, or the kind is not known.
Result<RankRequest> rank_request_of(std::string_view text);

// A request's work, ready to run; the program refers to the others.
struct RequestedProgram {
  RankRequest request;
  Scenario scenario;  // for benchmarks and checks only the number of ranks
  std::shared_ptr<const OwnPlan> plan{};  // for benchmarks and checks of one
  RankProgram program;
};
// Call it in the process of a rank. input_invalid: the text of the scenario has errors, or there is no such variant.
Result<std::unique_ptr<RequestedProgram>> program_of(RankRequest request, int ranks);

}  // namespace pdsim::scenarios
