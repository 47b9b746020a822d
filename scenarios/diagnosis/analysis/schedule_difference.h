// Finds where some ranks' programs diverge from those of most: the calls of the two schedules are aligned as a whole, per group.
//
//   reference  the class with the most ranks; in a tie the one whose calls all ranks share (`tie`: neither is)
//   one call   at two places: an `if rank == 0: broadcast(...) else: broadcast(...)` matches, when each side has its own place
//              for the same operation, step for step; their arguments are compared elsewhere
//   moved      a call that both sides make, at different places in the order
//   seen       only differences that begin within the record count: some rank made the first call that differs
#pragma once

#include "scenarios/diagnosis/report.h"

#include <optional>
#include <vector>

namespace pdsim::scenarios {

// Calls of one place of the program that only one of the two schedules has.
struct CallsApart {
  int site = 0;            // of Schedule::sites
  std::vector<int> steps;  // in order; -1: outside a loop
};

struct CallMoved {
  int mine = 0, theirs = 0;  // sites of the culprits and of the others
  int step = -1;
  int past = -1;  // the site of a call between the two; -1: there is none
};

// The first call of the group that met a call of another place.
struct CallsMet {
  const Call* mine = nullptr;
  const Call* theirs = nullptr;
  Rank my_rank = 0, their_rank = 0;
};

struct ScheduleDifference {
  std::string group;
  std::string scheduled_in;            // the group of the sites: this one, or the dimension of the mesh that it belongs to
  std::vector<Rank> culprits, others;  // others: those of the reference
  bool tie = false;
  std::vector<CallsApart> left_out, extra;
  std::vector<CallsApart> held_back;  // all that is left out: the culprits run it inside of no_sync
  std::vector<CallMoved> moved;
  std::optional<CallsMet> met;
  const Call* first = nullptr;  // made by one side and not by the other
  Rank first_rank = 0;
};

// The difference that shows first in the record; nothing when the schedules agree, or no difference was reached.
std::optional<ScheduleDifference> schedule_difference(const Report& report);

// How often each rank makes the calls of a site, by its schedule.
std::vector<std::int64_t> rounds_by_rank(const Schedule& schedule, int site, std::size_t ranks);

}  // namespace pdsim::scenarios
