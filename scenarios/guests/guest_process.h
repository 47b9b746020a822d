// The processes of a script: what they are started with, and what they leave when they are asked where they are.
#pragma once

#include "core/record/site.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

// The folder with sitecustomize.py goes before what the user has in PYTHONPATH.
void put_package_first(std::vector<std::string>& environment, const std::string& package);

// The Python stack that faulthandler wrote into the file, innermost frame first; empty: there is none yet.
std::vector<StackFrame> stack_written_to(const std::string& path);

}  // namespace pdsim::scenarios::guests
