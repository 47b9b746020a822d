// The dumps of a PyTorch job as one run, for the same rules that explain our own.
//
//   ranks    all ranks that a file or a group names; one without a dump gets a note that its record is missing
//   calls    collectives by group and sequence number; the calls of one coalesced batch are one call; messages one by one, in
//            the state of their batch. Functions that the library treats the same have one name (_all_gather_base: all_gather).
//   count    elements, on the side on which all ranks must agree; counts that may differ per rank (all_to_all) are not compared.
//            Roots and reduce operations are not in such dumps.
//   ring     overwritten entries are counted; a rank's calls before its first entry are not known
//   time     since the first entry of any rank; the clocks are those of the hosts
//   stuck    some call is open, unless for every rank the time of the file says that its oldest open call was younger than 10 s
//            (or its own timeout): then the job was running. A file's time that cannot be that of the dump (age.h) is ignored.
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/records/pytorch/dump.h"

#include <vector>

namespace pdsim::scenarios::pytorch {

// Removes the entries with a time more than 26 days from the middle of all: the differences of the others fit a run.
void leave_out_far_times(std::vector<Dump>& dumps);

// `unreadable`: ranks whose dump exists and is damaged. input_invalid for a rank that occurs twice, and for ranks beyond 131071.
Result<RunRecord> run_of(std::vector<Dump> dumps, const std::vector<Rank>& unreadable = {});

}  // namespace pdsim::scenarios::pytorch
