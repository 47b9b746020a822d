// The age of a rank's oldest open call when its dump was written, where the file's time shows it.
//
//   believed  a time between that call and twice its timeout and five minutes after: a watchdog would have ended the job long
//             before. Files that were copied without their times have later ones, and clocks that disagree earlier ones.
#pragma once

#include "scenarios/records/pytorch/dump.h"

#include <optional>
#include <vector>

namespace pdsim::scenarios::pytorch {

// The time when the file was written, since 1970, if it is believed.
std::optional<std::int64_t> believed_time(const Dump& dump);

// Whether every rank with a believed time had only young calls open (10 s, or a call's own timeout), and there is such a rank.
bool was_running(const std::vector<Dump>& dumps);

}  // namespace pdsim::scenarios::pytorch
