#include "sim/network/faults.h"

#include <algorithm>
#include <cmath>

namespace pdsim::sim {
namespace {

bool separated(const std::vector<std::vector<int>>& groups, Rank a, Rank b) {
  const auto group_of = [&](Rank r) {
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (std::find(groups[g].begin(), groups[g].end(), r) != groups[g].end()) return static_cast<int>(g);
    return -1;
  };
  const int ga = group_of(a);
  const int gb = group_of(b);
  return ga >= 0 && gb >= 0 && ga != gb;
}

EnumSet<CollectiveKind> kinds_named(const std::string& op) {
  EnumSet<CollectiveKind> kinds;
  for (const CollectiveRow& kind : collective_table)
    if (op.empty() || op == kind.name) kinds.add(kind.kind);
  return kinds;
}

std::vector<bool> bits_of(const IntSet& set, int ranks) {
  std::vector<bool> bits(static_cast<std::size_t>(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) bits[static_cast<std::size_t>(rank)] = set.contains(rank);
  return bits;
}

Time scaled(Time t, double factor) {
  return {static_cast<std::int64_t>(std::llround(static_cast<double>(t.ps) * factor))};
}

}  // namespace

Faults::Faults(const WorldSpec& spec) : world_(spec) {
  for (const FaultSpec& f : spec.faults)
    rules_.push_back({f, &row_of(f.kind), kinds_named(f.match.op), bits_of(f.match.from, spec.ranks()),
                      bits_of(f.match.to, spec.ranks()), bits_of(f.match.rank, spec.ranks()), 0,
                      std::vector<Time>(static_cast<std::size_t>(spec.ranks()), Time::max())});
  watched_.resize(static_cast<std::size_t>(spec.ranks()));
  for (const Rule& rule : rules_)
    for (std::size_t rank = 0; rank < watched_.size(); ++rank)
      if (rule.row->strikes == Strikes::groups || (rule.row->strikes == Strikes::messages && rule.sent_by[rank]))
        watched_[rank] = true;
}

void Faults::begin_launch(std::int64_t launch, Time now) {
  launch_ = launch;
  launched_at_ = now;
  for (Rule& rule : rules_) std::fill(rule.since.begin(), rule.since.end(), Time::max());
}

bool Faults::holds(const Rule& rule, Rank rank, Time now) const {
  const FaultSpec& f = rule.spec;
  if (f.at.launch && *f.at.launch != launch_) return false;
  Time from = f.at.time.value_or(launched_at_);
  if (f.at.step || !f.at.before.empty()) from = rule.since[static_cast<std::size_t>(rank)];
  if (now < from) return false;
  return !f.duration || from == Time::max() || now - from < *f.duration;
}

MessageVerdict Faults::on_message(Rank from, Rank to, CollectiveKind op, Time now) {
  const auto sender = static_cast<std::size_t>(from), receiver = static_cast<std::size_t>(to);
  MessageVerdict verdict;
  for (Rule& rule : rules_) {
    const FaultSpec& f = rule.spec;
    if (rule.row->strikes == Strikes::ranks) continue;
    if (rule.row->strikes == Strikes::groups) {
      if (!holds(rule, from, now) || !separated(f.groups, from, to)) continue;
      verdict.fault = FaultKind::drop;
      verdict.fate = rule.row->message;
      continue;
    }
    const bool matches = rule.sent_by[sender] && rule.received_by[receiver] &&
                         (rule.one_end[sender] || rule.one_end[receiver]) && rule.ops.has(op);
    if (!matches || !holds(rule, from, now) || !f.match.nth.contains(++rule.matched)) continue;
    if (f.kind == FaultKind::delay) {
      verdict.delay += f.by;
    } else if (!verdict.fault) {
      verdict.fault = f.kind;
      verdict.fate = rule.row->message;
    }
  }
  return verdict;
}

PointVerdict Faults::on_reach(Rank rank, int step, std::string_view operation, Time now) {
  PointVerdict verdict;
  for (Rule& rule : rules_) {
    const FaultSpec& f = rule.spec;
    Time& since = rule.since[static_cast<std::size_t>(rank)];
    const bool point = (!f.at.step || *f.at.step == step) && (f.at.before.empty() || f.at.before == operation) &&
                       (f.at.step || !f.at.before.empty()) && (!f.at.launch || *f.at.launch == launch_);
    if (point && since == Time::max()) since = now;
    const bool at_start = !f.at.step && f.at.before.empty() && !f.at.time;
    if (rule.row->rank == RankFate::goes_on || !f.match.rank.contains(rank)) continue;
    if (!f.match.op.empty() && f.match.op != operation) continue;
    if (!(point || (at_start && holds(rule, rank, now)))) continue;
    if (f.match.nth.contains(++rule.matched) && !verdict.fault) {
      verdict.fault = f.kind;
      verdict.hang_for = f.duration.value_or(Time::max());
    }
  }
  return verdict;
}

Time Faults::stretched(Time usual, Rank rank, Time now) const {
  double factor = world_.work_of(rank);
  for (const Rule& rule : rules_)
    if (rule.spec.kind == FaultKind::slow && rule.spec.match.rank.contains(rank) && holds(rule, rank, now))
      factor *= rule.spec.factor;
  return factor == 1.0 ? usual : Time{std::llround(static_cast<double>(usual.ps) * factor)};
}

Time Faults::start_delay(Rank rank) const {
  Time delay{};
  for (const Rule& rule : rules_) {
    const FaultSpec& f = rule.spec;
    if (f.kind != FaultKind::slow || !f.match.rank.contains(rank) || !f.duration || f.at.launch != launch_) continue;
    if (f.factor > 1) delay += scaled(*f.duration, f.factor - 1);
  }
  return delay;
}

Time Faults::local_time(Rank rank, Time t) const {
  Time local = t;
  for (const Rule& rule : rules_)
    if (rule.spec.kind == FaultKind::skew && rule.spec.match.rank.contains(rank))
      local += rule.spec.offset + Time{t.ps / 1'000'000 * rule.spec.drift.value};
  return local;
}

Time Faults::real_time(Rank rank, Time local) const {
  if (local == Time::max()) return local;
  // Two steps of fixed-point iteration: drifts are parts per million.
  Time t = local;
  for (int i = 0; i < 2; ++i) t = t - (local_time(rank, t) - local);
  return t;
}

std::vector<Faults::Timed> Faults::timed() const {
  std::vector<Timed> list;
  for (const Rule& rule : rules_) {
    const FaultSpec& f = rule.spec;
    if (rule.row->rank == RankFate::goes_on || !f.at.time || (f.at.launch && *f.at.launch != launch_)) continue;
    for (Rank r = 0; r < world_.ranks(); ++r)
      if (f.match.rank.contains(r))
        list.push_back({r, *f.at.time, f.kind, f.duration.value_or(Time::max())});
  }
  return list;
}

}  // namespace pdsim::sim
