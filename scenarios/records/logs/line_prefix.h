// The prefixes that launchers and libraries put before a line: its rank, its time, and its group.
//
//   rank     [rank3]:   [1,3]<stdout>:   and, in a file whose first line has it as well, `3: ` (srun -l) or `[3] ` (mpiexec
//            -prepend-rank)
//   local    [default3]: of torchrun, which counts within a node; a line that has both says which global rank that is
//   group    [PG ID 0 PG GUID 0(default_pg) Rank 3]   [PG 0 Rank 3]   [Rank 3], where ranks are of the group
//   time     [E1206 18:44:16.994932383 file:line]   E0325 20:57:27.620000 2606 file:line]   2026-09-17 13:40:02
#pragma once

#include "core/base/types.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pdsim::scenarios::logs {

struct PrefixedLine {
  Rank rank = no_rank, local_rank = no_rank, group_rank = no_rank;
  bool is_beyond = false;  // its prefix names a rank too high for any record
  std::string_view group, group_desc;
  std::optional<std::int64_t> at_ns;  // since the year began
  std::string_view text;              // without prefixes
};

// For one file, whose lines must come in order.
class PrefixReader {
 public:
  PrefixedLine read(std::string_view line);
  // The global rank that lines gave for this local one, if they gave only one.
  std::optional<Rank> global_rank(Rank local) const;

 private:
  bool peel(PrefixedLine& line) const;
  bool peel_label(PrefixedLine& line) const;

  bool begun_ = false, labelled_ = false;
  std::map<Rank, Rank> global_;  // by local rank; no_rank: several
};

// "2025-05-21_15:43:03" or with a space or T: nanoseconds since the year began.
std::optional<std::int64_t> date_ns(std::string_view text);

}  // namespace pdsim::scenarios::logs
