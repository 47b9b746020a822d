#include "scenarios/diagnosis/rules/training/replicas/replica_states.h"

#include "scenarios/diagnosis/rules/training/replicas/replica_causes.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

using notes::ReplicaMoment;
using notes::ReplicaState;

const ReplicaState& state_in(const Note* note) { return note->as<ReplicaState>(); }

// One rank's notes about one replica, in order.
struct Account {
  Rank rank = 0;
  std::vector<std::string> parameters;
  std::vector<const Note*> notes;
  bool hooked = false;
};

// The accounts of the ranks that wrapped one model together.
using Replica = std::vector<Account>;

bool is_about(const Note& note, const std::string& replica) {
  if (note.is<ReplicaState>()) return note.as<ReplicaState>().replica == replica;
  if (note.is<notes::StepSkipped>()) return note.as<notes::StepSkipped>().replica == replica;
  if (note.is<notes::WrapperBypassed>()) return note.as<notes::WrapperBypassed>().replica == replica;
  // In a scenario one step is of all parts of the model.
  return note.is<notes::OptimizerStep>() &&
         (note.as<notes::OptimizerStep>().replica == replica || note.as<notes::OptimizerStep>().replica.empty());
}

Account account_of(const RankLog& log, const notes::ReplicaMade& made) {
  Account account{log.rank, made.parameters, {}, false};
  for (const Note& note : log.notes) {
    if (note.is<notes::ReplicaHooked>() && note.as<notes::ReplicaHooked>().replica == made.replica) account.hooked = true;
    if (is_about(note, made.replica)) account.notes.push_back(&note);
  }
  return account;
}

// Where the ranks have other parameters under one wrapper, other rules speak.
std::vector<Replica> replicas_of(const Report& report) {
  std::map<std::pair<std::vector<Rank>, std::size_t>, Replica> by_model;
  for (const RankResult& result : report.run.ranks) {
    std::map<std::vector<Rank>, std::size_t> counts;
    for (const Note* note : notes_of<notes::ReplicaMade>(result.log)) {
      const auto& made = note->as<notes::ReplicaMade>();
      by_model[{made.ranks, counts[made.ranks]++}].push_back(account_of(result.log, made));
    }
  }
  std::vector<Replica> replicas;
  for (auto& entry : by_model) {
    Replica& replica = entry.second;
    const auto is_other = [&](const Account& a) { return a.parameters != replica.front().parameters; };
    if (replica.size() > 1 && std::none_of(replica.begin(), replica.end(), is_other)) replicas.push_back(std::move(replica));
  }
  return replicas;
}

// A moment of the program at which states are compared: for each account the place of its state, or none.
struct Moment {
  std::vector<std::optional<std::size_t>> places;
  bool at_end = false;
  // A forward in no_sync: states that differ are not a finding yet, and equal ones show that the program averages.
  bool is_local = false;
};

bool has_moment(const Account& account, ReplicaMoment moment) {
  return std::any_of(account.notes.begin(), account.notes.end(), [&](const Note* note) {
    return note->is<ReplicaState>() && state_in(note).moment == moment;
  });
}

bool is_used(const Account& account) {
  return has_moment(account, ReplicaMoment::forward) || has_moment(account, ReplicaMoment::end);
}

// Returns, for each number of calls, the first forward in no_sync and the last other one, then the end; or each step.
std::vector<Moment> moments_of(const Replica& replica, bool at_steps) {
  std::map<std::pair<std::int64_t, bool>, Moment> moments;
  Moment end{std::vector<std::optional<std::size_t>>(replica.size()), true};
  for (std::size_t a = 0; a < replica.size(); ++a) {
    std::int64_t steps = 0;
    for (std::size_t n = 0; n < replica[a].notes.size(); ++n) {
      const Note* note = replica[a].notes[n];
      if (!note->is<ReplicaState>()) continue;
      const ReplicaMoment moment = state_in(note).moment;
      const bool is_local = moment == ReplicaMoment::local_forward;
      if (moment == ReplicaMoment::end) end.places[a] = n;
      const bool is_compared = moment == (at_steps ? ReplicaMoment::step : ReplicaMoment::forward) || (is_local && !at_steps);
      if (!is_compared) continue;
      if (at_steps) end.places[a] = n;
      Moment& made = moments[{at_steps ? steps++ : state_in(note).calls, !is_local}];
      made.is_local = is_local;
      made.places.resize(replica.size());
      if (!is_local || !made.places[a]) made.places[a] = n;
    }
  }
  std::vector<Moment> all;
  for (auto& [number, moment] : moments) all.push_back(std::move(moment));
  all.push_back(std::move(end));
  return all;
}

// The ranks that have each digest.
std::map<std::int64_t, std::vector<Rank>> camps_at(const std::vector<ReplicaWindow>& windows) {
  std::map<std::int64_t, std::vector<Rank>> camps;
  for (const ReplicaWindow& window : windows) camps[state_in(window.to).digest].push_back(window.rank);
  return camps;
}

// Returns the account's notes after the place `after`, up to `to`.
ReplicaWindow window_of(const Account& account, std::optional<std::size_t> after, std::size_t to) {
  ReplicaWindow window;
  window.rank = account.rank;
  window.to = account.notes[to];
  if (after) window.from = account.notes[*after];
  const Note* step = nullptr;
  for (std::size_t n = after ? *after + 1 : 0; n <= to; ++n) {
    const Note* note = account.notes[n];
    if (note->is<notes::OptimizerStep>()) step = note;
    if (note->is<notes::StepSkipped>()) window.skipped.push_back(note);
    if (note->is<notes::WrapperBypassed>() && window.bypass == nullptr) window.bypass = note;
    if (!note->is<ReplicaState>()) continue;
    if (window.from == nullptr && state_in(note).moment == ReplicaMoment::wrapped) window.from = note;
    if (state_in(note).moment != ReplicaMoment::step) continue;
    window.states.push_back(note);
    window.steps.push_back(step == nullptr ? note : step);
  }
  return window;
}

// The first step after which not all that made it have the same.
std::optional<std::size_t> first_step_apart(const std::vector<ReplicaWindow>& windows) {
  std::size_t most = 0;
  for (const ReplicaWindow& window : windows) most = std::max(most, window.states.size());
  for (std::size_t nth = 0; nth < most; ++nth) {
    const Note* first = nullptr;
    for (const ReplicaWindow& window : windows) {
      if (nth >= window.states.size()) return nth;  // it was left out there
      if (first == nullptr) first = window.states[nth];
      if (state_in(window.states[nth]).digest != state_in(first).digest) return nth;
    }
  }
  return std::nullopt;
}

std::vector<std::string> parameters_at(const Replica& replica, const std::vector<ReplicaWindow>& windows) {
  std::vector<std::string> names;
  const std::vector<std::string>& all = replica.front().parameters;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const std::vector<std::int64_t>& first = state_in(windows.front().to).digests;
    const bool differs = std::any_of(windows.begin(), windows.end(), [&](const ReplicaWindow& window) {
      const std::vector<std::int64_t>& mine = state_in(window.to).digests;
      return p < mine.size() && p < first.size() && mine[p] != first[p];
    });
    if (differs) names.push_back(all[p]);
  }
  return names;
}

bool all_steps_are_local(const std::vector<ReplicaWindow>& windows) {
  return std::all_of(windows.begin(), windows.end(), [](const ReplicaWindow& window) {
    return std::none_of(window.steps.begin(), window.steps.end(), [](const Note* step) {
      return !step->is<notes::OptimizerStep>() || step->as<notes::OptimizerStep>().synchronised;
    });
  });
}

// Whether states differed after a step, and the next ones that all have are the same: the program has averaged them itself.
bool has_made_equal(const std::vector<ReplicaWindow>& windows) { return first_step_apart(windows).has_value(); }

// A difference at the end is a finding if a step has caused it. A change after the last step, to save or to evaluate, is one
// that nobody trains on.
bool differs_since_a_step(const std::vector<ReplicaWindow>& windows, std::optional<std::size_t> nth) {
  if (!nth) return false;
  const std::size_t steps = windows.front().states.size();
  const auto has_others = [&](const ReplicaWindow& window) {
    return window.states.size() != steps ||
           (steps > 0 && state_in(window.states.back()).digest != state_in(windows.front().states.back()).digest);
  };
  return std::any_of(windows.begin(), windows.end(), has_others);
}

class Comparison {
 public:
  explicit Comparison(const Replica& replica)
      : replica_(replica), at_steps_(std::none_of(replica.begin(), replica.end(), is_used)), equal_(replica.size()) {}

  std::optional<ReplicasApart> first() {
    for (const Moment& moment : moments_of(replica_, at_steps_)) {
      const std::vector<ReplicaWindow> windows = windows_at(moment);
      if (windows.size() < 2) continue;
      const auto camps = camps_at(windows);
      const std::optional<std::size_t> nth = first_step_apart(windows);
      if (camps.size() > 1 && moment.is_local) continue;
      if (camps.size() > 1) {
        if (moment.at_end && !counts_at_end(windows, nth)) return std::nullopt;
        return apart(moment, windows, camps, nth);
      }
      averages_itself_ = averages_itself_ || has_made_equal(windows);
      for (std::size_t a = 0; a < replica_.size(); ++a)
        if (moment.places[a]) equal_[a] = std::max(equal_[a], moment.places[a]);
      ++moments_;
    }
    return std::nullopt;
  }

 private:
  std::vector<ReplicaWindow> windows_at(const Moment& moment) const {
    std::vector<ReplicaWindow> windows;
    for (std::size_t a = 0; a < replica_.size(); ++a)
      if (a < moment.places.size() && moment.places[a])
        windows.push_back(window_of(replica_[a], equal_[a], *moment.places[a]));
    return windows;
  }

  bool counts_at_end(const std::vector<ReplicaWindow>& windows, std::optional<std::size_t> nth) const {
    if (averages_itself_ && all_steps_are_local(windows)) return false;
    return differs_since_a_step(windows, nth);
  }

  std::size_t fewest_steps() const {
    std::size_t fewest = SIZE_MAX;
    for (const Account& account : replica_)
      fewest = std::min(fewest, static_cast<std::size_t>(std::count_if(
                                    account.notes.begin(), account.notes.end(),
                                    [](const Note* note) { return note->is<ReplicaState>(); })));
    return fewest;
  }

  ReplicasApart apart(const Moment& moment, std::vector<ReplicaWindow> windows,
                      const std::map<std::int64_t, std::vector<Rank>>& camps, std::optional<std::size_t> nth) const {
    ReplicasApart found;
    found.parameters = parameters_at(replica_, windows);
    found.ranks = minority_of(camps);
    found.nth = !at_steps_ ? nth : moment.at_end ? fewest_steps() : moments_;
    found.at_steps = at_steps_;
    found.at_end = moment.at_end;
    found.hooked = std::any_of(replica_.begin(), replica_.end(), [](const Account& a) { return a.hooked; });
    found.windows = std::move(windows);
    return found;
  }

  const Replica& replica_;
  bool at_steps_ = false;
  bool averages_itself_ = false;
  std::size_t moments_ = 0;  // at which all were the same
  std::vector<std::optional<std::size_t>> equal_;
};

}  // namespace

bool ReplicaWindow::changed_between() const {
  const Note* before = states.empty() ? from : states.back();
  return before != nullptr && before != to && state_in(before).digest != state_in(to).digest;
}

std::vector<Rank> ReplicasApart::members() const {
  std::vector<Rank> all;
  for (const ReplicaWindow& window : windows) all.push_back(window.rank);
  return all;
}

const Note* ReplicasApart::step() const {
  for (const ReplicaWindow& window : windows) {
    if (at_steps && !window.steps.empty()) return window.steps.back();
    if (!at_steps && nth && *nth < window.steps.size()) return window.steps[*nth];
  }
  return nullptr;
}

Rank ReplicasApart::rank_of_step() const {
  for (const ReplicaWindow& window : windows)
    if (at_steps ? !window.steps.empty() : nth && *nth < window.steps.size()) return window.rank;
  return no_rank;
}

std::optional<ReplicasApart> replicas_apart(const Report& report) {
  std::optional<ReplicasApart> first;
  for (const Replica& replica : replicas_of(report)) {
    std::optional<ReplicasApart> found = Comparison(replica).first();
    if (found && (!first || found->windows.front().to->at < first->windows.front().to->at)) first = std::move(found);
  }
  return first;
}

bool has_used_states(const Report& report) {
  return std::any_of(report.run.ranks.begin(), report.run.ranks.end(), [](const RankResult& result) {
    return std::any_of(result.log.notes.begin(), result.log.notes.end(), [](const Note& note) {
      return note.is<ReplicaState>() && state_in(&note).moment != ReplicaMoment::step;
    });
  });
}

}  // namespace pdsim::scenarios::diagnoses
