// The output of validate --pairs: a row for each link or, for many, for each class of links; the slow ones; a heat map.
#pragma once

#include "scenarios/measure/pairs.h"

#include <string>

namespace pdsim::tools {

constexpr int validate_json_version = 1;  // in each line; incremented when a key changes its meaning or is removed

bool has_bandwidth(const LinkFit& fit);

std::string pairs_text(const std::string& world, int ranks, const scenarios::TimedPairs& timed);

// A line for each pair, then one for each class.
std::string pairs_json(const scenarios::TimedPairs& timed);

// The slow links: ranks whose links are mostly slow, then the other links, the slowest first. Empty if none is slow.
std::string slow_links(int ranks, const scenarios::TimedPairs& timed);

}  // namespace pdsim::tools
