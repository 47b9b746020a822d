// What the rules about remote calls share: the moment that counts, and the changes of a program that they propose.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// The moment at which open calls are looked at: the deadlock, or just before the first call gave up; nothing where nobody hung.
std::optional<Time> rpc_moment(const Report& report);

// Every init_rpc of the program gets so many server threads.
void set_worker_threads(std::vector<Operation>& program, int threads);
// Every init_rpc registers all functions.
void register_everything(std::vector<Operation>& program);
// Every rank that has joined ends with a graceful shutdown, the last operation.
void shut_down_gracefully(std::vector<Operation>& program);
// The call at this place gets so much time.
void set_call_timeout(std::vector<Operation>& program, const Mark& place, Time limit);
// Without the operation at this place.
Cure left_out_at(std::string what, const Mark& place);

}  // namespace pdsim::scenarios::diagnoses
