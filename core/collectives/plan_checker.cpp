#include "core/collectives/plan_checker.h"

#include "core/collectives/plan_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace pdsim {
namespace {

// One element: which input elements (rank, index) it is the sum of, and how often each.
using Element = std::map<std::pair<Rank, std::int64_t>, int>;
using Buffer = std::vector<Element>;

struct Pending {
  std::size_t step;
  bool met = false;
  Buffer data;  // of a receive, once met
};

struct RankState {
  std::optional<Plan> plan;
  bool ended = false;
  int rounds = 0;  // with messages
  int round_index = 0;
  std::int64_t elements_sent = 0;
  std::vector<Pending> pending;
  Buffer input, output, scratch;

  Buffer& buffer(BufferId id) { return id == BufferId::input ? input : id == BufferId::output ? output : scratch; }
};

void add(Element& to, const Element& from) {
  for (const auto& [key, times] : from) to[key] += times;
}

class Checker {
 public:
  Checker(const Algorithm& algorithm, int size, std::int64_t count, Rank root, int ranks_per_node)
      : algorithm_(algorithm), size_(size), ranks_(static_cast<std::size_t>(size)) {
    call_.kind = algorithm.kind;
    call_.count = count;
    call_.root = root;
    for (Rank r = 0; r < size; ++r) {
      const PlanArgs args{r, size, count, root, nullptr, ranks_per_node};
      RankState& s = ranks_[static_cast<std::size_t>(r)];
      s.plan.emplace(algorithm.plan(args));
      s.input.resize(static_cast<std::size_t>(input_elements(call_, r, size)));
      for (std::size_t i = 0; i < s.input.size(); ++i) s.input[i][{r, static_cast<std::int64_t>(i)}] = 1;
      s.output.resize(static_cast<std::size_t>(output_elements(call_, r, size)));
      s.scratch.resize(static_cast<std::size_t>(algorithm.scratch_elements(args)));
    }
  }

  PlanVerdict run() {
    for (Rank r = 0; r < size_ && verdict_.ok; ++r) begin_round(r);
    bool moved = true;
    while (moved && verdict_.ok) {
      moved = false;
      for (Rank r = 0; r < size_ && verdict_.ok; ++r) moved = meet(r) || moved;
      for (Rank r = 0; r < size_ && verdict_.ok; ++r) moved = finish_round(r) || moved;
    }
    for (Rank r = 0; r < size_ && verdict_.ok; ++r)
      if (!ranks_[static_cast<std::size_t>(r)].ended) describe_stuck(r);
    for (Rank r = 0; r < size_ && verdict_.ok; ++r) check_output(r);
    for (const RankState& s : ranks_) {
      verdict_.counted.rounds = std::max<std::int64_t>(verdict_.counted.rounds, s.rounds);
      verdict_.counted.elements_sent = std::max(verdict_.counted.elements_sent, s.elements_sent);
    }
    return verdict_;
  }

 private:
  void fail(std::string problem) {
    if (!verdict_.ok) return;
    verdict_.ok = false;
    verdict_.problem =
        fmt::format("{} {} with {} ranks: {}", name_of(algorithm_.kind), algorithm_.name, size_, problem);
  }

  bool fits(Rank r, const Slice& slice) {
    const Buffer& b = ranks_[static_cast<std::size_t>(r)].buffer(slice.buffer);
    if (slice.offset >= 0 && slice.count >= 0 && slice.offset + slice.count <= static_cast<std::int64_t>(b.size()))
      return true;
    fail(fmt::format("round {} of rank {} uses elements {}..{} of a buffer of {}",
                     ranks_[static_cast<std::size_t>(r)].round_index, r, slice.offset, slice.offset + slice.count,
                     b.size()));
    return false;
  }

  void begin_round(Rank r) {
    RankState& s = ranks_[static_cast<std::size_t>(r)];
    s.pending.clear();
    if (!s.plan->next()) {
      s.ended = true;
      return;
    }
    ++s.round_index;
    const auto steps = s.plan->steps();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (!fits(r, step.slice)) return;
      const bool local = step.kind == Step::Kind::copy || step.kind == Step::Kind::reduce;
      if (local && !fits(r, step.from)) return;
      // Runs scale the input for avg and premul_sum while it is copied, so what bypasses a copy would not be scaled.
      const bool bypasses = step.kind == Step::Kind::send
                                ? step.slice.buffer == BufferId::input
                                : step.kind == Step::Kind::reduce && step.from.buffer == BufferId::input;
      if (bypasses && row(algorithm_.kind).reduces)
        return fail(fmt::format("round {} of rank {} uses its input without copying it first", s.round_index, r));
      if (local) continue;
      if (step.peer < 0 || step.peer >= size_ || step.peer == r)
        return fail(fmt::format("round {} of rank {} names rank {} as its peer", s.round_index, r, step.peer));
      s.pending.push_back({i, false, {}});
    }
    if (!s.pending.empty()) ++s.rounds;
  }

  // Per pair of ranks messages meet in order, so only the first unmet message of each pair and direction may meet.
  bool meet(Rank r) {
    RankState& sender = ranks_[static_cast<std::size_t>(r)];
    bool moved = false;
    for (Pending& out : sender.pending) {
      const Step& send_step = sender.ended ? Step{} : sender.plan->steps()[out.step];
      if (out.met || send_step.kind != Step::Kind::send) continue;
      RankState& receiver = ranks_[static_cast<std::size_t>(send_step.peer)];
      for (Pending& in : receiver.pending) {
        const Step& receive_step = receiver.plan->steps()[in.step];
        if (in.met || receive_step.kind == Step::Kind::send || receive_step.peer != r) continue;
        if (receive_step.slice.count != send_step.slice.count)
          fail(fmt::format("rank {} sends {} elements in round {}, rank {} receives {} in round {}", r,
                           send_step.slice.count, sender.round_index, send_step.peer, receive_step.slice.count,
                           receiver.round_index));
        const Buffer& from = sender.buffer(send_step.slice.buffer);
        const auto first = from.begin() + send_step.slice.offset;
        in.data.assign(first, first + send_step.slice.count);
        in.met = out.met = moved = true;
        ++verdict_.counted.messages;
        sender.elements_sent += send_step.slice.count;
        break;
      }
    }
    return moved;
  }

  bool finish_round(Rank r) {
    RankState& s = ranks_[static_cast<std::size_t>(r)];
    if (s.ended || !std::all_of(s.pending.begin(), s.pending.end(), [](const Pending& p) { return p.met; }))
      return false;
    const auto steps = s.plan->steps();
    std::size_t message = 0;
    for (const Step& step : steps) {
      Buffer& to = s.buffer(step.slice.buffer);
      const bool local = step.kind == Step::Kind::copy || step.kind == Step::Kind::reduce;
      const Buffer source = local ? Buffer(s.buffer(step.from.buffer).begin() + step.from.offset,
                                           s.buffer(step.from.buffer).begin() + step.from.offset + step.slice.count)
                                  : s.pending[message].data;
      if (!local) ++message;
      if (step.kind == Step::Kind::send) continue;
      const bool adds = step.kind == Step::Kind::receive_reduce || step.kind == Step::Kind::reduce;
      for (std::size_t i = 0; i < source.size(); ++i) {
        Element& element = to[static_cast<std::size_t>(step.slice.offset) + i];
        if (!adds) element.clear();
        add(element, source[i]);
      }
    }
    begin_round(r);
    return true;
  }

  void describe_stuck(Rank r) {
    const RankState& s = ranks_[static_cast<std::size_t>(r)];
    for (const Pending& p : s.pending) {
      if (p.met) continue;
      const Step& step = s.plan->steps()[p.step];
      const bool sends = step.kind == Step::Kind::send;
      return fail(fmt::format("rank {} waits in round {} for ever: it {} rank {}, which {}", r, s.round_index,
                              sends ? "sends to" : "receives from", step.peer,
                              ranks_[static_cast<std::size_t>(step.peer)].ended ? "has ended" : "waits as well"));
    }
  }

  Element expected(Rank r, std::int64_t i) const {
    Element e;
    const std::int64_t n = call_.count;
    switch (call_.kind) {
      case CollectiveKind::broadcast:
        e[{call_.root, i}] = 1;
        break;
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce:
        for (Rank from = 0; from < size_; ++from) e[{from, i}] = 1;
        break;
      case CollectiveKind::scan:
        for (Rank from = 0; from <= r; ++from) e[{from, i}] = 1;
        break;
      case CollectiveKind::exscan:
        for (Rank from = 0; from < r; ++from) e[{from, i}] = 1;
        break;
      case CollectiveKind::reduce_scatter:
      case CollectiveKind::reduce_scatter_v:
        for (Rank from = 0; from < size_; ++from) e[{from, r * n + i}] = 1;
        break;
      case CollectiveKind::all_gather:
      case CollectiveKind::all_gather_v:
      case CollectiveKind::gather:
        e[{static_cast<Rank>(i / n), i % n}] = 1;
        break;
      case CollectiveKind::scatter:
        e[{call_.root, r * n + i}] = 1;
        break;
      case CollectiveKind::all_to_all:
      case CollectiveKind::all_to_all_v:
        e[{static_cast<Rank>(i / n), r * n + i % n}] = 1;
        break;
      default:
        break;
    }
    return e;
  }

  void check_output(Rank r) {
    const RankState& s = ranks_[static_cast<std::size_t>(r)];
    for (std::size_t i = 0; i < s.output.size(); ++i) {
      const Element want = expected(r, static_cast<std::int64_t>(i));
      if (s.output[i] == want) continue;
      for (Rank from = 0; from < size_; ++from)
        for (const auto& [key, times] : want)
          if (const auto it = s.output[i].find(key);
              key.first == from && (it == s.output[i].end() || it->second != times))
            return fail(fmt::format("element {} of rank {} holds the contribution of rank {} {} times instead of once",
                                    i, r, from, it == s.output[i].end() ? 0 : it->second));
      return fail(fmt::format("element {} of rank {} holds a contribution that does not belong there", i, r));
    }
  }

  const Algorithm& algorithm_;
  int size_;
  Collective call_;
  std::vector<RankState> ranks_;
  PlanVerdict verdict_;
};

}  // namespace

PlanVerdict check_plan(const Algorithm& algorithm, int size, std::int64_t count, Rank root, int ranks_per_node) {
  if (row(algorithm.kind).point_to_point) return {};
  return Checker(algorithm, size, count, root, ranks_per_node).run();
}

}  // namespace pdsim
