// What NCCL's own warnings say of the cause: the network, memory, devices, sizes that do not fit.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/records/logs/log_reader.h"

#include <optional>
#include <string>

namespace pdsim::scenarios {

// The first warning in the log whose text is one of the symptom table's and names a cause; warnings of the same entry by other processes are
// evidence for it. Its ranks are those whose lines, or whose exceptions with the same text, say which they are.
std::optional<Diagnosis> warned_by_nccl(const logs::LogFacts& facts);

// "NCCL on node7 (GPU 1)"
std::string nccl_on(const logs::NcclWarning& warning);

}  // namespace pdsim::scenarios
