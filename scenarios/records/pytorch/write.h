// Writes a run of pdsim's in the form of PyTorch's Flight Recorder, for tools that read it.
//
//   ranks    one dump per rank that has a record
//   entries  its collectives and messages; operations of the program and store calls cannot be expressed. A call that timed
//            out or failed is written as retired and not completed.
//   groups   `world` is PyTorch's default_pg, 0; others follow in the order of their names. Numbers of calls begin at 1.
//   time     nanoseconds; the run's begin is written as one second past 1970, because records have no date
//   frames   the operation of the scenario, with its file and line
//   lost     roots, reduce operations and tags of messages: PyTorch records none
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/records/pytorch/dump.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::pytorch {

struct WriteOptions {
  std::string backend = "gloo";  // before the colon of a call's name: gloo:all_reduce
  std::string file;              // of the scenario
  Time timeout{};                // of the group; zero: not known
};
std::vector<Dump> dumps_of(const RunRecord& run, const WriteOptions& options);

// In torch's form per rank: a pickle of protocol 2 (frames, tuples and None as there), and JSON. Reading either gives the dump
// back, except for its rank, which comes from the file's name.
std::string pickle_text(const Dump& dump);
std::string json_text(const Dump& dump);

}  // namespace pdsim::scenarios::pytorch
