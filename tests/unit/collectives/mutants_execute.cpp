#include "core/collectives/collective_shape.h"
#include "core/collectives/plan_runner.h"
#include "core/collectives/reference.h"
#include "tests/unit/collectives/mutants.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <set>

namespace pdsim::mutants {
namespace {

using Numbers = std::vector<std::int64_t>;

// Numbers of which no two sums are equal by chance.
std::int64_t number(std::uint64_t seed) {
  seed = (seed + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  return static_cast<std::int64_t>((seed ^ (seed >> 29)) >> 16);
}

struct RankNumbers {
  std::map<BufferId, Numbers> buffers;
  std::size_t round = 0;
  std::map<std::size_t, Numbers> met;  // by step of the round; of a receive, what came
  std::set<Rank> heard, told;          // of whom, also in the present round
};

bool sends(const Step& s) { return s.kind == Step::Kind::send; }

Numbers read(RankNumbers& rank, const Slice& s) {
  const Numbers& all = rank.buffers[s.buffer];
  return {all.begin() + s.offset, all.begin() + s.offset + s.count};
}

void write(RankNumbers& rank, const Slice& s, const Numbers& values, bool adds) {
  Numbers& all = rank.buffers[s.buffer];
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t& to = all[static_cast<std::size_t>(s.offset) + i];
    to = adds ? to + values[i] : values[i];
  }
}

class Execution {
 public:
  Execution(const PlanCase& at, const Schedule& schedule, std::vector<RankNumbers>& ranks)
      : at_(at), schedule_(schedule), ranks_(ranks) {}

  std::string run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank r = 0; r < at_.size; ++r) moved = offer(r) || moved;
      for (Rank r = 0; r < at_.size; ++r) moved = finish(r) || moved;
      if (!problem_.empty()) return problem_;
    }
    for (Rank r = 0; r < at_.size; ++r)
      if (steps(r) != nullptr) return fmt::format("rank {} is stuck", r);
    return {};
  }

 private:
  RankNumbers& rank(Rank r) { return ranks_[static_cast<std::size_t>(r)]; }
  const Steps* steps(Rank r) {
    const RankRounds& rounds = schedule_[static_cast<std::size_t>(r)];
    return rank(r).round < rounds.size() ? &rounds[rank(r).round] : nullptr;
  }

  bool offer(Rank from) {
    const Steps* mine = steps(from);
    bool moved = false;
    for (std::size_t i = 0; mine != nullptr && i < mine->size(); ++i) {
      const Step& out = (*mine)[i];
      if (!sends(out) || rank(from).met.count(i) != 0) continue;
      const Steps* theirs = steps(out.peer);
      for (std::size_t j = 0; theirs != nullptr && j < theirs->size(); ++j) {
        const Step& in = (*theirs)[j];
        if (!is_message(in) || sends(in) || in.peer != from || rank(out.peer).met.count(j) != 0) continue;
        if (in.slice.count != out.slice.count) problem_ = "sizes differ";
        rank(out.peer).met[j] = read(rank(from), out.slice);
        rank(from).met[i];
        rank(out.peer).told.insert(rank(from).heard.begin(), rank(from).heard.end());
        moved = true;
        break;
      }
    }
    return moved && problem_.empty();
  }

  bool finish(Rank r) {
    const Steps* mine = steps(r);
    if (mine == nullptr || !problem_.empty()) return false;
    for (std::size_t i = 0; i < mine->size(); ++i)
      if (is_message((*mine)[i]) && rank(r).met.count(i) == 0) return false;
    for (std::size_t i = 0; i < mine->size(); ++i) {
      const Step& s = (*mine)[i];
      if (sends(s)) continue;
      const bool adds = s.kind == Step::Kind::receive_reduce || s.kind == Step::Kind::reduce;
      write(rank(r), s.slice,
            is_message(s) ? rank(r).met[i] : read(rank(r), {s.from.offset, s.slice.count, s.from.buffer}), adds);
    }
    rank(r).met.clear();
    rank(r).heard.insert(rank(r).told.begin(), rank(r).told.end());
    ++rank(r).round;
    return true;
  }

  PlanCase at_;
  const Schedule& schedule_;
  std::vector<RankNumbers>& ranks_;
  std::string problem_;
};

std::vector<std::byte> bytes_of(const Numbers& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(std::int64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace

std::string execute(const Algorithm& algorithm, const PlanCase& at, const Schedule& schedule) {
  Collective call;
  call.kind = algorithm.kind;
  call.dtype = DType::i64;
  call.count = at.count;
  call.root = at.root;
  std::vector<RankNumbers> ranks(static_cast<std::size_t>(at.size));
  RankBuffers inputs;
  std::uint64_t seed = 0;
  for (Rank r = 0; r < at.size; ++r) {
    auto& buffers = ranks[static_cast<std::size_t>(r)].buffers;
    ranks[static_cast<std::size_t>(r)].heard = {r};
    const auto fill = [&](BufferId id, std::int64_t elements) {
      for (std::int64_t i = 0; i < elements; ++i) buffers[id].push_back(number(++seed));
    };
    fill(BufferId::input, input_elements(call, r, at.size));
    fill(BufferId::output, output_elements(call, r, at.size));
    fill(BufferId::scratch, algorithm.scratch_elements({r, at.size, at.count, at.root, nullptr, at.ranks_per_node}));
    inputs.push_back(bytes_of(buffers[BufferId::input]));
  }
  if (std::string problem = Execution(at, schedule, ranks).run(); !problem.empty()) return problem;
  if (call.kind == CollectiveKind::barrier) {
    for (const RankNumbers& rank : ranks)
      if (rank.heard.size() != ranks.size()) return "a rank leaves before another has entered";
    return {};
  }
  const RankBuffers want = reference_result(call, inputs);
  for (Rank r = 0; r < at.size; ++r)
    if (output_elements(call, r, at.size) > 0 &&
        bytes_of(ranks[static_cast<std::size_t>(r)].buffers[BufferId::output]) != want[static_cast<std::size_t>(r)])
      return fmt::format("rank {} ends with wrong numbers", r);
  return {};
}

}  // namespace pdsim::mutants
