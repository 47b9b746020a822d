// Who a process claims to be in its job, and whom it meets there.
#pragma once

#include "scenarios/program/session.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::operations {

// A process's claimed identity, and the others of its job. Nothing compares the claims: the first process that claims rank 0
// listens at the port, and of several with the same claim the others meet the first, while the rest wait forever.
struct Identity {
  Rank rank = 0;
  std::vector<Rank> members;  // of its job, as ranks of the scenario's world, by their claims
  std::string group;          // identifies its job
};
// Whether the file's init names ranks or ports.
bool tells_identity(const Scenario& scenario);
// Errors: io_error, with the fact port: another process listens there; timeout: no process claims to be one of the others, or
// another made the same claim first; unsupported in real worlds.
Result<Identity> claim_identity(Session& s, const InitOptions& init, int expected, Time timeout);

}  // namespace pdsim::scenarios::operations
