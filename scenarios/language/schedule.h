// Each rank's calls, from its program alone and as if nothing ever waited: the operations that make collectives, in order.
//
//   calls    collectives, barriers and object collectives; for a wrapper a backward, and a forward or eval that exchanges buffers
//            or statistics, or parts of layers or of parameters. Nothing inside join, where DDP calls for the ranks without inputs; nothing outside a rank's groups
//   classes  ranks with the same program, by their first rank
//   ends     a `raise` ends no schedule: calls that a rank skipped because it ended are handled elsewhere
//   cost     O(operations x ranks), then the calls of each class; at most `most_scheduled` of them each, `whole` says whether
//            that was enough
#pragma once

#include "scenarios/language/scenario.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

inline constexpr std::size_t most_scheduled = 1 << 15;

struct ScheduledLoop {  // a train or repeat
  std::string operation, label;
  std::string body;  // the names of the operations inside
  Mark mark{};
  bool has_messages = false;  // an operation inside, at any depth, has a peer
};

struct ScheduledSite {  // an operation of the program
  std::string operation, label, tensor, arguments;
  std::string group;  // or a dimension of the mesh: each rank calls in the group that it has there
  Mark mark{};
  int loop = -1;                                // the innermost around it, in Schedule::loops
  bool names_steps = false, names_ranks = false;  // in its own `when`, or in one around it
  bool of_wrapper = false;
};

struct ScheduledCall {
  int site = 0;
  int step = -1;
  bool operator==(const ScheduledCall&) const = default;
};

struct ScheduleClass {
  std::vector<Rank> ranks;
  std::vector<ScheduledCall> calls;
  std::vector<ScheduledCall> held_back;  // what the wrapper would call, were it not inside of no_sync
  std::vector<std::int64_t>
      rounds;  // of each loop, up to the last round in which the ranks run something; loops after it: 0
};

struct ScheduledGroup {
  std::string dimension, name;
  std::vector<Rank> ranks;
};

struct Schedule {
  std::vector<ScheduledLoop> loops;
  std::vector<ScheduledSite> sites;
  std::vector<ScheduleClass> classes;
  std::vector<ScheduledGroup> mesh_groups;  // by dimension
  bool whole = true;
};

// The class with this rank; null: there is none.
const ScheduleClass* class_of(const Schedule& schedule, Rank rank);

// The schedule of one launch, from 1.
Schedule schedule_of(const Scenario& scenario, int launch);

}  // namespace pdsim::scenarios
