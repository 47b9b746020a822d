// Chooser: the one function behind every nondeterministic decision of a simulated world.
//
//   choose    which of n alternatives; 0 is the canonical one. Every answer is recorded, so any run can be replayed
//   fifo      scheduling and matching take alternative 0; the environment (jitter, loss) is drawn from the seeded stream
//   random    everything is drawn from the seeded stream
//   replay    a recorded list; past its end the answer is 0, so every list is a valid schedule and a shorter one is simpler
#pragma once

#include "core/base/random.h"
#include "core/base/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pdsim::sim {

enum class ChoiceTag : std::uint8_t { run, match, jitter, loss };

class Chooser {
 public:
  // invalid_argument when `strategy` is not fifo, random or replay:0.1.1; facts: `at`, the first wrong character, and `help`, the
  // valid forms there.
  static Result<Chooser> make(std::string_view strategy, std::uint64_t seed);

  std::uint32_t choose(std::uint32_t n, ChoiceTag tag);
  const std::vector<std::uint32_t>& made() const { return made_; }

 private:
  enum class Driver : std::uint8_t { fifo, random, replay };
  Chooser(Driver driver, std::uint64_t seed) : driver_(driver), random_(Random(seed).stream("choices")) {}
  Driver driver_;
  Random random_;
  std::vector<std::uint32_t> list_;
  std::vector<std::uint32_t> made_;
};

}  // namespace pdsim::sim
