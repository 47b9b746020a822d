// Seeded runs whose fingerprints must be the same from every compiler: `.ci/run` builds this program with two compilers at
// two levels of optimisation and compares what it prints.
//
// Adding one: a function in a file of this folder and its row in main.cpp.
#pragma once

#include "tests/helpers/planted_leaks.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdsim::fingerprints {

std::uint64_t random_streams();
std::uint64_t half_conversions();
std::uint64_t reductions();  // every dtype x operation
std::uint64_t training();    // layers, losses, optimizers

struct Line {
  std::string name;
  std::uint64_t value;
};
// Every variant of the catalog x library x strategy in the simulated world, with jitter; `leak`: null, or a planted one, with
// which only one library is taken.
std::vector<Line> simulations(const planted::LeakRow* leak);

}  // namespace pdsim::fingerprints
