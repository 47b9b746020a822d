#include "scenarios/diagnosis/analysis/schedule_difference.h"

#include "scenarios/diagnosis/analysis/call_alignment.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace pdsim::scenarios {
namespace {

using Calls = std::vector<ScheduledCall>;

Calls of_group(const Schedule& schedule, const ScheduleClass& of, const std::string& group) {
  Calls calls;
  for (const ScheduledCall& call : of.calls)
    if (schedule.sites[static_cast<std::size_t>(call.site)].group == group) calls.push_back(call);
  return calls;
}

// Which sites of two classes may be two places of one call.
class Twins {
 public:
  Twins(const Schedule& schedule, const Calls& a, const Calls& b) : schedule_(schedule) {
    for (const ScheduledCall& call : a) of_a_.insert(call.site);
    for (const ScheduledCall& call : b) of_b_.insert(call.site);
  }
  int cost(const ScheduledCall& a, const ScheduledCall& b) const {
    if (a.step != b.step) return CallAlignment::never;
    if (a.site == b.site) return 0;
    if (!are_twins(a.site, b.site)) return CallAlignment::never;
    constexpr int same_arguments = 3, other_arguments = 5;
    return site(a.site).arguments == site(b.site).arguments ? same_arguments : other_arguments;
  }
  bool are_twins(int a, int b) const {
    const ScheduledSite &x = site(a), &y = site(b);
    const bool other_tensor = !x.tensor.empty() && !y.tensor.empty() && x.tensor != y.tensor;
    return x.operation == y.operation && !other_tensor && of_b_.count(a) == 0 && of_a_.count(b) == 0;
  }
  // Whether the first side alone has the place `a`, and the other side makes the same call at `b`, where the first may make it in other steps.
  bool is_line_of_mine(int a, int b) const {
    return site(a).operation == site(b).operation && site(a).arguments == site(b).arguments && of_b_.count(a) == 0;
  }
  // Whether two places speak of one call, of which more than its kind is known: what it holds, or what the call between does not pass.
  bool are_one_call(int a, int b, int between) const {
    const ScheduledSite &x = site(a), &y = site(b);
    if (a == b || (!x.tensor.empty() && x.tensor == y.tensor)) return true;
    if (x.arguments != y.arguments || between < 0) return false;
    return site(between).operation != x.operation || site(between).arguments != x.arguments;
  }

 private:
  const ScheduledSite& site(int index) const { return schedule_.sites[static_cast<std::size_t>(index)]; }
  const Schedule& schedule_;
  std::set<int> of_a_, of_b_;
};

void add(std::vector<CallsApart>& to, const ScheduledCall& call) {
  const auto known = std::find_if(to.begin(), to.end(), [&](const CallsApart& c) { return c.site == call.site; });
  if (known == to.end())
    to.push_back({call.site, {call.step}});
  else
    known->steps.push_back(call.step);
}

struct Edit {
  ScheduledCall call;
  bool mine = false;     // else theirs
  std::size_t at = 0;    // in the alignment
  bool is_moved = false;
};

// Pairs what one side lacks with the same call that it has elsewhere.
void find_moved(const std::vector<Aligned>& path, const Calls& mine, const Twins& twins, std::vector<Edit>& edits,
                std::vector<CallMoved>& moved) {
  for (Edit& a : edits) {
    if (!a.mine || a.is_moved) continue;
    const auto other = std::find_if(edits.begin(), edits.end(), [&](const Edit& b) {
      return !b.mine && !b.is_moved && b.call.step == a.call.step &&
             (b.call.site == a.call.site || twins.are_twins(a.call.site, b.call.site) || twins.is_line_of_mine(a.call.site, b.call.site));
    });
    if (other == edits.end()) continue;
    CallMoved found{a.call.site, other->call.site, a.call.step, -1};
    for (std::size_t i = std::min(a.at, other->at); i < std::max(a.at, other->at); ++i)
      if (path[i].is_pair()) found.past = mine[path[i].a].site;
    if (!twins.are_one_call(a.call.site, other->call.site, found.past)) continue;
    a.is_moved = other->is_moved = true;
    moved.push_back(found);
  }
}

struct Compared {
  ScheduleDifference difference;
  std::vector<Edit> edits;
};

Compared compare(const Schedule& schedule, const Calls& mine, const Calls& theirs) {
  const Twins twins(schedule, mine, theirs);
  const std::vector<Aligned> path =
      align_calls(mine.size(), theirs.size(), [&](std::size_t a, std::size_t b) { return twins.cost(mine[a], theirs[b]); });
  Compared found;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i].is_pair()) continue;
    const bool is_mine = path[i].a != Aligned::none;
    found.edits.push_back({is_mine ? mine[path[i].a] : theirs[path[i].b], is_mine, i, false});
  }
  constexpr std::size_t most_searched = 2000;
  if (found.edits.size() <= most_searched) find_moved(path, mine, twins, found.edits, found.difference.moved);
  for (const Edit& edit : found.edits)
    if (!edit.is_moved) add(edit.mine ? found.difference.extra : found.difference.left_out, edit.call);
  return found;
}

bool stands_in(const RankLog& log, const Call& call, const Mark& loop) {
  for (const Call* around = enclosing(log, call); around != nullptr; around = enclosing(log, *around))
    if (around->site.line == loop.line && around->site.column == loop.column) return true;
  return false;
}

bool rebuilds(const Call& call) {
  return call.purpose.kind == PurposeKind::rebuild_order || call.purpose.kind == PurposeKind::rebuild_sizes;
}

// DDP brings its buckets into a new order in the forward after the first backward: a part of the backward that follows.
bool is_before_backward(const Schedule& schedule, const RankLog& log, const Call& call, const ScheduledSite& site,
                        int step) {
  return rebuilds(call) && site.operation == "backward" && site.loop >= 0 && call.site.step == step &&
         stands_in(log, call, schedule.loops[static_cast<std::size_t>(site.loop)].mark);
}

bool is_called_in(const Schedule& schedule, const Call& call, const ScheduledSite& site) {
  return call.group == site.group || std::any_of(schedule.mesh_groups.begin(), schedule.mesh_groups.end(), [&](const ScheduledGroup& g) {
           return g.dimension == site.group && g.name == call.group;
         });
}

// Whether a recorded call is one that an operation of the program made.
bool is_of(const Schedule& schedule, const RankLog& log, const Call& call, const ScheduledSite& site, int step) {
  if (call.layer != Layer::collective || call.site.step != step || !is_called_in(schedule, call, site)) return false;
  if (is_before_backward(schedule, log, call, site, step)) return true;
  if (call.site.line != site.mark.line || call.site.column != site.mark.column) return false;
  if (!site.of_wrapper || site.operation == "eval") return true;
  const Call* around = enclosing(log, call);
  return around == nullptr || around->name == site.operation;
}

const Call* first_call_of(const Schedule& schedule, const RunRecord& run, const std::vector<Rank>& ranks,
                          const ScheduledSite& site, int step, Rank& by) {
  const Call* first = nullptr;
  constexpr std::size_t most_asked = 8;  // of one class, which does the same
  for (std::size_t i = 0; i < ranks.size() && i < most_asked; ++i) {
    const RankLog& log = log_of(run, ranks[i]);
    for (const Call& call : log.calls) {
      if (!is_of(schedule, log, call, site, step) || (first != nullptr && first->issued <= call.issued)) continue;
      first = &call;
      by = ranks[i];
      break;
    }
  }
  return first;
}

bool same_line(const Call& a, const Call& b) { return a.site.line == b.site.line && a.site.column == b.site.column; }

bool same_place(const Call& a, const Call& b) { return same_line(a, b) && a.site.step == b.site.step; }

// The site in the schedule that made this call; -1: none is known.
int site_of(const Schedule& schedule, const RankLog& log, const Call& call) {
  for (std::size_t i = 0; i < schedule.sites.size(); ++i)
    if (is_of(schedule, log, call, schedule.sites[i], call.site.step)) return static_cast<int>(i);
  return -1;
}

bool is_held_back(const Schedule& schedule, Rank rank, const ScheduledCall& call) {
  const ScheduleClass* of = class_of(schedule, rank);
  return of != nullptr && std::find(of->held_back.begin(), of->held_back.end(), call) != of->held_back.end();
}

// Whether two calls are made by one operation of a step, which one of the ranks runs inside of no_sync: some of DDP's own are made there too.
bool is_one_operation(const Schedule& schedule, Rank my_rank, const ScheduledCall& mine, Rank their_rank, const ScheduledCall& theirs) {
  const auto operation = [&](const ScheduledCall& c) { return schedule.sites[static_cast<std::size_t>(c.site)].operation; };
  return mine.step == theirs.step && operation(mine) == operation(theirs) &&
         (is_held_back(schedule, my_rank, mine) || is_held_back(schedule, their_rank, theirs));
}

std::optional<CallsMet> first_met(const Report& report, const ScheduleDifference& d, const Twins& twins) {
  const RankLog& mine = log_of(report.run, d.culprits.front());
  const RankLog& theirs = log_of(report.run, d.others.front());
  for (const Call& call : mine.calls) {
    if (call.layer != Layer::collective || call.group != d.group || call.seq < 0) continue;
    const Call* other = collective_at(theirs, d.group, call.seq);
    if (other == nullptr || same_place(call, *other)) continue;
    const int a = site_of(report.schedule, mine, call), b = site_of(report.schedule, theirs, *other);
    if (a < 0 || b < 0) continue;  // the wrapper's constructor, say
    if (call.site.step == other->site.step && twins.are_twins(a, b)) continue;
    if (call.site.step == other->site.step && rebuilds(call) && rebuilds(*other)) continue;
    if (is_one_operation(report.schedule, mine.rank, {a, call.site.step}, theirs.rank, {b, other->site.step})) continue;
    return CallsMet{&call, other, mine.rank, theirs.rank};
  }
  return std::nullopt;
}

bool runs(const Schedule& schedule, Rank rank, int loop) {
  const ScheduleClass* of = class_of(schedule, rank);
  return of != nullptr && loop >= 0 && static_cast<std::size_t>(loop) < of->rounds.size() && of->rounds[static_cast<std::size_t>(loop)] > 0;
}

bool makes(const Schedule& schedule, Rank rank, int site) {
  const ScheduleClass* of = class_of(schedule, rank);
  return of != nullptr && std::any_of(of->calls.begin(), of->calls.end(), [site](const ScheduledCall& c) { return c.site == site; });
}

bool waits_in_message(const Report& report, const std::vector<Rank>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), [&](Rank r) {
    const Call* call = call_held_in(report.run, r);
    return call != nullptr && call->layer == Layer::point_to_point;
  });
}

bool waits_in(const Report& report, const std::vector<Rank>& ranks, const std::string& group) {
  return std::any_of(ranks.begin(), ranks.end(), [&](Rank r) {
    const Call* call = call_held_in(report.run, r);
    return call != nullptr && call->layer == Layer::collective && call->group == group;
  });
}

// In a tie: a side that alone has calls of its own, behind a condition that names ranks, is the one that made them. A call that met
// nothing is missing where nobody made it, and so is a batch of a loop, and what both make in other steps.
// Of two sides, one that waits in a message while the other waits in a collective has gone past that.
void settle_tie(const Report& report, ScheduleDifference& d) {
  const Schedule& schedule = report.schedule;
  const bool one_sided = d.moved.empty() && (d.extra.empty() != d.left_out.empty());
  if (!one_sided) return;
  const CallsApart& apart = d.extra.empty() ? d.left_out.front() : d.extra.front();
  const ScheduledSite& site = schedule.sites[static_cast<std::size_t>(apart.site)];
  const std::vector<CallsApart>& all = d.extra.empty() ? d.left_out : d.extra;
  // Batches of a loop of one's own; in a loop that both run it is a call of its own.
  const bool trains = std::any_of(all.begin(), all.end(), [&](const CallsApart& c) {
    const ScheduledSite& of = schedule.sites[static_cast<std::size_t>(c.site)];
    return (of.operation == "forward" || of.operation == "backward") &&
           !(runs(schedule, d.culprits.front(), of.loop) && runs(schedule, d.others.front(), of.loop));
  });
  const bool is_of_both =
      makes(schedule, d.culprits.front(), apart.site) && makes(schedule, d.others.front(), apart.site);
  // One backward in several steps more, of which both make some: each side may have its own number of steps between two of them.
  const bool is_another_rhythm = d.met && same_line(*d.met->mine, *d.met->theirs) && site.of_wrapper && apart.steps.size() > 1 && all.size() == 1 &&
                                 makes(schedule, d.culprits.front(), apart.site) && makes(schedule, d.others.front(), apart.site);
  if (is_another_rhythm) return;
  const bool went_past = waits_in_message(report, d.extra.empty() ? d.culprits : d.others) &&
                         waits_in(report, d.extra.empty() ? d.others : d.culprits, d.group);
  const bool by_maker = !went_past && d.met.has_value() && site.names_ranks && !(site.names_steps && is_of_both) && !trains;
  d.tie = false;
  if (by_maker == !d.extra.empty()) return;
  std::swap(d.culprits, d.others);
  std::swap(d.extra, d.left_out);
}

// What these ranks run inside of no_sync where the others synchronise; empty unless that is all that they leave out.
std::vector<CallsApart> held_back_in(const Schedule& schedule, Rank rank, const ScheduleDifference& d) {
  const ScheduleClass* of = class_of(schedule, rank);
  const auto operation = [&](int site) -> const std::string& { return schedule.sites[static_cast<std::size_t>(site)].operation; };
  std::vector<CallsApart> held;
  if (of == nullptr || !d.extra.empty() || !d.moved.empty()) return held;
  for (const CallsApart& left_out : d.left_out)
    for (const int step : left_out.steps) {
      const auto same = std::find_if(of->held_back.begin(), of->held_back.end(), [&](const ScheduledCall& c) {
        return c.step == step && operation(c.site) == operation(left_out.site);
      });
      if (same == of->held_back.end()) return {};
      add(held, *same);
    }
  return held;
}

// Of two classes whose calls are those of one group.
std::optional<ScheduleDifference> of_classes(const Report& report, const ScheduleClass& minority,
                                             const ScheduleClass& majority, const std::string& group) {
  const Schedule& schedule = report.schedule;
  const Calls &mine = minority.calls, &theirs = majority.calls;
  const std::vector<Rank>& silent = mine.empty() ? minority.ranks : majority.ranks;
  const std::vector<Rank>& callers = mine.empty() ? majority.ranks : minority.ranks;
  // Ranks that make no call of the world may have no part in it, as those of a server; not where the callers wait for ranks that went past.
  const bool is_outside = group == world_group && (mine.empty() || theirs.empty()) &&
                          !(waits_in_message(report, silent) && waits_in(report, callers, group));
  if (mine == theirs || is_outside) return std::nullopt;
  Compared compared = compare(schedule, mine, theirs);
  if (compared.edits.empty()) return std::nullopt;
  ScheduleDifference& d = compared.difference;
  d.group = group;
  d.culprits = minority.ranks;
  d.others = majority.ranks;
  d.tie = minority.ranks.size() == majority.ranks.size();
  for (const Edit& edit : compared.edits) {
    const ScheduledSite& site = schedule.sites[static_cast<std::size_t>(edit.call.site)];
    const std::vector<Rank>& makers = edit.mine ? minority.ranks : majority.ranks;
    d.first = first_call_of(schedule, report.run, makers, site, edit.call.step, d.first_rank);
    if (d.first != nullptr) break;
  }
  if (d.first == nullptr) return std::nullopt;
  d.met = first_met(report, d, Twins(schedule, mine, theirs));
  if (d.tie) settle_tie(report, d);
  d.held_back = held_back_in(schedule, d.culprits.front(), d);
  if (d.met && d.met->my_rank != d.culprits.front()) {
    std::swap(d.met->mine, d.met->theirs);
    std::swap(d.met->my_rank, d.met->their_rank);
  }
  return d;
}

// Whether the rank is in the group, which the run made once, or each time of the same ranks.
bool is_member(const RunRecord& run, Rank rank, const std::string& group) {
  const std::vector<Rank>* members = nullptr;
  for (const RankResult& result : run.ranks)
    for (const Note* note : notes_of<notes::GroupMade>(result.log)) {
      const auto& made = note->as<notes::GroupMade>();
      if (made.group != group) continue;
      if (members != nullptr && *members != made.ranks) return false;
      members = &made.ranks;
    }
  return members != nullptr && std::find(members->begin(), members->end(), rank) != members->end();
}

Time shown_at(const ScheduleDifference& d) { return d.met ? std::min(d.met->mine->issued, d.first->issued) : d.first->issued; }

// Sorts the ranks of a group by their calls in it: programs that make the same ones are one class there. `members`: of a group of the mesh.
std::vector<ScheduleClass> classes_in(const Report& report, const std::string& scheduled_in, const std::vector<Rank>* members) {
  std::vector<ScheduleClass> alike;
  for (const ScheduleClass& of : report.schedule.classes) {
    std::vector<Rank> ranks = of.ranks;
    if (members != nullptr) {
      ranks.clear();
      std::set_intersection(of.ranks.begin(), of.ranks.end(), members->begin(), members->end(), std::back_inserter(ranks));
    }
    if (ranks.empty()) continue;
    Calls calls = of_group(report.schedule, of, scheduled_in);
    const bool may_be_outside = calls.empty() && members == nullptr && scheduled_in != world_group;
    if (may_be_outside && !is_member(report.run, ranks.front(), scheduled_in)) continue;
    const auto same = std::find_if(alike.begin(), alike.end(), [&](const ScheduleClass& c) { return c.calls == calls; });
    if (same == alike.end())
      alike.push_back({std::move(ranks), std::move(calls), {}, {}});
    else
      same->ranks.insert(same->ranks.end(), ranks.begin(), ranks.end());
  }
  for (ScheduleClass& of : alike) std::sort(of.ranks.begin(), of.ranks.end());
  return alike;
}

// Keeps the difference of a group if it shows before the first that is known.
void compare_in(const Report& report, const std::string& scheduled_in, const ScheduledGroup* of_mesh, std::optional<ScheduleDifference>& first) {
  const std::vector<ScheduleClass> alike = classes_in(report, scheduled_in, of_mesh != nullptr ? &of_mesh->ranks : nullptr);
  const auto largest = std::max_element(alike.begin(), alike.end(), [](const ScheduleClass& a, const ScheduleClass& b) {
    return a.ranks.size() < b.ranks.size();
  });
  for (const ScheduleClass& of : alike) {
    if (&of == &*largest) continue;
    std::optional<ScheduleDifference> found = of_classes(report, of, *largest, of_mesh != nullptr ? of_mesh->name : scheduled_in);
    if (!found || (first && shown_at(*first) <= shown_at(*found))) continue;
    first = std::move(found);
    first->scheduled_in = scheduled_in;
  }
}

}  // namespace

std::optional<ScheduleDifference> schedule_difference(const Report& report) {
  const Schedule& schedule = report.schedule;
  constexpr std::size_t most_classes = 64;
  if (schedule.classes.size() < 2 || schedule.classes.size() > most_classes) return std::nullopt;
  std::set<std::string> groups;
  for (const ScheduledSite& site : schedule.sites) groups.insert(site.group);
  std::optional<ScheduleDifference> first;
  for (const std::string& group : groups) {
    bool is_of_mesh = false;
    for (const ScheduledGroup& one : schedule.mesh_groups) {
      if (one.dimension != group) continue;
      is_of_mesh = true;
      compare_in(report, group, &one, first);
    }
    if (!is_of_mesh) compare_in(report, group, nullptr, first);
  }
  return first;
}

std::vector<std::int64_t> rounds_by_rank(const Schedule& schedule, int site, std::size_t ranks) {
  std::vector<std::int64_t> rounds(ranks, 0);
  for (const ScheduleClass& of : schedule.classes) {
    const std::int64_t made =
        std::count_if(of.calls.begin(), of.calls.end(), [site](const ScheduledCall& c) { return c.site == site; });
    for (const Rank rank : of.ranks) rounds[static_cast<std::size_t>(rank)] = made;
  }
  return rounds;
}

}  // namespace pdsim::scenarios
