// The calls of tests/oracle/extra on the C++ API: sub-groups, asynchronous and coalesced calls, uneven exchanges, objects, receives
// from any source, special values, complex numbers, views, tags and large tensors.
#pragma once

#include "core/group/process_group.h"

#include <string>
#include <vector>

namespace pdsim::oracle {

struct ExtraOutcome {
  Status status;
  std::vector<std::string> output;  // of each tensor, in the order of the record: its bytes as hex, or sha256
  bool compared = true;             // false: by contract the output is undefined on this rank
};

// `recorded` and `output` are JSON. What `group` (all ranks, or the case's members, of which this rank may be none) does for one recorded case.
ExtraOutcome run_extra(const std::string& recorded, ProcessGroup& group, Rank global_rank);

// The tensors of a recorded output, in their order, as ExtraOutcome::output.
std::vector<std::string> recorded_tensors(const std::string& output);

}  // namespace pdsim::oracle
