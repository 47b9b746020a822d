// Times a library called directly, alternating with the same collective through pdsim, so that both meet the same noise.
//
//   blocks  ours, then each of the library's functions, repeatedly; each block is one untimed call, then `iterations` calls
//   check   one call of each function first, against the expected result
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"
#include "core/group/raw_caller.h"
#include "core/measure/timing.h"

#include <string>
#include <vector>

namespace pdsim {

// Returns one rank's times of one round among the program's values, under names that begin with `key`.
Status time_beside_raw(RankEnvironment& env, ProcessGroup& group, RawCaller& raw, const TimingRequest& request,
                       const Payload& payload, bool in_place, const std::string& key, TensorValues& values);

// Combines all ranks: sets average, least and raw of `round`. False: a rank did not finish the round.
bool read_beside_raw(const TimingRequest& request, const std::vector<RankResult>& ranks, const std::string& key,
                     TimedRound& round);

}  // namespace pdsim
