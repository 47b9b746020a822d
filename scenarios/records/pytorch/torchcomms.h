// Dumps of TorchComms' recorder, which has the fields of PyTorch's own and fills some differently: a call is done when it is
// retired, as no events are recorded; one counter numbers the calls of all communicators; ranks are those of the communicator.
#pragma once

#include "scenarios/records/pytorch/dump.h"

#include <vector>

namespace pdsim::scenarios::pytorch {

// Whether a dump is one: calls of its own kind are retired, and none has ever started.
bool is_of_torchcomms(const Dump& dump);

// Numbers the calls of each communicator separately, in records that begin with the first call: where the ring has wrapped,
// nothing says how many calls of each were overwritten, and the numbers stay.
void number_by_communicator(std::vector<Dump>& dumps);

}  // namespace pdsim::scenarios::pytorch
