#include "core/collectives/proof/plan_checker.h"

#include "core/collectives/collective_shape.h"
#include "core/collectives/plan_room.h"
#include "core/collectives/proof/plan_elements.h"
#include "core/collectives/proof/plan_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <tuple>
#include <utility>

namespace pdsim {
namespace {

constexpr std::int64_t most_scratch = 1 << 22;  // elements; cases are small
constexpr int most_rounds = 20'000;             // of a rank

bool is_local(const Step& s) { return s.kind == Step::Kind::copy || s.kind == Step::Kind::reduce; }
bool overlap(const Slice& a, const Slice& b) {
  return a.buffer == b.buffer && a.count > 0 && b.count > 0 && a.offset < b.offset + b.count &&
         b.offset < a.offset + a.count;
}

// With no words it follows the messages alone and holds no element.
template <std::size_t Words>
class Checker {
 public:
  using Element = PlanElement<Words>;
  static constexpr bool holds_elements = Words > 0;

  Checker(const Algorithm& algorithm, const PlanCase& at, const PlanSource& plans)
      : algorithm_(algorithm),
        at_(at),
        layout_{algorithm.kind, at.size, at.count, at.root},
        ranks_(static_cast<std::size_t>(at.size)) {
    call_.kind = algorithm.kind;
    call_.count = at.count;
    call_.root = at.root;
    for (Rank r = 0; r < at.size; ++r) {
      const PlanArgs args{r, at.size, at.count, at.root, nullptr, at.ranks_per_node};
      State& s = state(r);
      s.plan.emplace(plans(args));
      s.room = room_of(call_, algorithm, args);
      if (s.room.scratch() < 0 || (holds_elements && s.room.scratch() > most_scratch)) {
        fail(r, 0, s.room.scratch() == scratch_throws
                       ? fmt::format("rank {} asks for no scratch: the row's function throws", r)
                       : fmt::format("rank {} asks for {} elements of scratch", r, s.room.scratch()));
        return;
      }
      if constexpr (holds_elements) fill(r);
    }
  }

  PlanVerdict run() {
    for (Rank r = 0; r < at_.size && verdict_.ok; ++r) begin_round(r);
    for (std::size_t i = 0; i < complete_.size() && verdict_.ok; ++i) finish_round(complete_[i]);
    if (verdict_.ok) describe_stuck();
    if constexpr (holds_elements)
      for (Rank r = 0; r < at_.size && verdict_.ok; ++r) check_output(r);
    for (const State& s : ranks_) {
      verdict_.counted.rounds = std::max<std::int64_t>(verdict_.counted.rounds, s.rounds);
      verdict_.counted.elements_sent = std::max(verdict_.counted.elements_sent, s.elements_sent);
    }
    return std::move(verdict_);
  }

  void record(std::vector<PlanMessage>& into) { trace_ = &into; }
  int round_of_flaw() const { return flaw_round_; }
  // The round that spoiled the watched element, or the last one, which should have brought what is missing.
  int watched_round() const {
    return flaw_seen_ ? watched_round_ : ranks_[static_cast<std::size_t>(watched_rank_)].round_index;
  }
  Rank rank_of_flaw() const { return flaw_rank_; }
  void watch(Rank rank, std::int64_t element) {
    watched_rank_ = rank;
    watched_element_ = element;
  }
  std::int64_t flawed_element() const { return flaw_element_; }
  const std::vector<std::string>& waiting() const { return waiting_; }

 private:
  using Buffer = std::vector<Element>;
  struct Pending {
    std::size_t step;
    bool met = false;
    int wave = 0;
    std::size_t staged = 0;  // of a receive: where its data are
    Element heard{};         // of a receive: whom its sender has heard of
  };
  struct ByPeer {
    std::pair<Rank, bool> key;  // the peer, and whether it is a send
    std::size_t index;          // in `pending`
    bool operator<(const ByPeer& o) const { return std::tie(key, index) < std::tie(o.key, o.index); }
  };
  struct State {
    std::optional<Plan> plan;
    PlanRoom room;
    bool ended = false;
    int rounds = 0;  // with messages
    int round_index = 0;
    int clock = 0;
    std::size_t unmet = 0;
    std::int64_t elements_sent = 0;
    std::vector<Pending> pending;
    std::vector<ByPeer> by_peer;
    Buffer input, output, scratch, staging;
    Element heard;                      // the ranks that must have entered for this one to be here
    BufferId both = BufferId::scratch;  // in place: the larger buffer, where the other one begins at `shift`
    std::int64_t shift = 0;
  };

  State& state(Rank r) { return ranks_[static_cast<std::size_t>(r)]; }

  void fill(Rank r) {
    State& s = state(r);
    s.heard = Element::of(r, 0);
    const std::int64_t in = s.room.of(BufferId::input), out = s.room.of(BufferId::output);
    for (std::int64_t i = 0; i < in; ++i) s.input.push_back(Element::of(r, i));
    s.output.resize(static_cast<std::size_t>(out));
    s.scratch.resize(static_cast<std::size_t>(s.room.scratch()));
    if (at_.in_place && in > 0 && out > 0) share(r, in, out);
  }
  void share(Rank r, std::int64_t in, std::int64_t out) {
    State& s = state(r);
    s.both = in > out ? BufferId::input : BufferId::output;
    s.shift = in == out ? 0 : r * at_.count;
    if (s.both == BufferId::output) std::copy(s.input.begin(), s.input.end(), s.output.begin() + s.shift);
  }

  // Where a slice really is.
  Slice placed(const State& s, Slice slice) const {
    if (s.both == BufferId::scratch || slice.buffer == BufferId::scratch || slice.buffer == s.both) return slice;
    return {slice.offset + s.shift, slice.count, s.both};
  }
  Element* elements(State& s, const Slice& slice) {
    const Slice real = placed(s, slice);
    Buffer& b = real.buffer == BufferId::input ? s.input : real.buffer == BufferId::output ? s.output : s.scratch;
    return b.data() + real.offset;
  }

  void fail(Rank rank, int round, const std::string& problem) {
    if (!verdict_.ok) return;
    verdict_.ok = false;
    flaw_rank_ = rank;
    flaw_round_ = round;
    verdict_.problem = fmt::format("{}{}: {}", name_with_ranks(algorithm_, at_.size), at_.in_place ? ", in place" : "", problem);
  }

  bool wrong(Rank r, std::string_view what) {
    fail(r, state(r).round_index, fmt::format("round {} of rank {} {}", state(r).round_index, r, what));
    return false;
  }

  bool step_is_sound(Rank r, const Step& step) {
    const PlanRoom& room = state(r).room;
    if (!room.allows(step)) return wrong(r, room.problem(step));
    // Runs scale the input for avg and premul_sum while it is copied, so what bypasses a copy would not be scaled.
    const bool bypasses = step.kind == Step::Kind::send
                              ? step.slice.buffer == BufferId::input
                              : step.kind == Step::Kind::reduce && step.from.buffer == BufferId::input;
    if (bypasses && row(algorithm_.kind).reduces) return wrong(r, "uses its input without copying it first");
    return true;
  }

  // False: the plan threw, or goes on forever.
  bool goes_on(Rank r, bool& more) {
    State& s = state(r);
    try {
      more = s.plan->next();
    } catch (const std::exception& e) {
      return wrong(r, fmt::format("is never reached: the plan throws {}", e.what()));
    } catch (...) {
      return wrong(r, "is never reached: the plan throws an object that is not a std::exception");
    }
    return !holds_elements || s.round_index < most_rounds || !more ||
           wrong(r, "is not the last one: the plan does not seem to end");
  }

  // Transports write what they receive at any moment of the round.
  bool receives_apart(Rank r, std::span<const Step> steps) {
    const State& s = state(r);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind != Step::Kind::receive || steps[i].slice.count == 0) continue;
      const Slice into = placed(s, steps[i].slice);
      for (std::size_t j = 0; j < steps.size(); ++j) {
        if (i == j || is_local(steps[j]) || !overlap(into, placed(s, steps[j].slice))) continue;
        return wrong(r, fmt::format("receives into elements that it also {}",
                                    steps[j].kind == Step::Kind::send ? "sends" : "receives elsewhere"));
      }
    }
    return true;
  }

  void begin_round(Rank r) {
    State& s = state(r);
    s.pending.clear();
    s.by_peer.clear();
    bool more = false;
    if (!goes_on(r, more)) return;
    if (!more) {
      s.ended = true;
      return;
    }
    ++s.round_index;
    const auto steps = s.plan->steps();
    std::size_t staged = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (!step_is_sound(r, step)) return;
      if (is_local(step)) continue;
      s.by_peer.push_back({{step.peer, step.kind == Step::Kind::send}, s.pending.size()});
      s.pending.push_back({i, false, 0, staged});
      if (step.kind != Step::Kind::send) staged += static_cast<std::size_t>(step.slice.count);
    }
    std::sort(s.by_peer.begin(), s.by_peer.end());
    if (holds_elements && !receives_apart(r, steps)) return;
    if (holds_elements && s.staging.size() < staged) s.staging.resize(staged);
    s.unmet = s.pending.size();
    if (!s.pending.empty()) ++s.rounds;
    for (Pending& p : s.pending)
      if (verdict_.ok && !p.met) meet(r, p);
    if (s.pending.empty()) complete_.push_back(r);
  }

  // Per pair of ranks messages meet in order, so only the first unmet message of each pair and direction may meet.
  void meet(Rank r, Pending& mine) {
    State& s = state(r);
    const Step& step = s.plan->steps()[mine.step];
    const bool sends = step.kind == Step::Kind::send;
    State& other = state(step.peer);
    const std::pair wanted(r, !sends);
    auto at = std::lower_bound(other.by_peer.begin(), other.by_peer.end(), wanted,
                               [](const ByPeer& p, const auto& key) { return p.key < key; });
    for (; at != other.by_peer.end() && at->key == wanted; ++at) {
      Pending& theirs = other.pending[at->index];
      if (theirs.met) continue;
      const Step& counterpart = other.plan->steps()[theirs.step];
      return sends ? transfer(r, mine, step, step.peer, theirs, counterpart)
                   : transfer(step.peer, theirs, counterpart, r, mine, step);
    }
  }

  void transfer(Rank from, Pending& out, const Step& sent, Rank to, Pending& in, const Step& received) {
    State& sender = state(from);
    State& receiver = state(to);
    if (received.slice.count != sent.slice.count)
      return fail(to, receiver.round_index,
                  fmt::format("rank {} sends {} elements in round {}, rank {} receives {} in round {}", from,
                              sent.slice.count, sender.round_index, to, received.slice.count, receiver.round_index));
    if constexpr (holds_elements) {
      std::copy_n(elements(sender, sent.slice), sent.slice.count, receiver.staging.data() + in.staged);
      in.heard = sender.heard;
    }
    in.met = out.met = true;
    in.wave = out.wave = std::max(sender.clock, receiver.clock);
    ++verdict_.counted.messages;
    sender.elements_sent += sent.slice.count;
    if (trace_ != nullptr)
      trace_->push_back({from, to, sender.round_index, receiver.round_index, in.wave, sent.slice, received.slice,
                         received.kind == Step::Kind::receive_reduce});
    if (--sender.unmet == 0) complete_.push_back(from);
    if (--receiver.unmet == 0) complete_.push_back(to);
  }

  void finish_round(Rank r) {
    State& s = state(r);
    for (const Pending& p : s.pending) {
      s.clock = std::max(s.clock, p.wave + 1);
      for (std::size_t w = 0; w < Words; ++w) s.heard.ranks[w] |= p.heard.ranks[w];
    }
    if constexpr (holds_elements) combine(r);
    begin_round(r);
  }

  // Combines the data that the round brought, in the order of its steps.
  void combine(Rank r) {
    State& s = state(r);
    std::size_t message = 0;
    for (const Step& step : s.plan->steps()) {
      const bool local = is_local(step);
      const Element* source = nullptr;
      if (local) {
        source = elements(s, {step.from.offset, step.slice.count, step.from.buffer});
      } else {
        source = s.staging.data() + s.pending[message++].staged;
      }
      if (step.kind == Step::Kind::send) continue;
      Element* to = elements(s, step.slice);
      if (step.kind == Step::Kind::receive_reduce || step.kind == Step::Kind::reduce) {
        for (std::int64_t i = 0; i < step.slice.count; ++i) to[i].add(source[i]);
      } else if (to <= source) {
        std::copy(source, source + step.slice.count, to);
      } else {
        std::copy_backward(source, source + step.slice.count, to + step.slice.count);
      }
      if (r == watched_rank_ && step.slice.count > 0) note_write(s, to, step.slice.count);
    }
  }

  void note_write(State& s, const Element* first, std::int64_t count) {
    const Element* watched = elements(s, {watched_element_, 1, BufferId::output});
    if (watched < first || watched >= first + count || flaw_seen_) return;
    watched_round_ = s.round_index;
    flaw_seen_ = watched->flaw > 0 || watched->flaw == Element::mixed;
  }

  void describe_stuck() {
    for (Rank r = 0; r < at_.size; ++r) {
      const State& s = state(r);
      for (const Pending& p : s.pending) {
        if (s.ended || p.met) continue;
        const Step& step = s.plan->steps()[p.step];
        const bool sends = step.kind == Step::Kind::send;
        const State& peer = state(step.peer);
        const std::string other =
            peer.ended ? "which has ended" : fmt::format("which also waits, in its round {}", peer.round_index);
        waiting_.push_back(fmt::format("rank {} waits in round {} forever: it {} rank {}, {}", r, s.round_index,
                                       sends ? "sends to" : "receives from", step.peer, other));
        if (verdict_.ok) fail(r, s.round_index, waiting_.back());
      }
    }
  }

  // An element of the input, index and the ranks whose contributions belong into element i of rank r's output.
  Element expected(Rank r, std::int64_t i) const {
    const Origin from = layout_.origin(r, i);
    Element e = Element::of(from.first, from.index);
    for (Rank other = from.first + 1; other <= from.last; ++other) e.include(other);
    return e;
  }

  // Nobody may leave a barrier before everybody has entered it, and only messages tell that somebody has.
  void check_barrier(Rank r) {
    for (Rank other = 0; other < at_.size; ++other)
      if (!state(r).heard.holds(other))
        return fail(r, state(r).round_index, fmt::format("rank {} leaves without having heard from rank {}", r, other));
  }

  void check_output(Rank r) {
    if (!row(call_.kind).has_input) return check_barrier(r);
    State& s = state(r);
    const std::int64_t out = layout_.output_elements(r);
    const Element* have = elements(s, {0, out, BufferId::output});
    for (std::int64_t i = 0; i < out; ++i) {
      const Element want = expected(r, i);
      if (have[i] == want) continue;
      flaw_element_ = i;
      return fail(r, 0, fmt::format("element {} of rank {} {}", i, r, difference(have[i], want)));
    }
  }

  std::string difference(const Element& have, const Element& want) const {
    if (have.flaw == Element::unwritten) return "is never written, or computed from elements that were never written";
    if (have.flaw == Element::mixed) return "holds a sum of different elements";
    if (have.flaw > 0) return fmt::format("holds the contribution of rank {} more than once", have.flaw - 1);
    if (have.index != want.index) return fmt::format("holds element {} instead of {}", have.index, want.index);
    for (Rank from = 0; from < at_.size; ++from)
      if (want.holds(from) && !have.holds(from)) return fmt::format("lacks the contribution of rank {}", from);
    return "holds a contribution that does not belong there";
  }

  const Algorithm& algorithm_;
  PlanCase at_;
  CollectiveLayout layout_;
  Collective call_;
  std::vector<State> ranks_;
  std::vector<Rank> complete_;  // whose round is over, in that order
  PlanVerdict verdict_;
  std::vector<PlanMessage>* trace_ = nullptr;
  std::vector<std::string> waiting_;
  Rank flaw_rank_ = 0, watched_rank_ = no_rank;
  int flaw_round_ = 0, watched_round_ = 0;
  bool flaw_seen_ = false;
  std::int64_t flaw_element_ = -1, watched_element_ = 0;
};

template <std::size_t Words>
PlanVerdict checked(const Algorithm& algorithm, const PlanCase& at, const PlanSource& plans) {
  Checker<Words> checker(algorithm, at, plans);
  PlanVerdict verdict = checker.run();
  if (verdict.ok) return verdict;
  Checker<Words> again(algorithm, at, plans);
  std::vector<PlanMessage> messages;
  again.record(messages);
  if (checker.flawed_element() >= 0) again.watch(checker.rank_of_flaw(), checker.flawed_element());
  (void)again.run();
  const int round = checker.flawed_element() >= 0 ? again.watched_round() : checker.round_of_flaw();
  verdict.drawn = draw_round(messages, checker.rank_of_flaw(), round, checker.waiting());
  verdict.rank = checker.rank_of_flaw();
  verdict.round = round;
  return verdict;
}

}  // namespace

std::string name_with_ranks(const Algorithm& algorithm, int ranks) {
  return fmt::format("{} {} with {} rank{}", name_of(algorithm.kind), algorithm.name, ranks, ranks == 1 ? "" : "s");
}

PlanVerdict check_plan(const Algorithm& algorithm, const PlanCase& at, const PlanSource& plans) {
  if (row(algorithm.kind).point_to_point) return {};
  if (at.size <= 64) return checked<1>(algorithm, at, plans);
  if (at.size <= 1024) return checked<16>(algorithm, at, plans);
  PlanVerdict too_large;
  too_large.ok = false;
  too_large.problem = fmt::format("the plan checker accepts up to 1024 ranks, not {}", at.size);
  return too_large;
}

PlanVerdict check_plan(const Algorithm& algorithm, int size, std::int64_t count, Rank root, int ranks_per_node) {
  return check_plan(algorithm, {size, count, root, ranks_per_node, false},
                    [&algorithm](const PlanArgs& args) { return algorithm.begin(args); });
}

PlanTrace trace_plan(const Algorithm& algorithm, const PlanCase& at) {
  PlanTrace trace;
  Checker<0> follower(algorithm, at, [&algorithm](const PlanArgs& args) { return algorithm.begin(args); });
  follower.record(trace.messages);
  trace.counted = follower.run().counted;
  std::stable_sort(trace.messages.begin(), trace.messages.end(), [](const PlanMessage& a, const PlanMessage& b) {
    return std::pair(a.wave, a.from) < std::pair(b.wave, b.from);
  });
  return trace;
}

}  // namespace pdsim
