// Finds the dump files of PyTorch jobs and reads them.
//
//   names    one file per rank: a prefix of the job, then the rank (nccl_trace_rank_0); .json, .pkl, .pickle or .bin may follow
//   hosts    a prefix may end with the name of a host (nccl_trace_rank_node07_3): files whose prefixes differ in that alone are
//            one job when each rank is there once
//   content  decides: a file is a dump when it begins as one; its neighbours with the same prefix then belong to the job, even
//            when they are damaged
//   folders  files of one prefix in several folders (one per host) are one job when most ranks are there once and no folder holds
//            only ranks of the others; else each folder is a job of its own
//   numbers  beyond 131071 are not ranks: such a file is left out, unless it is alone
#pragma once

#include "core/base/result.h"
#include "scenarios/records/left_out_file.h"
#include "scenarios/records/pytorch/dump.h"

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::pytorch {

struct DumpFile {
  std::string path;
  Rank rank = 0;
  std::string host;  // from the name; empty where it has none
};
struct DumpedJob {
  std::string name;             // the prefix, or the folder's name when there is none
  std::vector<DumpFile> files;  // by rank
  std::vector<std::string> unnamed{};  // dumps beside them whose names end in no rank: "nccl_trace_rank_1 (1)"
};

// Whether this file's first bytes are those of a dump.
bool is_dump_file(const std::string& path);
// The jobs of these files: named files, or all files below a folder.
std::vector<DumpedJob> jobs_below(const std::string& folder);
std::vector<DumpedJob> jobs_of(const std::vector<std::string>& files);

struct ReadJob {
  std::vector<Dump> dumps;             // one per rank
  std::vector<LeftOutFile> left_out;   // unreadable files and those of other jobs (one_job.h), and entries of others
  std::vector<Rank> unreadable;        // ranks whose only file cannot be read
};
ReadJob read_job(const DumpedJob& job);

}  // namespace pdsim::scenarios::pytorch
