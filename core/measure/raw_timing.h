// Times a library called directly, alternating with the same collective through pdsim, so that both meet the same noise.
//
//   blocks  ours, then each of the library's functions, over and over; each block is one untimed call, then `iterations` calls
//   check   one call of each function before them all, against what must come out
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"
#include "core/group/raw_caller.h"
#include "core/measure/timing.h"

#include <string>
#include <vector>

namespace pdsim {

// One rank's times of one round, in the values it ends with, under names that begin with `key`.
Status time_beside_raw(RankEnvironment& env, ProcessGroup& group, RawCaller& raw, const TimingRequest& request,
                       const Payload& payload, bool in_place, const std::string& key, TensorValues& values);

// Of all ranks together: sets average, least and raw of `round`. False: some rank did not end the round.
bool read_beside_raw(const TimingRequest& request, const std::vector<RankResult>& ranks, const std::string& key,
                     TimedRound& round);

}  // namespace pdsim
