// A report about a guest in the terms of its script: places in its files, and cures as Python.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/records/group_descriptions.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

// Points the first finding into the script, where its rule knew no place: at the calls that it cites. Fixes that a rule writes as keys of
// a scenario become Python. Returns the file that the finding's places are in, or
// without a finding that of the first error; empty: there are none.
std::string speak_of_script(Report& report);

// Says in the first finding that ranks call a group differently, and what is right. Nothing without a finding or without such groups.
void name_descriptions(Report& report, const std::vector<GroupDescriptions>& groups);

}  // namespace pdsim::scenarios::guests
