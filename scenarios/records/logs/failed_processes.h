// Which ranks the processes are that launchers, batch systems and the kernel report as ended.
#pragma once

#include "scenarios/records/logs/log_reader.h"

namespace pdsim::scenarios::logs {

// Gives such facts their ranks: by the process, where another line says whose it is; else the local rank, where they are all in one file.
// A fact that repeats a row of the launcher's table is left out.
void place_failed_processes(LogFacts& facts);

}  // namespace pdsim::scenarios::logs
