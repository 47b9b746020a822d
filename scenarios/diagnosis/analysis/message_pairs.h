// Pairs sends with receives: in one group, the n-th send of a rank to a peer meets that peer's n-th receive from it; in records
// whose beginnings are lost, the n-th unfinished one meets the n-th unfinished one.
#pragma once

#include "core/group/rank_program.h"
#include "core/semantics/library.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pdsim::scenarios {

struct PairRules {
  bool tags = true;                                 // only calls of one tag meet
  std::set<std::string, std::less<>> other_groups;  // where it is the other way
  Time moment{};                                    // only calls made by then count

  bool tags_in(std::string_view group) const { return tags != other_groups.contains(group); }
};

// By tag or not as the library of each group does it: the one that the record names for it, or else `otherwise` (null: by tag).
PairRules pair_rules(const RunRecord& run, const LibrarySemantics* otherwise, Time moment);

class MessagePairs {
 public:
  // `run` must outlive it.
  MessagePairs(const RunRecord& run, const PairRules& rules) : run_(run), rules_(rules) {}

  // Returns the peer's call that met this one; null when the peer made none or is not a rank of the run. Cost: the first query about a
  // rank reads all its calls; every other query is a binary search.
  const Call* met_by(Rank rank, const Call& call);

 private:
  // Those of one rank with the same name, peer, group and tag, in their order.
  using Key = std::tuple<std::string_view, Rank, std::string_view, std::uint64_t>;
  struct Messages {
    std::vector<const Call*> all, open;
  };
  using OfRank = std::map<Key, Messages>;

  Key key_of(const Call& call, std::string_view name, Rank peer) const;
  const OfRank& of(Rank rank);

  const RunRecord& run_;
  PairRules rules_;
  std::map<Rank, OfRank> ranks_;
};

// Whether `theirs` is a message call of the kind that would meet `call` of this rank, tags aside.
bool could_meet(const Call& theirs, Rank rank, const Call& call);

// Whether the two have different numbers of bytes; false where one of them is not recorded.
bool differ_in_size(const Call& call, const Call& other);

}  // namespace pdsim::scenarios
