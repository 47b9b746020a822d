// Lines of launchers, batch systems and the kernel about processes that ended.

#include "core/record/record_check.h"
#include "scenarios/records/logs/line_forms.h"
#include "scenarios/records/logs/line_text.h"

namespace pdsim::scenarios::logs {
namespace {

using LauncherRead = std::optional<FactBody>;

constexpr int killed = 9;

// A negative exit code is a signal's, as Python's subprocess says it.
void set_code(ProcessFailed& failed, std::int64_t code) {
  failed.exit_code = code;
  if (code < 0 && code > -65) failed.signal = static_cast<int>(-code);
}

Rank rank_number(std::optional<std::int64_t> number) {
  return number && *number >= 0 && *number < most_recorded_ranks ? static_cast<Rank>(*number) : no_rank;
}

// failed (exitcode: -9) local_rank: 3 (pid: 812917) of binary: /usr/bin/python
LauncherRead torchrun(std::string_view line) {
  const auto code = number_after(line, "failed (exitcode: ");
  if (!code) return std::nullopt;
  ProcessFailed found;
  set_code(found, *code);
  found.local_rank = rank_number(number_after(line, "local_rank: "));
  found.pid = number_after(line, "(pid: ").value_or(-1);
  found.first = true;
  return found;
}

// ['python', '-u', 'main.py', '--local_rank=7', ...] exits with return code = -9: the command is that of the process which was started last,
// whichever it was that ended.
LauncherRead deepspeed(std::string_view line) {
  const auto code = number_after(line, "exits with return code = ");
  if (!code) return std::nullopt;
  ProcessFailed found;
  set_code(found, *code);
  return found;
}

// srun: error: node7: task 3: Out Of Memory    srun: error: node7: tasks 0-3: Exited with exit code 1
LauncherRead srun(std::string_view line) {
  const std::size_t at = line.find("srun: error: ");
  const std::string_view rest = line.substr(at + 13);
  const std::size_t colon = rest.find(": task");
  if (colon == std::string_view::npos || rest.substr(0, colon).find(' ') != std::string_view::npos) return std::nullopt;
  ProcessFailed found;
  found.host = clipped(rest.substr(0, colon), 120);
  found.task = number_after(rest, ": task ").value_or(-1);
  const std::string_view how = trimmed(rest.substr(rest.find(": ", colon + 2) + 1));
  if (how.starts_with("Out Of Memory")) {
    found.signal = killed;
    found.out_of_memory = true;
  } else if (how.starts_with("Killed")) {
    found.signal = killed;
  } else if (how.starts_with("Segmentation fault")) {
    found.signal = 11;
  } else if (how.starts_with("Aborted")) {
    found.signal = 6;
  } else if (const auto code = number_after(how, "Exited with exit code ")) {
    found.exit_code = *code;
  } else {
    return std::nullopt;
  }
  return found;
}

// slurmstepd-node7: error: Detected 1 oom-kill event(s) in StepId=9411285.0. Some of your processes may have been killed ...
LauncherRead slurm_memory(std::string_view line) {
  ProcessFailed found;
  found.signal = killed;
  found.out_of_memory = true;
  found.host = clipped(text_after(line, "slurmstepd-", ":").value_or(""), 120);
  return found;
}

// Out of memory: Killed process 5003 (python) total-vm:...    Memory cgroup out of memory: Killed process 5003 (python)
LauncherRead kernel(std::string_view line) {
  const auto pid = number_after(line, "illed process ");
  if (!pid) return std::nullopt;
  ProcessFailed found;
  found.pid = *pid;
  found.signal = killed;
  found.out_of_memory = true;
  return found;
}

// slurmstepd: error: *** JOB 123456 ON node1 CANCELLED AT 2025-12-06T18:44:20 DUE TO TIME LIMIT ***
LauncherRead cancelled(std::string_view line) {
  if (line.find("***") == std::string_view::npos) return std::nullopt;
  const std::optional<std::string_view> why = text_after(line, "DUE TO ", "*");
  if (!why) return JobCancelled{"Slurm (somebody cancelled it, or another task failed)"};
  if (trimmed(*why) == "TIME LIMIT") return JobCancelled{"Slurm, at its time limit"};
  return JobCancelled{"Slurm, due to " + clipped(trimmed(*why), 60)};
}

// Received Signals.SIGTERM death signal, shutting down workers
LauncherRead signalled(std::string_view line) {
  const std::optional<std::string_view> name = text_after(line, "Received Signals.", " ");
  if (!name) return std::nullopt;
  return JobCancelled{clipped(*name, 20) + " to its launcher"};
}

constexpr LineForm of_launchers[] = {
    {"failed (exitcode: ", torchrun},
    {"exits with return code = ", deepspeed},
    {"srun: error: ", srun},
    {"oom-kill event", slurm_memory},
    {"ut of memory: Killed process ", kernel},
    {" CANCELLED AT ", cancelled},
    {" death signal, shutting down workers", signalled},
};

}  // namespace

std::span<const LineForm> launcher_forms() { return of_launchers; }

}  // namespace pdsim::scenarios::logs
