#include "core/collectives/text/plan_expansion.h"

#include "core/collectives/collective_shape.h"
#include "core/collectives/text/plan_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pdsim {
namespace {

using namespace plan_syntax;

constexpr std::int64_t most_steps = 2'000'000;
constexpr std::int64_t most_elements = std::int64_t{1} << 56;

// Where a round stands: the statements and turns that lead to it, in the order of the text.
using Path = std::vector<std::int32_t>;

struct PlacedRound {
  Path path;
  PlanMark at;
  std::vector<Step> steps;
};
struct Arrival {
  Path path;
  PlanMark at;
  Step step;
};

class Slices {
 public:
  Slices(const Syntax& syntax, const PlanArgs& args, std::int64_t scratch) : syntax_(syntax), args_(args) {
    Collective call;
    call.kind = syntax.kind;
    call.count = args.count;
    call.root = args.root;
    const CollectiveRow& row = pdsim::row(syntax.kind);
    const std::int64_t parts = args.size;
    elements_ = {args.count * (row.input_in_parts ? parts : 1), args.count * (row.output_in_parts ? parts : 1),
                 scratch};
    parts_of_ = row.output_in_parts || !row.input_in_parts ? BufferId::output : BufferId::input;
  }

  Slice of(const SliceText& text, const TermValues& values) const {
    const BufferId buffer = text.buffer.value_or(text.piece == Piece::part ? parts_of_ : BufferId::output);
    const Slice all{0, elements_[static_cast<std::size_t>(buffer)], buffer};
    switch (text.piece) {
      case Piece::whole:
        return all;
      case Piece::nothing:
        return {0, 0, BufferId::output};
      case Piece::elements:
        return elements(text, values, buffer);
      case Piece::part: {
        const std::int64_t i = wrapped(values.of(text.first), args_.size);
        return {i * args_.count, args_.count, buffer};
      }
      default:
        return chunks(text, values, buffer);
    }
  }

 private:
  static Slice elements(const SliceText& text, const TermValues& values, BufferId buffer) {
    const std::int64_t first = values.of(text.first), end = values.of(text.last);
    if (end < first || first < -most_elements || end > most_elements)
      throw PlanProblem{text.at, fmt::format("elements {}..{} are not a slice", first, end),
                        "such as output[0:4], without the end"};
    return {first, end - first, buffer};
  }

  Slice chunks(const SliceText& text, const TermValues& values, BufferId buffer) const {
    // In scratch, chunks lie where those of the output do.
    const bool input = buffer == BufferId::input;
    const Slice vector{0, elements_[input ? 0 : 1], buffer};
    const int many_term = text.of >= 0 ? text.of : syntax_.chunks;
    const std::int64_t many = many_term >= 0 ? values.of(many_term) : args_.size;
    if (many < 1 || many > (1 << 20))
      throw PlanProblem{text.at, fmt::format("{} chunks", many), "1 to 1048576 are possible"};
    const auto cut = [&](std::int64_t i) {
      return vector.chunk(static_cast<int>(many), static_cast<int>(wrapped(i, many)));
    };
    const std::int64_t first = values.of(text.first);
    if (text.piece == Piece::chunk) return cut(first);
    const std::int64_t last = values.of(text.last);
    if (first < 0 || last < first - 1 || last >= many)
      throw PlanProblem{text.at, fmt::format("chunks {}..{} of {}", first, last, many),
                        "chunks are numbered from 0; chunk E wraps around"};
    if (last < first) return {cut(first).offset, 0, buffer};
    const Slice begin = cut(first), end = cut(last);
    return {begin.offset, end.offset + end.count - begin.offset, buffer};
  }

  const Syntax& syntax_;
  const PlanArgs& args_;
  std::array<std::int64_t, 3> elements_{};
  BufferId parts_of_;
};

// Runs the text as one rank: its own rounds, and what it sends others in a pair.
class RankExpander {
 public:
  RankExpander(const Syntax& syntax, const PlanArgs& args, std::int64_t& steps,
               std::vector<std::vector<Arrival>>& arrivals)
      : syntax_(syntax),
        args_(args),
        values_(syntax, args),
        slices_(syntax, args, scratch(syntax, args.rank, values_)),
        steps_(steps),
        arrivals_(arrivals) {}

  std::vector<PlacedRound> run() {
    block(syntax_.body, nullptr);
    return std::move(rounds_);
  }

  static std::int64_t scratch(const Syntax& syntax, Rank rank, const TermValues& values) {
    if (syntax.scratch < 0) return 0;
    const std::int64_t elements = values.of(syntax.scratch);
    if (elements < 0)
      throw PlanProblem{syntax.terms[static_cast<std::size_t>(syntax.scratch)].at,
                        fmt::format("rank {} asks for {} elements of scratch", rank, elements), "use 0 or more"};
    return elements;
  }

 private:
  void block(const Block& statements, PlacedRound* round) {
    bool taken = false;  // of an if and what follows it
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const Statement& one = statements[i];
      count(one);
      path_.push_back(static_cast<std::int32_t>(i));
      if (one.action == Action::branch) {
        if (!one.follows) taken = false;
        const bool here = !taken && (one.first < 0 || values_.of(one.first) != 0);
        taken = taken || here;
        if (here) block(one.body, round);
      } else {
        statement(one, round);
      }
      path_.pop_back();
    }
  }

  void count(const Statement& one) {
    if (++statements_run_ <= most_statements(args_.size)) return;
    throw PlanProblem{
        one.at,
        fmt::format("rank {} of {} runs more than {} statements", args_.rank, args_.size, most_statements(args_.size)),
        "the limit is exceeded here"};
  }

  void statement(const Statement& one, PlacedRound* round) {
    if (one.action == Action::let) {
      values_.set(one.variable, values_.of(one.first));
    } else if (one.action == Action::loop) {
      loop(one, round);
    } else if (one.action == Action::round) {
      PlacedRound own{path_, one.at, {}};
      block(one.body, &own);
      keep(std::move(own));
    } else if (round != nullptr) {
      message(one, *round);
    } else {
      PlacedRound own{path_, one.at, {}};
      message(one, own);
      keep(std::move(own));
    }
  }

  void keep(PlacedRound round) {
    if (!round.steps.empty()) rounds_.push_back(std::move(round));
  }

  void loop(const Statement& one, PlacedRound* round) {
    const std::int64_t last = values_.of(one.last);
    std::int64_t k = values_.of(one.first);
    const std::int64_t step = one.step < 0 ? 1 : values_.of(one.step);
    if (one.advance == Advance::by ? step == 0 : step < 2)
      throw PlanProblem{syntax_.terms[static_cast<std::size_t>(one.step)].at,
                        fmt::format("the loop never ends with {}", step),
                        one.advance == Advance::by ? "use any number except 0" : "2 and more"};
    const bool down = one.advance == Advance::over || (one.advance == Advance::by && step < 0);
    if (one.advance == Advance::times && k < 1 && k <= last)
      throw PlanProblem{syntax_.terms[static_cast<std::size_t>(one.first)].at,
                        fmt::format("{} times {} never grows", k, step), "begin with 1 or more"};
    std::int32_t turn = 0;
    while (down ? k >= last : k <= last) {
      values_.set(one.variable, k);
      path_.push_back(turn++);
      block(one.body, round);
      path_.pop_back();
      if (one.advance == Advance::over && k < 1) break;
      const bool over = one.advance == Advance::times ? __builtin_mul_overflow(k, step, &k)
                        : one.advance == Advance::by  ? __builtin_add_overflow(k, step, &k)
                                                      : (k /= step, k == 0);
      if (over) break;
      count(one);
    }
  }

  Rank peer_of(const Statement& one) const { return static_cast<Rank>(wrapped(values_.of(one.peer), args_.size)); }

  void message(const Statement& one, PlacedRound& round) {
    if (++steps_ > most_steps)
      throw PlanProblem{one.at, fmt::format("the {} ranks make more than {} steps", args_.size, most_steps),
                        "the limit is exceeded here"};
    const Slice slice = slices_.of(one.slice, values_);
    switch (one.action) {
      case Action::copy:
        round.steps.push_back(copy(slices_.of(one.other, values_), slice));
        return;
      case Action::add:
        round.steps.push_back(reduce_into(slices_.of(one.other, values_), slice));
        return;
      case Action::send:
        round.steps.push_back(send(peer_of(one), slice));
        return;
      case Action::receive:
        round.steps.push_back(one.adds ? receive_reduce(peer_of(one), slice) : receive(peer_of(one), slice));
        return;
      default:
        break;
    }
    const Rank to = peer_of(one);
    const Slice into = slices_.of(one.other, values_);
    round.steps.push_back(send(to, slice));
    arrivals_[static_cast<std::size_t>(to)].push_back(
        {round.path, one.at, one.adds ? receive_reduce(args_.rank, into) : receive(args_.rank, into)});
    ++steps_;
  }

  const Syntax& syntax_;
  const PlanArgs& args_;
  TermValues values_;
  Slices slices_;
  std::int64_t& steps_;
  std::vector<std::vector<Arrival>>& arrivals_;
  Path path_;
  std::vector<PlacedRound> rounds_;
  std::int64_t statements_run_ = 0;
};

template <class Value, class Work>
std::variant<Value, PlanProblem> guarded(Work work) {
  try {
    return work();
  } catch (const PlanProblem& problem) {
    return problem;
  }
}

}  // namespace

// Puts what arrives into the rounds of the rank that it arrives at.
class PlanExpander {
 public:
  PlanExpander(const Syntax& syntax, const PlanArgs& args, bool alone) : syntax_(syntax), args_(args), alone_(alone) {}

  std::shared_ptr<const PlanExpansion> run() {
    std::int64_t steps = 0;
    std::vector<std::vector<Arrival>> arrivals(static_cast<std::size_t>(args_.size));
    std::vector<std::vector<PlacedRound>> rounds;
    for (Rank r = 0; r < args_.size; ++r) {
      PlanArgs own = args_;
      own.rank = r;
      rounds.emplace_back();
      if (!alone_ || r == args_.rank) rounds.back() = RankExpander(syntax_, own, steps, arrivals).run();
    }
    for (const std::vector<Arrival>& at_rank : arrivals)
      if (alone_ && !at_rank.empty())
        throw PlanProblem{at_rank.front().at, "a pair with only one known side",
                          "write `send` and `receive` for each rank"};
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      into_.first_round_.push_back(into_.rounds_.size());
      merge(rounds[r], arrivals[r]);
    }
    into_.first_round_.push_back(into_.rounds_.size());
    return std::make_shared<const PlanExpansion>(std::move(into_));
  }

 private:
  void merge(const std::vector<PlacedRound>& rounds, std::vector<Arrival>& arrivals) {
    std::stable_sort(arrivals.begin(), arrivals.end(),
                     [](const Arrival& a, const Arrival& b) { return a.path < b.path; });
    auto arrival = arrivals.begin();
    const auto take = [&](const Path& path) {
      for (; arrival != arrivals.end() && arrival->path == path; ++arrival) append(arrival->step);
    };
    const auto before = [&](const Path* path) {
      while (arrival != arrivals.end() && (path == nullptr || arrival->path < *path)) {
        begin(arrival->at);
        const Path own = arrival->path;
        take(own);
      }
    };
    for (const PlacedRound& round : rounds) {
      before(&round.path);
      begin(round.at);
      for (const Step& step : round.steps) append(step);
      take(round.path);
    }
    before(nullptr);
  }
  void begin(const PlanMark& at) { into_.rounds_.push_back({into_.steps_.size(), 0, at}); }
  void append(const Step& step) {
    into_.steps_.push_back(step);
    ++into_.rounds_.back().many;
  }

  const Syntax& syntax_;
  const PlanArgs& args_;
  bool alone_;
  PlanExpansion into_;
};

std::span<const PlanExpansion::Extent> PlanExpansion::rounds_of(Rank rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return {rounds_.data() + first_round_[r], first_round_[r + 1] - first_round_[r]};
}

ExpandedPlan expand(const Syntax& syntax, const PlanArgs& args, bool alone) {
  return guarded<std::shared_ptr<const PlanExpansion>>([&] { return PlanExpander(syntax, args, alone).run(); });
}

std::variant<std::int64_t, PlanProblem> scratch_of(const Syntax& syntax, const PlanArgs& args) {
  return guarded<std::int64_t>([&] { return RankExpander::scratch(syntax, args.rank, TermValues(syntax, args)); });
}

std::variant<bool, PlanProblem> is_for(const Syntax& syntax, const PlanArgs& args) {
  return guarded<bool>([&] { return syntax.needs < 0 || TermValues(syntax, args).of(syntax.needs) != 0; });
}

}  // namespace pdsim
