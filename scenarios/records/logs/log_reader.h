// Reads the plain logs of a job: the ranks mixed in one file, or a file per rank.
//
//   rank     from the line's prefix, else the file's name (rank_3.log, torchrun's 3/stderr.log, or the only number that differs
//            between the files' names); group_ranks.h maps a rank within a group to one of the job
//   bounds   a line counts up to most_line bytes; most_facts facts, most_alike of one kind of a rank, the rest is counted
//   hostile  nothing is executed or looked up; NUL bytes and bytes that are not text are read like any other
//   cost     one pass over the files, in pieces
#pragma once

#include "core/base/left_out.h"
#include "core/base/result.h"
#include "scenarios/records/logs/group_ranks.h"
#include "scenarios/records/logs/log_facts.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::logs {

inline constexpr std::size_t most_line = std::size_t{1} << 16;
inline constexpr std::size_t most_facts = std::size_t{1} << 18;
inline constexpr std::size_t most_alike = 32;
inline constexpr std::size_t most_log_files = 4096;
inline constexpr std::size_t most_named_groups = std::size_t{1} << 16;

// A rank's lines apart from facts.
struct RankSeen {
  int file = 0;
  std::int64_t lines = 0, last_line = 0;
  std::optional<std::int64_t> last_at_ns;
};

struct LogFacts {
  std::vector<std::string> files;
  std::vector<Fact> facts;  // in the order of files and lines
  std::map<Rank, RankSeen> ranks;
  std::int64_t lines = 0;
  std::int64_t cut_lines = 0;         // longer than most_line
  std::int64_t lines_beyond = 0;      // of ranks too high for a record
  std::int64_t more_facts = 0;        // beyond the bounds
  std::int64_t lines_in_group = 0;    // that give a rank of a group whose rank of the job is unknown
  bool unplaced_local_ranks = false;  // several hosts' lines say only local ranks
  LeftOut left_out;                   // files that cannot be read
  std::map<std::string, GroupRanks> groups;  // by PyTorch's name, from lines that give both ranks; at most most_named_groups
  bool shows_subgroups = false;              // a line gives a rank of a group that is another rank of the job
  std::map<Rank, RankSeen> unnamed_ranks;    // by the rank in a group that the line does not name
  std::vector<Rank> assumed_ranks;           // taken as ranks of the job because the log shows no other group

  void see(Rank rank, int file, std::int64_t line, std::optional<std::int64_t> at_ns);
};

LogFacts read_logs(const std::vector<std::string>& paths);
// The same for texts in memory, with their names.
LogFacts read_log_texts(const std::vector<std::pair<std::string, std::string_view>>& texts);

// The rank of each file, from its name; no_rank where it has none.
std::vector<Rank> ranks_of_names(const std::vector<std::string>& paths);

// Whether a file that begins like this can be a log: it has text in lines, and is neither a pickle nor JSON, except the output of
// ncclras.
bool looks_like_log(std::string_view beginning);

}  // namespace pdsim::scenarios::logs
