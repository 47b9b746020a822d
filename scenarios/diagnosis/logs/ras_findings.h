// What NCCL's RAS service (ncclras) shows of a job, as findings.
//
//   processes  that are unreachable, or whose thread does not answer, come before what follows from them
//   counts     NCCL counts the operations that each rank has launched: who has launched fewer is waited for; a few that have launched more
//              made a call that the others did not make; more of one operation and fewer of another is another call
//   ranks      are those of the communicator: the job's only where it has all of the job's GPUs
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/records/logs/log_reader.h"

#include <vector>

namespace pdsim::scenarios {

std::vector<Diagnosis> ras_findings(const logs::LogFacts& facts);

// "had launched 9 AllReduce operations on communicator 27a0: rank 3", of one part of a report.
std::string ras_text(const logs::RasReport& report);

}  // namespace pdsim::scenarios
