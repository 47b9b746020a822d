// Replays what PyTorch 1.13 recorded, in the simulated world with Gloo's semantics of that version.
#include "core/group/new_group.h"
#include "sim/run.h"
#include "tests/unit/conformance/collective_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace pdsim::oracle {
namespace {

// Where we differ from the recording on purpose. Everything else must be equal bit for bit.
struct Difference {
  std::string_view what;
  std::string_view why;
};
constexpr Difference alone{"send_recv in a world of one",
                           "the recorded program sends nothing there; a send to oneself is refused by both"};

// PyTorch's sentence -> our code.
struct Refusal {
  std::string_view sentence;
  Code code;
};
constexpr std::array refusals{
    Refusal{"Invalid scalar type", Code::unsupported},
    Refusal{"Cannot use ReduceOp.AVG with Gloo", Code::unsupported},
    Refusal{"ProcessGroupGloo does not support reduce_scatter", Code::unsupported},
    Refusal{"Cannot use ReduceOp.BAND with non-integral dtype", Code::invalid_argument},
    Refusal{"Cannot use ReduceOp.BOR with non-integral dtype", Code::invalid_argument},
    Refusal{"Cannot use ReduceOp.BXOR with non-integral dtype", Code::invalid_argument},
};

struct Outcome {
  Status status;
  std::vector<Bytes> output;
};

struct Replay {
  const CollectiveCase& c;
  ProcessGroup& group;
  const CaseRank& mine;
  std::int64_t count;

  std::int64_t elements(const Bytes& b) const { return static_cast<std::int64_t>(b.size() / size_of(c.dtype)); }
  MutableView view(Bytes& b) const { return {b.data(), c.dtype, elements(b)}; }
  Rank root() const { return group.group_rank(c.root).value(); }
};

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<Bytes> split(const Bytes& all, std::size_t parts) {
  std::vector<Bytes> out;
  const auto part = static_cast<std::ptrdiff_t>(all.size() / parts);
  for (std::size_t i = 0; i < parts; ++i) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i) * part;
    out.emplace_back(first, first + part);
  }
  return out;
}

Outcome in_place(const Replay& r) {
  Bytes data = r.mine.input.at(0);
  Status status;
  if (r.c.collective.starts_with("broadcast")) status = wait(r.group.broadcast(r.view(data), r.root()));
  if (r.c.collective.starts_with("all_reduce")) status = wait(r.group.all_reduce(r.view(data), r.c.op));
  if (r.c.collective == "reduce") status = wait(r.group.reduce(r.view(data), r.view(data), r.c.op, r.root()));
  return {status, {data}};
}

Outcome gathering(const Replay& r) {
  const auto p = static_cast<std::size_t>(r.group.size());
  Bytes in = joined(r.mine.input);
  const bool root = r.group.rank() == r.root();
  const bool receives = r.c.collective != "gather" || root;
  Bytes out(receives ? in.size() * p : 0);
  const Status status = r.c.collective == "all_gather" ? wait(r.group.all_gather(r.view(in), r.view(out)))
                                                       : wait(r.group.gather(r.view(in), r.view(out), r.root()));
  return {status, receives ? split(out, p) : std::vector<Bytes>{}};
}

Outcome scattering(const Replay& r) {
  Bytes in = joined(r.mine.input);
  Bytes out(static_cast<std::size_t>(r.count) * size_of(r.c.dtype));
  const Status status = r.c.collective == "scatter" ? wait(r.group.scatter(r.view(in), r.view(out), r.root()))
                                                    : wait(r.group.reduce_scatter(r.view(in), r.view(out), r.c.op));
  return {status, {out}};
}

Outcome exchanging(const Replay& r) {
  Bytes in = r.mine.input.at(0);
  Bytes out(in.size());
  if (r.c.collective == "all_to_all_single") return {wait(r.group.all_to_all(r.view(in), r.view(out))), {out}};
  const int p = r.group.size();
  const auto sent = r.group.send(r.view(in), (r.group.rank() + 1) % p, 0);
  const Status received = wait(r.group.recv(r.view(out), (r.group.rank() + p - 1) % p, 0));
  const Status status = wait(sent);
  return {status.ok() ? received : status, {out}};
}

struct Row {
  std::string_view collective;
  Outcome (*replay)(const Replay&);
};
constexpr std::array rows{
    Row{"broadcast", in_place},        Row{"broadcast_subgroup", in_place},
    Row{"all_reduce", in_place},       Row{"all_reduce_subgroup", in_place},
    Row{"reduce", in_place},           Row{"all_gather", gathering},
    Row{"gather", gathering},          Row{"scatter", scattering},
    Row{"reduce_scatter", scattering}, Row{"all_to_all_single", exchanging},
    Row{"send_recv", exchanging},
};

enum class Match { exact, excused, differs };

Match compare(const CollectiveCase& c, Rank rank, const Outcome& ours) {
  const CaseRank& theirs = c.ranks[static_cast<std::size_t>(rank)];
  if (c.collective == "send_recv" && c.ranks.size() == 1) return Match::excused;
  for (const Refusal& r : refusals)
    if (theirs.error == r.sentence)
      return !ours.status.ok() && ours.status.error().code == r.code ? Match::exact : Match::differs;
  if (!theirs.error.empty() || !ours.status.ok()) return Match::differs;
  return ours.output == theirs.output ? Match::exact : Match::differs;
}

Outcome replay(const CollectiveCase& c, ProcessGroup& group, Rank rank) {
  const CaseRank& mine = c.ranks[static_cast<std::size_t>(rank)];
  if (!group.is_member()) return {{}, mine.input};
  if (c.collective == "send_recv" && group.size() == 1) return {};
  std::int64_t count = 0;  // of one tensor, which the root of a scatter knows for all
  for (const CaseRank& r : c.ranks)
    if (!r.input.empty()) count = static_cast<std::int64_t>(r.input[0].size() / size_of(c.dtype));
  for (const Row& r : rows)
    if (r.collective == c.collective) return r.replay({c, group, mine, count});
  return {Error{Code::internal, "the test does not know " + c.collective, {}}, {}};
}

struct Counts {
  std::array<int, 3> cases{};  // by the worst Match of a case's ranks
};

// All cases in one world, one after the other: a refused call must leave the group usable for the next.
Counts replay_file(const CaseFile& file) {
  sim::WorldSpec spec;
  spec.ranks_per_node = static_cast<int>(file.cases.at(0).ranks.size());
  spec.profile = "pytorch-1.13";
  std::vector<std::vector<Outcome>> outcomes(static_cast<std::size_t>(spec.ranks_per_node));
  const RankProgram program = [&](RankEnvironment& env) -> ProgramResult {
    auto store = env.rendezvous.env(env.backend.default_timeout());
    if (!store.ok()) return {store.error(), {}};
    GroupMaker maker(env.backend, **store, env.rank, env.world_size, env.recorder);
    std::vector<Rank> everybody(static_cast<std::size_t>(env.world_size));
    std::iota(everybody.begin(), everybody.end(), 0);
    const auto world = maker.new_group(everybody);
    if (!world.ok()) return {world.error(), {}};
    for (const CollectiveCase& c : file.cases) {
      auto group = maker.new_group(c.members.empty() ? everybody : c.members);
      if (!group.ok()) return {group.error(), {}};
      ProcessGroup& used = c.members.empty() ? **world : **group;
      outcomes[static_cast<std::size_t>(env.rank)].push_back(replay(c, used, env.rank));
    }
    return {};
  };
  const RunRecord run = sim::run(spec, {}, program).value();
  Counts counts;
  for (std::size_t i = 0; i < file.cases.size(); ++i) {
    Match worst = Match::exact;
    for (std::size_t r = 0; r < outcomes.size(); ++r) {
      const CollectiveCase& c = file.cases[i];
      if (i >= outcomes[r].size()) {
        ADD_FAILURE() << c.id << ": rank " << r << " never got there: " << run.ranks[r].log.error.message;
        return counts;
      }
      const Match match = compare(c, static_cast<Rank>(r), outcomes[r][i]);
      EXPECT_NE(match, Match::differs) << c.id << " " << c.collective << " of " << name_of(c.dtype) << ", rank " << r
                                       << ": "
                                       << (outcomes[r][i].status.ok() ? "ok" : outcomes[r][i].status.error().message);
      worst = std::max(worst, match);
    }
    ++counts.cases[static_cast<std::size_t>(worst)];
  }
  return counts;
}

TEST(PyTorchCollectives, AreMatchedCaseByCase) {
  const std::vector<CaseFile> files = read_collective_cases();
  ASSERT_FALSE(files.empty());
  for (const CaseFile& file : files) {
    const Counts n = replay_file(file);
    std::printf("%s: %d of %zu cases matched: %d bit for bit, %d where we differ on purpose\n", file.name.c_str(),
                n.cases[0] + n.cases[1], file.cases.size(), n.cases[0], n.cases[1]);
  }
  std::printf("we differ in %s: %s\n", alone.what.data(), alone.why.data());
}

}  // namespace
}  // namespace pdsim::oracle
