// Runs a job of guests in a simulated world: what `pdsim run` does before the diagnosis.
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/guests/real/recorded_run.h"
#include "scenarios/guests/simulated/session.h"
#include "scenarios/records/group_descriptions.h"
#include "sim/run.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::guests {

struct GuestRun {
  RunRecord record;
  sim::WorldSpec world;                     // with the backend and the version that the script has
  std::vector<std::optional<Ended>> ended;  // how each process ended
  std::optional<Time> timeout;               // of the default group, as the script has it
  bool introduced = false;                  // some rank reached init_process_group
  std::string library;                      // on which the script ran for real; empty: it was simulated
  std::vector<std::string> remarks;         // for people, on what the diagnosis does not tell
  std::vector<GroupDescriptions> described_otherwise;  // groups with one name on record, which some ranks call otherwise
  std::string version;                      // of PyTorch, as the first rank says it
  std::optional<std::string> unusable;      // the version of one that cannot be carried; empty: an interpreter has none
};

// Versions of PyTorch that pdsim's tests have run on: "1.13". Others of 2.x may do.
bool is_tried(std::string_view version);
inline constexpr std::string_view tried_versions = "1.13, 2.6, 2.11 and 2.14";

struct WorldOptions {
  std::optional<std::string> backend;  // instead of the one that the script names
  Compute compute;                     // measured: the run has no fingerprint
};

// Errors: io_error, input_invalid (the program cannot be executed), cancelled (a
// signal), those of sim::run.
Result<GuestRun> run_guests(const JobOptions& options, sim::WorldSpec world, const sim::RunOptions& how,
                            const WorldOptions& options_of_world);

// Returns a record that ranks made beside their own library, as a run in `world`.
GuestRun run_of_record(RecordedRun record, sim::WorldSpec world);

// The same job on the library that the script names, recorded beside it and watched (real/watched_job.h). The records stay in `folder`,
// or nowhere where that is empty. Errors: io_error, input_invalid (the program cannot be executed), cancelled (a signal).
Result<GuestRun> run_really(const JobOptions& options, sim::WorldSpec world, const std::string& folder);

}  // namespace pdsim::scenarios::guests
