// Findings from the reports of NCCL's RAS service (ncclras).
//
//   processes  that are unreachable, or whose thread does not answer, come before their consequences
//   counts     NCCL counts the operations launched by each rank: the others wait for a rank that launched fewer; a few that
//              launched more made a call that the others did not make; more of one operation and fewer of another is a different
//              call
//   ranks      are those of the communicator: the job's only where it has all of the job's GPUs
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/records/logs/log_reader.h"

#include <vector>

namespace pdsim::scenarios {

std::vector<Diagnosis> ras_findings(const logs::LogFacts& facts);

// "had launched 9 AllReduce operations on communicator 27a0: rank 3", for one part of a report.
std::string ras_text(const logs::RasReport& report);

}  // namespace pdsim::scenarios
