// The documented example of an own algorithm (tests/consumer/own_algorithm.cpp), right and with a mistake in it.
#pragma once

#include "core/collectives/algorithms.h"
#include "core/group/process_group.h"

#include <span>
#include <string_view>

namespace pdsim::planted {

struct PlantedAlgorithm {
  Algorithm row;              // named for its mistake
  std::string_view refused;   // in the checker's sentence, of two ranks and of three where two are too few to see it
  int ranks;                  // the smallest group in which the mistake shows
  std::string_view run = {};  // in the error of a run that was not proven; empty: it leaves no buffer
};

const Algorithm& right_algorithm();
std::span<const PlantedAlgorithm> planted_algorithms();

// On every rank of a group of two or three: each wrong one is refused, each that leaves a buffer ends in an error without a proof as
// well, and the right one sums afterwards. The first thing that is not so is an error.
Status try_own_algorithms(ProcessGroup& group);

}  // namespace pdsim::planted
