#include "scenarios/diagnosis/rules/program_changes.h"

#include "scenarios/diagnosis/rules/calls/loop_rounds.h"
#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

// An operation of the program, for a change of another copy of the scenario.
struct Place {
  int line = 0, column = 0;
  std::string operation;
  bool is_at(const Operation& op) const {
    return op.mark.line == line && op.mark.column == column && op.name == operation;
  }
};

Place place_of(const Mark& mark, const std::string& operation) { return {mark.line, mark.column, operation}; }

bool holds(const Operation& op, const Place& place) {
  return place.is_at(op) ||
         std::any_of(op.body.begin(), op.body.end(), [&](const Operation& inner) { return holds(inner, place); });
}

// The operation, and what stands around it, for every rank that makes this launch.
void for_every_rank(std::vector<Operation>& program, const Place& place) {
  for (Operation& op : program) {
    if (!holds(op, place)) continue;
    for (Selector& s : op.when.any) s.rank = s.node = IntSet::all();
    for_every_rank(op.body, place);
  }
}

void erase(std::vector<Operation>& program, const Place& place) {
  program.erase(std::remove_if(program.begin(), program.end(), [&](const Operation& op) { return place.is_at(op); }),
                program.end());
  for (Operation& op : program) erase(op.body, place);
}

void only_in(std::vector<Operation>& program, const Place& place, const std::vector<std::int64_t>& steps) {
  for (Operation& op : program) {
    if (place.is_at(op)) op.when.any = {Selector{IntSet::all(), IntSet::all(), IntSet::of(steps)}};
    only_in(op.body, place, steps);
  }
}

// The steps in which all ranks make the calls of a site.
std::vector<std::int64_t> common_steps(const Schedule& schedule, int site) {
  std::set<std::int64_t> common;
  for (std::size_t i = 0; i < schedule.classes.size(); ++i) {
    std::set<std::int64_t> steps;
    for (const ScheduledCall& call : schedule.classes[i].calls)
      if (call.site == site && call.step >= 0) steps.insert(call.step);
    if (i == 0) common = std::move(steps);
    else std::erase_if(common, [&](std::int64_t step) { return steps.count(step) == 0; });
  }
  return {common.begin(), common.end()};
}

std::vector<int> sites_of(const ScheduleDifference& d) {
  std::vector<int> sites;
  for (const auto* calls : {&d.left_out, &d.extra})
    for (const CallsApart& c : *calls) sites.push_back(c.site);
  return sites;
}

std::string named(const Schedule& schedule, const std::vector<int>& sites) {
  constexpr std::size_t most = 4;
  std::vector<std::string> names;
  for (const int site : sites) {
    const ScheduledSite& s = schedule.sites[static_cast<std::size_t>(site)];
    names.push_back(fmt::format("{} at line {}", s.operation, s.mark.line));
  }
  const std::size_t more = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, " and "), more > 0 ? fmt::format(" and {} more", more) : "");
}

// A loop of which no call is everybody's is left out as a whole, except where messages would go with it.
bool is_all_apart(const Schedule& schedule, int loop, const std::vector<int>& sites) {
  if (schedule.loops[static_cast<std::size_t>(loop)].has_messages) return false;
  for (std::size_t i = 0; i < schedule.sites.size(); ++i) {
    const int site = static_cast<int>(i);
    if (schedule.sites[i].loop != loop) continue;
    if (std::find(sites.begin(), sites.end(), site) == sites.end() || !common_steps(schedule, site).empty()) return false;
  }
  return true;
}

// Whether two operations stand behind the same `if`.
bool same_condition(const Operation& a, const Operation& b) {
  return std::equal(
      a.when.any.begin(), a.when.any.end(), b.when.any.begin(), b.when.any.end(),
      [](const Selector& x, const Selector& y) { return x.rank == y.rank && x.node == y.node && x.step == y.step; });
}

std::string named(const std::vector<Place>& places) {
  std::vector<std::string> names;
  for (const Place& p : places) names.push_back(fmt::format("{} at line {}", p.operation, p.line));
  return list_text(names);
}

bool is_of_a_step(const Operation& op) {
  constexpr std::array<std::string_view, 5> names{"zero_grad", "forward", "backward", "clip_grad_norm",
                                                  "optimizer_step"};
  return std::find(names.begin(), names.end(), op.name) != names.end();
}

// Adds the operations of a training step that stand beside one of these behind the same condition.
void add_rest_of_step(const std::vector<Operation>& program, const std::vector<Place>& places,
                      std::vector<Place>& rest) {
  for (const Operation& op : program) {
    const auto is_named = [&](const Operation& o) {
      return std::any_of(places.begin(), places.end(), [&](const Place& p) { return p.is_at(o); });
    };
    const bool is_beside =
        is_of_a_step(op) && !is_named(op) && std::any_of(program.begin(), program.end(), [&](const Operation& other) {
          return !other.when.any.empty() && is_of_a_step(other) && is_named(other) && same_condition(op, other);
        });
    if (is_beside) rest.push_back(place_of(op.mark, op.name));
    add_rest_of_step(op.body, places, rest);
  }
}

Cure everybody(const Schedule& schedule, const std::vector<int>& sites) {
  std::vector<Place> places;
  for (const int site : sites) {
    const ScheduledSite& s = schedule.sites[static_cast<std::size_t>(site)];
    places.push_back(place_of(s.mark, s.operation));
  }
  const bool trains =
      std::any_of(places.begin(), places.end(), [](const Place& p) { return p.operation == "forward" || p.operation == "backward"; });
  return {fmt::format("every rank makes {}{}", named(schedule, sites),
                      trains ? ", with the operations of the step behind the same condition" : ""),
          [places, trains](Scenario& changed) {
            std::vector<Place> rest;
            if (trains) add_rest_of_step(changed.program, places, rest);
            for (const Place& place : places) for_every_rank(changed.program, place);
            for (const Place& place : rest) for_every_rank(changed.program, place);
          },
          std::nullopt};
}

// Whether leaving these out leaves whole training loops out.
bool drops_training(const Schedule& schedule, const std::vector<int>& sites) {
  return std::any_of(sites.begin(), sites.end(), [&](int site) {
    const ScheduledSite& s = schedule.sites[static_cast<std::size_t>(site)];
    return s.operation == "backward" && s.loop >= 0 && is_all_apart(schedule, s.loop, sites);
  });
}

Cure nobody(const Schedule& schedule, const std::vector<int>& sites) {
  std::vector<std::pair<Place, std::vector<std::int64_t>>> edits;
  std::set<int> loops;
  bool in_common = false;
  for (const int site : sites) {
    const ScheduledSite& s = schedule.sites[static_cast<std::size_t>(site)];
    if (s.loop >= 0 && is_all_apart(schedule, s.loop, sites)) {
      const ScheduledLoop& loop = schedule.loops[static_cast<std::size_t>(s.loop)];
      if (loops.insert(s.loop).second) edits.push_back({place_of(loop.mark, loop.operation), {}});
    } else {
      edits.push_back({place_of(s.mark, s.operation), common_steps(schedule, site)});
      in_common = in_common || !edits.back().second.empty();
    }
  }
  const std::string what = in_common ? fmt::format("{} only in the steps in which all ranks make the call", named(schedule, sites))
                                     : fmt::format("no rank makes {}", named(schedule, sites));
  return {what,
          [edits](Scenario& changed) {
            for (const auto& [place, steps] : edits)
              steps.empty() ? erase(changed.program, place) : only_in(changed.program, place, steps);
          },
          std::nullopt};
}

// These operations, and those beside one of them behind the same condition, in the order of the program.
void add_with_companions(const std::vector<Operation>& program, const std::vector<Place>& places, std::vector<Place>& all) {
  for (const Operation& op : program) {
    const bool is_companion = std::any_of(program.begin(), program.end(), [&](const Operation& other) {
      return !other.when.any.empty() && same_condition(op, other) &&
             std::any_of(places.begin(), places.end(), [&](const Place& p) { return p.is_at(other); });
    });
    if (is_companion) all.push_back(place_of(op.mark, op.name));
    add_with_companions(op.body, places, all);
  }
}

// A cure: run what the others run in these places, instead of what the culprits run.
Cure as_the_others(const Report& report, const ScheduleDifference& d) {
  std::vector<Place> left_out, instead;
  for (const CallsApart& c : d.left_out) {
    const ScheduledSite& s = report.schedule.sites[static_cast<std::size_t>(c.site)];
    left_out.push_back(place_of(s.mark, s.operation));
  }
  for (const CallsApart& c : d.extra) {
    const ScheduledSite& s = report.schedule.sites[static_cast<std::size_t>(c.site)];
    if (!common_steps(report.schedule, c.site).empty()) return {};
    instead.push_back(place_of(s.mark, s.operation));
  }
  if (left_out.empty() || instead.empty()) return {};
  return {fmt::format("{} as {}: {}, with the operations behind the same condition, and not {}",
                      who(d.culprits, "does", "do"), short_ranks(d.others), named(left_out), named(instead)),
          [left_out, instead](Scenario& changed) {
            std::vector<Place> made;
            add_with_companions(changed.program, left_out, made);
            for (const Place& place : made) for_every_rank(changed.program, place);
            for (const Place& place : instead) erase(changed.program, place);
          },
          std::nullopt};
}

Cure in_order(const Schedule& schedule, const std::vector<CallMoved>& moved) {
  std::vector<std::pair<Place, Place>> edits;
  std::vector<int> sites;
  for (const CallMoved& m : moved) {
    const ScheduledSite& mine = schedule.sites[static_cast<std::size_t>(m.mine)];
    const ScheduledSite& theirs = schedule.sites[static_cast<std::size_t>(m.theirs)];
    if (m.mine == m.theirs || std::find(sites.begin(), sites.end(), m.theirs) != sites.end()) continue;
    sites.push_back(m.theirs);
    edits.emplace_back(place_of(mine.mark, mine.operation), place_of(theirs.mark, theirs.operation));
  }
  if (edits.empty()) return {};
  return {fmt::format("every rank makes {}, in one order", named(schedule, sites)),
          [edits](Scenario& changed) {
            for (const auto& [mine, theirs] : edits) {
              erase(changed.program, mine);
              for_every_rank(changed.program, theirs);
            }
          },
          std::nullopt};
}

void set_rounds(std::vector<Operation>& program, const Place& loop, std::int64_t rounds) {
  for (Operation& op : program) {
    if (loop.is_at(op) && op.if_is<TrainOptions>() != nullptr) op.options = TrainOptions{rounds};
    if (loop.is_at(op) && op.if_is<RepeatOptions>() != nullptr) op.options = RepeatOptions{rounds};
    set_rounds(op.body, loop, rounds);
  }
}

// A cure for two loops of which each side runs its own.
Cure equal_rounds(const Report& report, const ScheduleDifference& d) {
  const std::optional<LoopsApart> apart = loops_apart(report, d);
  if (!apart || apart->mine == apart->theirs) return {};
  const auto loop_at = [&](int loop) -> const ScheduledLoop& {
    return report.schedule.loops[static_cast<std::size_t>(loop)];
  };
  const bool is_mine = apart->my_rounds < apart->their_rounds;
  const ScheduledLoop &fewer = loop_at(is_mine ? apart->mine : apart->theirs),
                      &more = loop_at(is_mine ? apart->theirs : apart->mine);
  const std::int64_t rounds = std::min(apart->my_rounds, apart->their_rounds);
  return {fmt::format("the loop at line {} has {} round{}, as that at line {}", more.mark.line, rounds,
                      rounds == 1 ? "" : "s", fewer.mark.line),
          [place = place_of(more.mark, more.operation), rounds](Scenario& changed) {
            set_rounds(changed.program, place, rounds);
          },
          std::nullopt};
}

}  // namespace

void add_cures(Diagnosis& diagnosis, const Report& report, const ScheduleDifference& d) {
  const std::vector<int> sites = sites_of(d);
  const Cure ordered = in_order(report.schedule, d.moved);
  const auto add = [&](Cure cure) {
    if (ordered.change)
      cure.change = [first = ordered.change, then = cure.change](Scenario& s) {
        first(s);
        if (then) then(s);
      };
    if (ordered.change) cure.what = cure.what.empty() ? ordered.what : fmt::format("{}; {}", ordered.what, cure.what);
    if (cure.change) diagnosis.cures.push_back(std::move(cure));
  };
  if (sites.empty()) return add({});
  if (!d.held_back.empty()) add(without_no_sync());
  if (Cure cure = as_the_others(report, d); cure.change && !d.tie) {
    add(std::move(cure));
  } else {
    add(everybody(report.schedule, sites));
  }
  if (!drops_training(report.schedule, sites)) add(nobody(report.schedule, sites));
  if (Cure cure = equal_rounds(report, d); cure.change) add(std::move(cure));
}

Cure left_out(std::string what, const std::vector<std::pair<Mark, std::string>>& operations) {
  std::vector<Place> places;
  for (const auto& [mark, name] : operations) places.push_back(place_of(mark, name));
  return {std::move(what),
          [places](Scenario& changed) {
            for (const Place& place : places) erase(changed.program, place);
          },
          std::nullopt};
}

namespace {

bool receive_first(std::vector<Operation>& program, const SendFirst& circle, int node) {
  const auto send = std::find_if(program.begin(), program.end(), [&](const Operation& op) {
    return op.mark.line == circle.send.line && op.mark.column == circle.send.column;
  });
  const auto receive = std::find_if(send, program.end(), [&](const Operation& op) {
    return op.name == "recv" && op.when.selects(circle.rank, node, -1);
  });
  if (receive != program.end()) {
    std::rotate(send, receive, receive + 1);
    return true;
  }
  return std::any_of(program.begin(), program.end(),
                     [&](Operation& op) { return receive_first(op.body, circle, node); });
}

// The operation at each mark; empty where the list does not hold them all.
std::vector<std::size_t> indices_of(const std::vector<Operation>& program, const std::vector<Mark>& marks) {
  std::vector<std::size_t> indices;
  for (const Mark& mark : marks)
    for (std::size_t i = 0; i < program.size(); ++i)
      if (program[i].mark.line == mark.line && program[i].mark.column == mark.column) indices.push_back(i);
  return indices.size() == marks.size() ? indices : std::vector<std::size_t>();
}

bool reorder(std::vector<Operation>& program, const std::vector<Mark>& places, const std::vector<Mark>& wanted) {
  const std::vector<std::size_t> to = indices_of(program, places), from = indices_of(program, wanted);
  if (to.empty() || from.empty())
    return std::any_of(program.begin(), program.end(), [&](Operation& op) { return reorder(op.body, places, wanted); });
  const std::vector<Operation> before = program;
  for (std::size_t i = 0; i < to.size(); ++i) program[to[i]] = before[from[i]];
  return true;
}

}  // namespace

Cure in_this_order(std::string what, std::vector<Mark> places, std::vector<Mark> wanted) {
  return {std::move(what),
          [places = std::move(places), wanted = std::move(wanted)](Scenario& changed) { reorder(changed.program, places, wanted); },
          std::nullopt};
}

Cure receives_first(std::string what, const SendFirst& circle) {
  return {std::move(what),
          [circle](Scenario& changed) {
            receive_first(changed.program, circle, changed.world.spec.node_of(circle.rank));
          },
          std::nullopt};
}

}  // namespace pdsim::scenarios::diagnoses
