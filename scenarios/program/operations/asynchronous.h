// Waiting for calls that were started.
#pragma once

#include "scenarios/program/session.h"

#include <memory>
#include <string>

namespace pdsim::scenarios::operations {

// Runs wait() on a started call: the program waits, or only its device's stream, and the output is checked later.
Status wait_on(Session& s, const std::string& label, std::unique_ptr<Pending> pending);
// Makes the program wait for its device, without any exchange, and checks the outputs received meanwhile.
Status synchronize(Session& s);

}  // namespace pdsim::scenarios::operations
