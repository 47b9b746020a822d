// Sentences about where ranks of a dump are: the ends of a hang and those that wait for them.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// The collective in which one of these ranks has waited longest; null when none waits in one.
const Call* common_call(const Report& report, const std::vector<Rank>& ranks);
// Those of these ranks that are in this call.
std::vector<Rank> ranks_in(const Report& report, const std::vector<Rank>& ranks, const Call& call);

// "all_reduce #3 of group tp"
std::string number_and_group(const Call& call);
// " (train.py:12 in step)"; empty where the place is not known.
std::string at_place(const Call& call);

// The last activity of a rank that is in no call: "completed every call it made; the newest is all_reduce #10 of group tp
// (train.py:12 in step)". For a dump that lists nothing, the rank's own account. `group` is the one that others wait in.
std::string last_deed(const Report& report, Rank rank, const std::string& group);

// "rank 3 on node02", "ranks 1, 2"
std::string on_hosts(const Report& report, const std::vector<Rank>& ranks);
// Where to look next.
std::string look_at(const Report& report, const std::vector<Rank>& ranks);
// " By the times of the files ..."; empty where the verdict does not depend on them.
std::string age_sentence(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
