// The generated part of docs/algorithms.md: every algorithm of the table, its cost at a few sizes, and pictures.
#pragma once

#include <string>

namespace pdsim {

std::string algorithms_page();

}  // namespace pdsim
