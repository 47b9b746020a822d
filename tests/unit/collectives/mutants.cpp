#include "tests/unit/collectives/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace pdsim::mutants {
namespace {

// Spoil one step of one rank; false: it does not apply there.
using SpoilStep = bool (*)(Steps& round, std::size_t step, Rank rank, const PlanCase& at);
// Spoil one round; applied to one rank, or to all.
using SpoilRound = bool (*)(RankRounds& rounds, std::size_t round);

bool off_by_one(Steps& round, std::size_t i, Rank, const PlanCase&) {
  if (round[i].slice.count == 0) return false;
  round[i].slice.offset += round[i].slice.offset == 0 ? 1 : -1;
  return true;
}
bool source_off_by_one(Steps& round, std::size_t i, Rank, const PlanCase&) {
  if (is_message(round[i]) || round[i].slice.count == 0) return false;
  round[i].from.offset += round[i].from.offset == 0 ? 1 : -1;
  return true;
}
bool one_too_few(Steps& round, std::size_t i, Rank, const PlanCase&) {
  if (round[i].slice.count == 0) return false;
  --round[i].slice.count;
  return true;
}
bool wrong_peer(Steps& round, std::size_t i, Rank rank, const PlanCase& at) {
  if (!is_message(round[i])) return false;
  do round[i].peer = (round[i].peer + 1) % at.size;
  while (round[i].peer == rank);
  return true;
}
bool swapped_peers(Steps& round, std::size_t i, Rank, const PlanCase&) {
  for (std::size_t j = i + 1; j < round.size(); ++j) {
    if (!is_message(round[i]) || !is_message(round[j]) || round[i].peer == round[j].peer) continue;
    std::swap(round[i].peer, round[j].peer);
    return true;
  }
  return false;
}
bool missing_step(Steps& round, std::size_t i, Rank, const PlanCase&) {
  round.erase(round.begin() + static_cast<std::ptrdiff_t>(i));
  return true;
}
bool stored_not_added(Steps& round, std::size_t i, Rank, const PlanCase&) {
  if (round[i].slice.count == 0) return false;
  if (round[i].kind != Step::Kind::receive_reduce && round[i].kind != Step::Kind::reduce) return false;
  round[i].kind = round[i].kind == Step::Kind::reduce ? Step::Kind::copy : Step::Kind::receive;
  return true;
}
bool added_not_stored(Steps& round, std::size_t i, Rank, const PlanCase&) {
  if (round[i].slice.count == 0) return false;
  if (round[i].kind != Step::Kind::receive && round[i].kind != Step::Kind::copy) return false;
  round[i].kind = round[i].kind == Step::Kind::copy ? Step::Kind::reduce : Step::Kind::receive_reduce;
  return true;
}
bool added_twice(Steps& round, std::size_t i, Rank, const PlanCase&) {
  if (round[i].kind != Step::Kind::reduce || round[i].slice.count == 0) return false;
  round.push_back(round[i]);
  return true;
}
bool wrong_direction(Steps& round, std::size_t i, Rank, const PlanCase&) {
  if (!is_message(round[i])) return false;
  round[i].kind = round[i].kind == Step::Kind::send ? Step::Kind::receive : Step::Kind::send;
  return true;
}
bool wrong_buffer(Steps& round, std::size_t i, Rank, const PlanCase&) {
  if (round[i].slice.count == 0) return false;
  const BufferId had = round[i].slice.buffer;
  round[i].slice.buffer = had == BufferId::output ? BufferId::scratch : BufferId::output;
  return true;
}

bool missing_round(RankRounds& rounds, std::size_t k) {
  rounds.erase(rounds.begin() + static_cast<std::ptrdiff_t>(k));
  return true;
}
bool repeated_round(RankRounds& rounds, std::size_t k) {
  rounds.insert(rounds.begin() + static_cast<std::ptrdiff_t>(k), rounds[k]);
  return true;
}
bool swapped_rounds(RankRounds& rounds, std::size_t k) {
  if (k + 1 >= rounds.size()) return false;
  std::swap(rounds[k], rounds[k + 1]);
  return true;
}
// Sends first, receives in a round of their own: with zero buffering two ranks that do so wait for each other.
bool cycle(RankRounds& rounds, std::size_t k) {
  const auto receives = std::stable_partition(rounds[k].begin(), rounds[k].end(),
                                              [](const Step& s) { return s.kind == Step::Kind::send; });
  if (receives == rounds[k].begin() || std::none_of(receives, rounds[k].end(), is_message)) return false;
  const Steps rest(receives, rounds[k].end());
  rounds[k].erase(receives, rounds[k].end());
  rounds.insert(rounds.begin() + static_cast<std::ptrdiff_t>(k) + 1, rest);
  return true;
}

struct StepMistake {
  std::string_view name;
  SpoilStep spoil;
};
struct RoundMistake {
  std::string_view name;
  std::string_view on_all;
  SpoilRound spoil;
};
constexpr std::array step_mistakes{
    StepMistake{"off-by-one chunk", off_by_one},
    StepMistake{"copied from one beside", source_off_by_one},
    StepMistake{"one element too few", one_too_few},
    StepMistake{"wrong peer", wrong_peer},
    StepMistake{"swapped peers", swapped_peers},
    StepMistake{"missing step", missing_step},
    StepMistake{"stored, not added", stored_not_added},
    StepMistake{"added, not stored", added_not_stored},
    StepMistake{"added twice", added_twice},
    StepMistake{"wrong direction", wrong_direction},
    StepMistake{"wrong buffer", wrong_buffer},
};
constexpr std::array round_mistakes{
    RoundMistake{"missing round", "missing round on all ranks", missing_round},
    RoundMistake{"repeated round", "double add: repeated round on all ranks", repeated_round},
    RoundMistake{"swapped rounds", "swapped rounds on all ranks", swapped_rounds},
    RoundMistake{"sends before receives", "cycle: sends before receives on all ranks", cycle},
};
constexpr std::string_view wrong_root = "wrong root", wrong_root_on_one = "wrong root on one rank";
constexpr std::string_view chunks_on_all = "off-by-one chunk on all ranks";

}  // namespace

std::vector<std::string_view> mistakes() {
  std::vector<std::string_view> names{wrong_root, wrong_root_on_one, chunks_on_all};
  for (const StepMistake& m : step_mistakes) names.push_back(m.name);
  for (const RoundMistake& m : round_mistakes) {
    names.push_back(m.name);
    names.push_back(m.on_all);
  }
  return names;
}

Schedule schedule_of(const Algorithm& algorithm, const PlanCase& at) {
  Schedule schedule(static_cast<std::size_t>(at.size));
  for (Rank r = 0; r < at.size; ++r) {
    Plan plan = algorithm.plan({r, at.size, at.count, at.root, nullptr, at.ranks_per_node});
    while (plan.next()) schedule[static_cast<std::size_t>(r)].emplace_back(plan.steps().begin(), plan.steps().end());
  }
  return schedule;
}

PlanSource plans_of(const Schedule& schedule) {
  return [&schedule](const PlanArgs& args) {
    return [](const RankRounds& rounds) -> Plan {
      for (const Steps& steps : rounds) co_yield std::span<const Step>(steps);
    }(schedule[static_cast<std::size_t>(args.rank)]);
  };
}

namespace {

class Planter {
 public:
  Planter(const Algorithm& algorithm, const PlanCase& at)
      : algorithm_(algorithm), at_(at), right_(schedule_of(algorithm, at)) {}

  std::vector<Mutant> plant() {
    for (const StepMistake& m : step_mistakes) in_steps(m);
    for (const RoundMistake& m : round_mistakes) in_rounds(m);
    shift_all_chunks();
    if (row(algorithm_.kind).rooted) turn_root();
    return std::move(mutants_);
  }

 private:
  void add(std::string_view mistake, std::string where, Schedule schedule) {
    mutants_.push_back({mistake, std::move(where), std::move(schedule)});
  }

  void in_steps(const StepMistake& m) {
    for (std::size_t r = 0; r < right_.size(); ++r)
      for (std::size_t k = 0; k < right_[r].size(); ++k)
        for (std::size_t i = 0; i < right_[r][k].size(); ++i) {
          Schedule spoiled = right_;
          if (m.spoil(spoiled[r][k], i, static_cast<Rank>(r), at_))
            add(m.name, fmt::format("rank {} round {} step {}", r, k + 1, i + 1), std::move(spoiled));
        }
  }

  void in_rounds(const RoundMistake& m) {
    for (std::size_t r = 0; r < right_.size(); ++r)
      for (std::size_t k = 0; k < right_[r].size(); ++k) {
        Schedule spoiled = right_;
        if (m.spoil(spoiled[r], k)) add(m.name, fmt::format("rank {} round {}", r, k + 1), std::move(spoiled));
      }
    for (std::size_t k = 0; k < right_[0].size(); ++k) {
      Schedule spoiled = right_;
      bool everywhere = true;
      for (RankRounds& rounds : spoiled) everywhere = everywhere && k < rounds.size() && m.spoil(rounds, k);
      if (everywhere) add(m.on_all, fmt::format("round {}", k + 1), std::move(spoiled));
    }
  }

  // Sender and receiver agree, on the wrong chunk: where every rank's round looks alike.
  void shift_all_chunks() {
    for (std::size_t k = 0; k < right_[0].size(); ++k) {
      Schedule spoiled = right_;
      bool changed = false;
      for (std::size_t r = 0; r < spoiled.size(); ++r) {
        if (k >= spoiled[r].size()) continue;
        for (std::size_t i = 0; i < spoiled[r][k].size(); ++i)
          if (spoiled[r][k][i].kind == Step::Kind::send)
            changed = off_by_one(spoiled[r][k], i, static_cast<Rank>(r), at_) || changed;
      }
      if (changed) add(chunks_on_all, fmt::format("round {}", k + 1), std::move(spoiled));
    }
  }

  void turn_root() {
    PlanCase turned = at_;
    turned.root = (at_.root + 1) % at_.size;
    const Schedule wrong = schedule_of(algorithm_, turned);
    add(wrong_root, "all ranks", wrong);
    for (std::size_t r = 0; r < right_.size(); ++r) {
      Schedule spoiled = right_;
      spoiled[r] = wrong[r];
      add(wrong_root_on_one, fmt::format("rank {}", r), std::move(spoiled));
    }
  }

  const Algorithm& algorithm_;
  PlanCase at_;
  Schedule right_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> mutants_of(const Algorithm& algorithm, const PlanCase& at) {
  return Planter(algorithm, at).plant();
}

}  // namespace pdsim::mutants
