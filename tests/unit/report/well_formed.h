#pragma once

#include <string>

namespace pdsim::scenarios {

// Every element that is opened is closed, in order; attributes are quoted. Empty when nothing is wrong.
std::string first_problem(const std::string& html);

}  // namespace pdsim::scenarios
