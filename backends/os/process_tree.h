// What lies below a process: its children, their children and so on, from one look at /proc.
//
//   orphans  of a subreaper (PR_SET_CHILD_SUBREAPER) lie below it again, whatever session or group they made their own
//   race     a process may start another between two looks: to find all of them, look until there are none
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
  std::int64_t ticks = 0;  // of computing, in the clock ticks of the system
  std::string name;
};

// Without `top` itself; parents before their children.
std::vector<ProcessLook> processes_below(pid_t top);

// The keeper of a temporary folder (backends/os/temporary_folder.h): it removes the folder when all who write there have ended, and
// then ends. Whoever ends it before leaves the folder behind.
bool ends_by_itself(const ProcessLook& look);

// Ends all processes below this one but `excluded` and what lies below those: SIGTERM, and SIGKILL to who is still there after
// `grace_ms`; those that end by themselves get two seconds more than all others. Those that are children of this process are reaped,
// so a caller has no Child of its own left among them.
void end_all_below(int grace_ms, const std::vector<pid_t>& excluded = {});

}  // namespace pdsim
