// Shared by the rules about remote calls: the moment to look at, and the changes of a program that they propose.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// The moment at which open calls are examined: the deadlock, or just before the first call gave up; nothing without a hang.
std::optional<Time> rpc_moment(const Report& report);

// Gives every init_rpc of the program this many server threads.
void set_worker_threads(std::vector<Operation>& program, int threads);
// Makes every init_rpc register all functions.
void register_everything(std::vector<Operation>& program);
// Ends every rank that has joined with a graceful shutdown as its last operation.
void shut_down_gracefully(std::vector<Operation>& program);
// Gives the call at this place this timeout.
void set_call_timeout(std::vector<Operation>& program, const Mark& place, Time limit);
// Leaves out the operation at this place.
Cure left_out_at(std::string what, const Mark& place);

}  // namespace pdsim::scenarios::diagnoses
