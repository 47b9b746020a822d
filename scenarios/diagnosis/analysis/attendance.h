// The ranks that made each of the collectives in question: looked up once for all, instead of in every log for every rank.
//
//   listed   the ranks whose record has the call, by rank, with the first such call of each
//   account  for a dump that does not list it: whether the rank's own account of the group, or a later call after lost ones,
//            proves it
//   cost     one pass over all calls; then O(log n) a query
#pragma once

#include "core/group/rank_program.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::scenarios {

class Attendance {
 public:
  using Row = std::vector<std::pair<Rank, const Call*>>;

  // `asked`: only the group and number of these calls matter. The run must outlive it.
  Attendance(const RunRecord& run, const std::vector<const Call*>& asked);

  const Row& made(const Call& call) const;
  bool came_by_account(Rank rank, const Call& call) const;
  // The rank's call with this group and number; null when its record lists none.
  const Call* of(Rank rank, const Call& call) const;

 private:
  struct Group {
    std::map<Seq, Row> rows;
    std::vector<std::pair<Rank, Seq>> reached;  // by rank: the newest number by account
  };
  void add(const RankLog& log);
  const Group* group_of(const Call& call) const;
  std::map<std::string_view, Group> groups_;
  Row none_;
};

}  // namespace pdsim::scenarios
