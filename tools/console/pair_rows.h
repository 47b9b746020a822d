// What validate --pairs prints: a row for each link or, of many, for each class of links; the slow ones; a heat map.
#pragma once

#include "scenarios/measure/pairs.h"

#include <string>

namespace pdsim::tools {

constexpr int validate_json_version = 1;  // of each line; it grows when a key changes its meaning or goes

bool has_bandwidth(const LinkFit& fit);

std::string pairs_text(const std::string& world, int ranks, const scenarios::TimedPairs& timed);

// A line for each pair, then one for each class.
std::string pairs_json(const scenarios::TimedPairs& timed);

// The slow links: ranks most of whose links are slow, then the other links, the slowest first. Empty: none is.
std::string slow_links(int ranks, const scenarios::TimedPairs& timed);

}  // namespace pdsim::tools
