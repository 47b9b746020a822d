// The processes below a process: its children, their children and so on, from one pass over /proc.
//
//   orphans  of a subreaper (PR_SET_CHILD_SUBREAPER) are below it again, whatever session or group they created
//   race     a process may start another between two passes: to find all of them, repeat until there are none
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace pdsim {

struct ProcessLook {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = 'R';        // as in /proc/PID/stat: R S D T t Z ...
  std::int64_t ticks = 0;  // of computing, in the system's clock ticks
  std::string name;
};

// Without `top` itself; parents before their children.
std::vector<ProcessLook> processes_below(pid_t top);

// True for the keeper of a temporary folder (backends/os/temporary_folder.h): it removes the folder when all writers have ended,
// and then ends. Killing it earlier leaves the folder behind.
bool ends_by_itself(const ProcessLook& look);

// Ends all processes below this one except `excluded` and their descendants: SIGTERM, and SIGKILL to those still running after
// `grace_ms`; those that end by themselves get two seconds more than all others. Children of this process are reaped, so the
// caller must not own a Child among them.
void end_all_below(int grace_ms, const std::vector<pid_t>& excluded = {});

}  // namespace pdsim
