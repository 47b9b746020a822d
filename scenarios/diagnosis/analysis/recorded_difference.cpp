#include "scenarios/diagnosis/analysis/recorded_difference.h"

#include "scenarios/diagnosis/analysis/call_alignment.h"
#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/analysis/recorded_sequences.h"

#include <algorithm>
#include <map>
#include <set>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_recorded_classes = 64, most_compared_classes = 8, most_searched_edits = 2000;

using Sequence = RecordedSequence;

RecordedCall reference_to(const Sequence& of, std::size_t at) { return {of.rank, of.calls[at]->id}; }

bool are_one_buffer(const Call& a, const Call& b) {
  const auto is_buffers = [](const Call& call) { return call.name == "broadcast" && call.purpose.kind == PurposeKind::buffers; };
  return is_buffers(a) && is_buffers(b) && a.count == b.count && a.dtype == b.dtype;
}

// Which places of two sequences may be two places of one call.
class PlaceTwins {
 public:
  PlaceTwins(const Sequence& mine, const Sequence& theirs)
      : mine_(mine),
        theirs_(theirs),
        of_mine_(mine.places.begin(), mine.places.end()),
        of_theirs_(theirs.places.begin(), theirs.places.end()) {}

  int cost(std::size_t a, std::size_t b) const {
    const int x = mine_.places[a], y = theirs_.places[b];
    if (x == y) return 0;
    constexpr int same_line = CallAlignment::alone + 1;  // less than two lone calls, and more than one
    if (mine_.lines[a] >= 0 && mine_.lines[a] == theirs_.lines[b]) return same_line;
    const Call &mine = *mine_.calls[a], &theirs = *theirs_.calls[b];
    constexpr int other_forward = 3;  // one without gradients takes the broadcast of the next: that one makes none
    if (are_one_buffer(mine, theirs)) return other_forward;
    if (mine.name != theirs.name || of_theirs_.count(x) != 0 || of_mine_.count(y) != 0) return CallAlignment::never;
    constexpr int same_arguments = 3, other_arguments = 5;
    return mine.count == theirs.count && mine.dtype == theirs.dtype ? same_arguments : other_arguments;
  }

 private:
  const Sequence &mine_, &theirs_;
  std::set<int> of_mine_, of_theirs_;
};

// A call that only one of the two sequences has.
struct LoneCall {
  std::size_t in_path = 0, at = 0;  // at: in its sequence
  int place = 0, line = -1;
  bool is_mine = false, is_swapped = false;

  bool may_be(const LoneCall& other) const { return place == other.place || (line >= 0 && line == other.line); }
};

class Comparison {
 public:
  Comparison(const Sequence& mine, const Sequence& theirs) : mine_(mine), theirs_(theirs) {
    const PlaceTwins twins(mine, theirs);
    path_ = align_calls(mine.calls.size(), theirs.calls.size(),
                        [&](std::size_t a, std::size_t b) { return twins.cost(a, b); });
    for (std::size_t i = 0; i < path_.size(); ++i) {
      if (path_[i].is_pair()) {
        end_of_pairs_ = i + 1;
        continue;
      }
      const bool is_mine = path_[i].a != Aligned::none;
      const std::size_t at = is_mine ? path_[i].a : path_[i].b;
      const Sequence& of = is_mine ? mine : theirs;
      lone_.push_back({i, at, of.places[at], of.lines[at], is_mine, false});
    }
  }

  // Nothing where the two differ at most in how far they go.
  std::optional<RecordedDifference> difference() {
    if (lone_.empty() || differs_in_arguments_alone()) return std::nullopt;
    const std::size_t met = lone_.front().in_path;  // all before are pairs
    if (met >= mine_.calls.size() || met >= theirs_.calls.size()) return std::nullopt;
    RecordedDifference d;
    d.mine = reference_to(mine_, met);
    d.theirs = reference_to(theirs_, met);
    if (reorders(d)) return d;
    if (lone_.size() <= most_searched_edits) find_swaps(d);
    bool ends_apart[2] = {false, false};
    for (const LoneCall& lone : lone_) {
      if (lone.is_swapped) continue;
      if (lone.in_path >= end_of_pairs_) {
        ends_apart[lone.is_mine ? 0 : 1] = true;
      } else {
        add(lone.is_mine ? d.extra : d.left_out, lone);
        last_apart_ = lone.in_path;
      }
    }
    for (std::size_t i = last_apart_; i < path_.size(); ++i)
      d.alike_after += path_[i].is_pair() && mine_.places[path_[i].a] == theirs_.places[path_[i].b] ? 1 : 0;
    const bool one_sided = d.extra.empty() || d.left_out.empty();
    const bool moved_alone = d.swapped.empty() || (d.extra.empty() && d.left_out.empty());
    const bool any = !d.extra.empty() || !d.left_out.empty() || !d.swapped.empty();
    const bool open_end = ends_apart[0] && ends_apart[1];
    if (!any && !open_end) return std::nullopt;
    d.is_sure = any && one_sided && moved_alone && !open_end;
    d.stays_apart = !any && end_of_pairs_ <= met && stops_apart(met);
    if (d.stays_apart) {
      add_own_calls(d);
      d.one_more = one_round_more(met);
    } else {
      see_skipped(d, met);
    }
    return d;
  }

 private:
  // Without frames a call of another size or element type is a place of its own. Where each such call stands against one
  // of the other side of the same operation, the two are one call with other arguments.
  bool differs_in_arguments_alone() const {
    if (lone_.size() % 2 != 0) return false;
    for (std::size_t i = 0; i < lone_.size(); i += 2) {
      const LoneCall &a = lone_[i], &b = lone_[i + 1];
      if (a.is_mine == b.is_mine || b.in_path != a.in_path + 1 || a.line >= 0 || b.line >= 0) return false;
      if (call_of(a).name != call_of(b).name) return false;
    }
    return true;
  }
  const Call& call_of(const LoneCall& lone) const { return *(lone.is_mine ? mine_ : theirs_).calls[lone.at]; }

  // Whether the two could not go on from there: a pair does not fit, or one side has a call for which the other has none.
  bool stops_apart(std::size_t from) const {
    const std::size_t both = std::min(mine_.calls.size(), theirs_.calls.size());
    if (mine_.calls.size() != theirs_.calls.size()) return true;
    for (std::size_t i = from; i < both; ++i)
      if (!same_call(*mine_.calls[i], *theirs_.calls[i])) return true;
    return false;
  }

  // Where one side begins a round of a loop, and the other has called its place once less and makes another call.
  std::optional<OneRoundMore> one_round_more(std::size_t met) const {
    const auto count = [met](const Sequence& of, int place) {
      return std::count(of.places.begin(), of.places.begin() + static_cast<std::ptrdiff_t>(std::min(met + 1, of.places.size())), place);
    };
    for (const bool is_mine : {false, true}) {
      const Sequence &more = is_mine ? mine_ : theirs_, &fewer = is_mine ? theirs_ : mine_;
      const auto made = count(more, more.places[met]), others = count(fewer, more.places[met]);
      if (others >= 1 && made == others + 1) return OneRoundMore{reference_to(more, met), is_mine, made};
    }
    return std::nullopt;
  }

  // What seems to be one call more is its next round, where the calls that followed it in the round before are missing.
  void see_skipped(RecordedDifference& d, std::size_t met) const {
    if (!d.is_sure || !d.left_out.empty() || d.extra.size() != 1 || d.extra.front().numbers.size() != 1) return;
    const auto place_at = [](const Sequence& of, std::size_t at) { return of.places.begin() + static_cast<std::ptrdiff_t>(at); };
    const int place = mine_.places[met];
    std::vector<std::size_t> before;  // where both called it
    for (std::size_t i = met; i-- > 0 && before.size() < 2;)
      if (mine_.places[i] == place) before.push_back(i);
    if (before.size() < 2 || place != d.extra.front().place) return;
    const std::vector<int> round(place_at(mine_, before[1] + 1), place_at(mine_, before[0])), now(place_at(mine_, before[0] + 1), place_at(mine_, met));
    if (now.size() >= round.size() || !std::equal(now.begin(), now.end(), round.begin())) return;
    const std::size_t missing = std::min(round.size() - now.size(), theirs_.places.size() - met);
    if (!std::equal(place_at(theirs_, met), place_at(theirs_, met + missing), round.begin() + static_cast<std::ptrdiff_t>(now.size()))) return;
    d.extra.clear();
    d.skipped = true;
    for (std::size_t i = met; i < met + missing; ++i) add(d.left_out, {i, i, theirs_.places[i], theirs_.lines[i], false, false});
  }

  // Adds the places that only one side has called since.
  void add_own_calls(RecordedDifference& d) const {
    const std::set<int> of_mine(mine_.places.begin(), mine_.places.end()), of_theirs(theirs_.places.begin(), theirs_.places.end());
    for (const LoneCall& lone : lone_)
      if ((lone.is_mine ? of_theirs : of_mine).count(lone.place) == 0) add(lone.is_mine ? d.extra : d.left_out, lone);
  }

  // Cuts both into blocks that have the same calls; those in another order, the same one each time, are the difference. False where that is not
  // all of it, or not often: branches that every rank takes at times look like it by chance.
  bool reorders(RecordedDifference& d) const {
    constexpr std::size_t enough = 3;
    if (mine_.places.size() != theirs_.places.size()) return false;
    std::vector<SwappedCalls> swapped;
    std::size_t alike = 0, first = 0, first_size = 0;
    const auto same = [](const Sequence& of, std::size_t a, std::size_t b, std::size_t size) {
      const auto at = [&of](std::size_t i) { return of.places.begin() + static_cast<std::ptrdiff_t>(i); };
      return std::equal(at(a), at(a + size), at(b));
    };
    for (std::size_t i = 0; i < mine_.places.size();) {
      const std::size_t size = block_at(i);
      if (size == 0) return false;
      if (size > 1 && first_size == 0) {
        first = i;
        first_size = size;
      }
      if (size > 1 && (size != first_size || !same(mine_, first, i, size) || !same(theirs_, first, i, size))) return false;
      if (size > 1) swapped.push_back({reference_to(mine_, i), reference_to(theirs_, i)});
      if (size == 1) ++alike;
      i += size;
    }
    if (swapped.size() < enough) return false;
    d.alike_after = alike + swapped.size() - 1;
    d.swapped = std::move(swapped);
    d.is_sure = true;
    return true;
  }

  // The size of the smallest block from there on with the same calls on both sides; 0: none is small enough.
  std::size_t block_at(std::size_t begin) const {
    constexpr std::size_t most_block = 8;
    if (mine_.places[begin] == theirs_.places[begin]) return 1;
    std::map<int, int> balance;  // by place: how many more on this side
    const std::size_t end = std::min(mine_.places.size(), begin + most_block);
    for (std::size_t i = begin; i < end; ++i) {
      for (const auto& [place, change] : {std::pair(mine_.places[i], 1), std::pair(theirs_.places[i], -1)})
        if ((balance[place] += change) == 0) balance.erase(place);
      if (balance.empty()) return i + 1 - begin;
    }
    return 0;
  }

  // Two neighbours in the other order: one pair stands between the same call of either side.
  void find_swaps(RecordedDifference& d) {
    for (std::size_t i = 0; i + 1 < lone_.size(); ++i) {
      LoneCall &a = lone_[i], &b = lone_[i + 1];
      if (a.is_swapped || a.is_mine == b.is_mine || !a.may_be(b) || b.in_path != a.in_path + 2) continue;
      a.is_swapped = b.is_swapped = true;
      const Aligned& between = path_[a.in_path + 1];
      const LoneCall &mine = a.is_mine ? a : b, &theirs = a.is_mine ? b : a;
      d.swapped.push_back(a.is_mine ? SwappedCalls{reference_to(mine_, mine.at), reference_to(theirs_, between.b)}
                                    : SwappedCalls{reference_to(mine_, between.a), reference_to(theirs_, theirs.at)});
      last_apart_ = std::max(last_apart_, b.in_path);
    }
  }

  void add(std::vector<PlaceCalls>& to, const LoneCall& lone) const {
    const Sequence& of = lone.is_mine ? mine_ : theirs_;
    auto known = std::find_if(to.begin(), to.end(), [&](const PlaceCalls& c) { return c.place == lone.place; });
    if (known == to.end()) known = to.insert(to.end(), {lone.place, reference_to(of, lone.at), {}});
    known->numbers.push_back(of.calls[lone.at]->seq);
  }

  const Sequence &mine_, &theirs_;
  std::vector<Aligned> path_;
  std::vector<LoneCall> lone_;
  std::size_t end_of_pairs_ = 0, last_apart_ = 0;
};

// Whether the calls that a side lacks are the last of their place that the other side makes.
bool leaves_a_loop(const PlaceCalls& apart, const Sequence& with) {
  std::vector<Seq> all;
  for (std::size_t i = 0; i < with.calls.size(); ++i)
    if (with.places[i] == apart.place) all.push_back(with.calls[i]->seq);
  return all.size() > apart.numbers.size() &&
         std::equal(apart.numbers.rbegin(), apart.numbers.rend(), all.rbegin());
}

void add_rounds(RecordedDifference& d, const std::vector<SequenceClass>& classes, const Sequence& mine, const Sequence& theirs) {
  const std::vector<PlaceCalls>& apart = d.left_out.empty() ? d.extra : d.left_out;
  if (!d.is_sure || d.skipped || apart.empty() || !leaves_a_loop(apart.front(), d.left_out.empty() ? mine : theirs)) return;
  std::map<std::int64_t, std::vector<Rank>> rounds;
  for (const SequenceClass& one : classes) {
    const auto made = std::count(one.longest->places.begin(), one.longest->places.end(), apart.front().place);
    std::vector<Rank>& ranks = rounds[made];
    ranks.insert(ranks.end(), one.ranks.begin(), one.ranks.end());
    std::sort(ranks.begin(), ranks.end());
  }
  d.rounds = PlaceRounds{apart.front().first, {rounds.begin(), rounds.end()}};
}

// The ranks of other groups that run the same program, which settle ties. A look at all groups for each tie of tens of thousands
// would take minutes: after this many looks at a group, ties stay.
class OtherGroups {
 public:
  explicit OtherGroups(const std::vector<GroupSequences>& groups) : groups_(groups) {}

  bool can_settle() {
    const bool can = groups_.size() <= looks_left_;
    if (can) looks_left_ -= groups_.size();
    return can;
  }

  // How many have a sequence that agrees with this one as far as both go, and farther than `met`.
  std::size_t alike(const GroupSequences& of, const RecordedSequence& like, std::size_t met) const {
    std::size_t ranks = 0;
    for (const GroupSequences& group : groups_) {
      if (&group == &of || group.first != of.first) continue;
      for (const RecordedSequence& sequence : group.sequences) {
        const std::size_t both = std::min(sequence.places.size(), like.places.size());
        ranks += both > met && std::equal(like.places.begin(), like.places.begin() + static_cast<std::ptrdiff_t>(both),
                                          sequence.places.begin())
                     ? 1
                     : 0;
      }
    }
    return ranks;
  }

 private:
  const std::vector<GroupSequences>& groups_;
  std::size_t looks_left_ = std::size_t{1} << 22;
};

Time issued_at(const Sequence& of, const RecordedCall& call) {
  const auto it = std::find_if(of.calls.begin(), of.calls.end(), [&](const Call* c) { return c->id == call.id; });
  return (*it)->issued;
}

// Returns the difference of two classes of a group. In a tie the ranks of other groups that run the same program decide.
std::optional<RecordedDifference> difference_of(OtherGroups& others, const GroupSequences& group, SequenceClass mine,
                                                SequenceClass theirs) {
  std::optional<RecordedDifference> found = Comparison(*mine.longest, *theirs.longest).difference();
  if (!found) return found;
  bool tie = mine.ranks.size() == theirs.ranks.size();
  if (tie && others.can_settle()) {
    const auto met = static_cast<std::size_t>(
        std::mismatch(mine.longest->places.begin(), mine.longest->places.end(), theirs.longest->places.begin(),
                      theirs.longest->places.end())
            .first -
        mine.longest->places.begin());
    const std::size_t like_mine = others.alike(group, *mine.longest, met),
                      like_theirs = others.alike(group, *theirs.longest, met);
    tie = like_mine == like_theirs;
    if (like_mine > like_theirs) {
      std::swap(mine, theirs);
      found = Comparison(*mine.longest, *theirs.longest).difference();
      if (!found) return found;
    }
  }
  found->group = group.group;
  found->first_number = group.first;
  found->culprits = mine.ranks;
  found->others = theirs.ranks;
  found->tie = tie;
  return found;
}

struct Timed {
  RecordedDifference difference;
  Time at;
};

std::vector<Timed> differences_of(const RunRecord& run) {
  std::vector<Timed> all;
  const std::vector<GroupSequences> groups = recorded_sequences(run);
  OtherGroups others(groups);
  for (const GroupSequences& group : groups) {
    std::optional<Timed> first;
    const std::vector<SequenceClass> classes = group.classes(most_recorded_classes);
    for (std::size_t c = 1; c < std::min(classes.size(), most_compared_classes); ++c) {
      std::optional<RecordedDifference> found = difference_of(others, group, classes[c], classes.front());
      if (!found) continue;
      const bool is_swapped = found->culprits != classes[c].ranks;
      const Sequence &mine = *(is_swapped ? classes.front() : classes[c]).longest,
                     &theirs = *(is_swapped ? classes[c] : classes.front()).longest;
      const Time met = std::min(issued_at(mine, found->mine), issued_at(theirs, found->theirs));
      if (first && first->at <= met) continue;
      add_rounds(*found, classes, mine, theirs);
      first = Timed{std::move(*found), met};
    }
    if (first) all.push_back(std::move(*first));
  }
  return all;
}

}  // namespace

std::optional<RecordedDifference> recorded_difference(const RunRecord& run) {
  std::vector<Timed> all = differences_of(run);
  const auto first = std::min_element(all.begin(), all.end(), [](const Timed& a, const Timed& b) { return a.at < b.at; });
  return first == all.end() ? std::nullopt : std::optional(std::move(first->difference));
}

std::vector<RecordedDifference> recorded_differences(const RunRecord& run) {
  std::vector<RecordedDifference> all;
  for (Timed& one : differences_of(run)) all.push_back(std::move(one.difference));
  return all;
}

std::optional<LoopRounds> rounds_of(const RunRecord& run, const RecordedCall& call) {
  for (const GroupSequences& group : recorded_sequences(run))
    for (const RecordedSequence& sequence : group.sequences)
      for (std::size_t i = 0; sequence.rank == call.rank && i < sequence.calls.size(); ++i) {
        if (sequence.calls[i]->id != call.id) continue;
        std::map<std::int64_t, std::vector<Rank>> rounds;
        for (const RecordedSequence& other : group.sequences)
          rounds[std::count(other.places.begin(), other.places.end(), sequence.places[i])].push_back(other.rank);
        if (rounds.size() < 2 || rounds.begin()->first == 0) return std::nullopt;
        return LoopRounds{{call, {rounds.begin(), rounds.end()}}, group.first};
      }
  return std::nullopt;
}

}  // namespace pdsim::scenarios
