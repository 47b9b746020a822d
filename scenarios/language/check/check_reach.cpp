#include "core/semantics/library.h"
#include "core/semantics/profile.h"
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/document/problems.h"
#include "scenarios/language/tables/operations_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

constexpr std::string_view must_call = "every rank of the group must make the call, or the ranks that make it will wait";

// The groups that ranks make, each with its calls of new_group in order.
class GroupCalls {
 public:
  explicit GroupCalls(const Scenario& s) : s_(s), made_(static_cast<std::size_t>(s.world.spec.ranks())) {}

  void add(const Operation& op) {
    if ((budget_ -= static_cast<std::int64_t>(made_.size())) < 0) return;
    std::vector<bool>& callers = callers_[op.as<NewGroupOptions>().name];
    callers.resize(made_.size());
    for (std::size_t r = 0; r < made_.size(); ++r) {
      const int rank = static_cast<int>(r);
      if (!op.when.selects(rank, s_.world.spec.node_of(rank), -1)) continue;
      made_[r].push_back(&op);
      callers[r] = true;
    }
    calls_.push_back(&op);
  }

  void warn(Problems& problems) const {
    if (budget_ < 0) return;
    if (!needs_all_ranks()) {
      for (const Operation* call : calls_)
        if (warn_of_missing_member(*call, problems)) return;
    } else if (warn_of_counts(problems)) {
      return;
    }
    warn_of_order(problems);
  }

 private:
  // Before 2.x new_group ends in a barrier of all ranks in the store, and MPI makes a communicator with all of them.
  bool needs_all_ranks() const {
    const Profile* profile = profile_named(s_.world.spec.profile);
    const LibrarySemantics* library = library_named(s_.world.spec.backend);
    return (profile != nullptr && profile->store_barrier) || (library != nullptr && library->ranks_from_launcher);
  }

  static bool is_member(const Operation& call, std::size_t rank) {
    return call.as<NewGroupOptions>().ranks.contains(static_cast<std::int64_t>(rank));
  }

  bool warn_of_counts(Problems& problems) const {
    std::size_t most = 0;
    for (const auto& calls : made_) most = std::max(most, calls.size());
    std::vector<int> some;
    for (std::size_t r = 0; r < made_.size(); ++r)
      if (made_[r].size() == most) some.push_back(static_cast<int>(r));
    if (some.size() == made_.size()) return false;
    const auto first = std::find_if(calls_.begin(), calls_.end(), [](const Operation* op) { return !op->when.any.empty(); });
    if (first == calls_.end()) return false;
    problems.warning((*first)->mark,
                     fmt::format("only {} {} `new_group`", ranks_text(some), some.size() == 1 ? "calls" : "call"),
                     "here every rank of the world must make the call, or the ranks that make it will wait");
    return true;
  }

  bool warn_of_missing_member(const Operation& call, Problems& problems) const {
    const std::string& name = call.as<NewGroupOptions>().name;
    const std::vector<bool>& callers = callers_.at(name);
    std::vector<int> some;
    bool misses = false;
    for (std::size_t r = 0; r < made_.size(); ++r) {
      if (!is_member(call, r)) continue;
      if (callers[r]) some.push_back(static_cast<int>(r));
      misses = misses || !callers[r];
    }
    if (!misses || some.empty()) return false;
    problems.warning(call.mark,
                     fmt::format("only {} {} `new_group` of group `{}`", ranks_text(some), some.size() == 1 ? "calls" : "call", name),
                     std::string(must_call));
    return true;
  }

  // The n-th group has the same name in the store on every rank, so members of two lists would take each other for theirs.
  void warn_of_order(Problems& problems) const {
    std::size_t most = 0;
    for (const auto& calls : made_) most = std::max(most, calls.size());
    for (std::size_t n = 0; n < most; ++n) {
      const Operation* one = nullptr;
      const Operation* same = nullptr;  // the last with its members
      for (std::size_t r = 0; r < made_.size(); ++r) {
        const Operation* call = n < made_[r].size() ? made_[r][n] : nullptr;
        if (call == nullptr || !is_member(*call, r)) continue;
        if (one == nullptr) one = same = call;
        if (call == same) continue;
        if (!differ(*one, *call)) {
          same = call;
          continue;
        }
        problems.warning(call->mark, fmt::format("call {} of `new_group` is `{}` on {}, and `{}` on {}", n + 1, name_of(*one),
                                                 ranks_text(callers(*one, n)), name_of(*call), ranks_text(callers(*call, n))),
                         "all ranks must make all groups in one order: the store knows a group by its number alone");
        return;
      }
    }
  }

  static const std::string& name_of(const Operation& call) { return call.as<NewGroupOptions>().name; }

  bool differ(const Operation& a, const Operation& b) const {
    for (std::size_t r = 0; r < made_.size(); ++r)
      if (is_member(a, r) != is_member(b, r)) return true;
    return false;
  }

  std::vector<int> callers(const Operation& call, std::size_t n) const {
    std::vector<int> ranks;
    for (std::size_t r = 0; r < made_.size(); ++r)
      if (n < made_[r].size() && made_[r][n] == &call) ranks.push_back(static_cast<int>(r));
    return ranks;
  }

  const Scenario& s_;
  std::vector<std::vector<const Operation*>> made_;  // by rank
  std::map<std::string, std::vector<bool>> callers_;  // by group, of each rank
  std::vector<const Operation*> calls_;
  std::int64_t budget_ = 10'000'000;
};

// Calls of each rank, per collective and group: whom a rank with fewer calls keeps waiting.
class Reach {
 public:
  explicit Reach(const Scenario& s) : s_(s), ranks_(static_cast<std::size_t>(s.world.spec.ranks())), made_(s) {}

  void warn(Problems& problems) {
    count(s_.program, -1);
    for (const auto& [called, calls] : calls_)
      for (const Members& members : members_of(called.second))
        if (warn_of(called.first, calls, members, problems)) break;
    made_.warn(problems);
  }

 private:
  using Called = std::pair<std::string, std::string>;  // what, in which group
  struct Calls {
    std::vector<std::int64_t> counts;
    Mark mark{};
    std::string why;
  };
  struct Members {
    std::string group;
    std::vector<int> ranks;
  };

  static bool warn_of(const std::string& name, const Calls& calls, const Members& members, Problems& problems) {
    std::int64_t most = 0;
    for (const int rank : members.ranks) most = std::max(most, calls.counts[static_cast<std::size_t>(rank)]);
    std::vector<int> some;
    for (const int rank : members.ranks)
      if (calls.counts[static_cast<std::size_t>(rank)] == most) some.push_back(rank);
    if (some.size() == members.ranks.size()) return false;
    problems.warning(calls.mark,
                     fmt::format("only {} {} `{}`{}{}", ranks_text(some), some.size() == 1 ? "calls" : "call", name,
                                 members.group == world_group ? "" : fmt::format(" of group `{}`", members.group), calls.why),
                     std::string(must_call));
    return true;
  }

  void count(const std::vector<Operation>& program, std::int64_t steps) {
    for (const Operation& op : program) {
      const Key* row = operation_named(op.name);
      if (row == nullptr) continue;
      if (op.name == "join") continue;  // what ranks do not call there, DDP calls for them
      if (op.has_body) {
        const bool loops = op.name == "train" || (op.name == "repeat" && steps < 0);
        const std::int64_t times = loops ? std::min<std::int64_t>(op.rounds(), 64) : steps;
        if (op.when.any.empty()) count(op.body, times);
        if (!op.when.any.empty() && s_.ddp.wrap && op.name == "train")
          add(op, {"all_reduce", s_.ddp.group}, " (the gradients of `train`)", -1);
      }
      const auto* eval = op.if_is<EvalOptions>();
      if (eval != nullptr && eval->through == ThroughWrapper::ddp && broadcasts_buffers())
        add(op, {"broadcast", s_.ddp.group}, " (the buffers, before `eval` through the wrapper)", steps);
      if (const auto* made = op.if_is<NewGroupOptions>()) {
        groups_.try_emplace(made->name, made->ranks);
        made_.add(op);
      } else if (row->has(collective)) {
        add(op, {op.name, op.group()}, "", steps);
      }
      if (s_.fully_shard && gathers_parameters(op))
        add(op, {"all_gather", s_.fully_shard->group}, " (the shards of the parameters)", steps);
    }
  }

  static bool gathers_parameters(const Operation& op) {
    return op.name == "eval" || op.name == "forward" || op.name == "checkpoint" || op.name == "load_checkpoint";
  }

  bool broadcasts_buffers() const {
    return s_.ddp.wrap && s_.ddp.options.broadcast_buffers &&
           std::any_of(s_.model.spec.layers.begin(), s_.model.spec.layers.end(),
                       [](const auto& l) { return nn::has_buffers(l.kind); });
  }

  // A dimension of the mesh has one group for each line of ranks along it.
  std::vector<Members> members_of(const std::string& group) const {
    std::vector<Members> members;
    if (s_.mesh.named(group) != nullptr) {
      const auto lines = s_.mesh.groups(group, s_.world.spec.ranks());
      for (std::size_t line = 0; line < lines.size(); ++line)
        members.push_back({lines.size() == 1 ? group : fmt::format("{}_{}", group, line), lines[line]});
      return members;
    }
    const auto made = groups_.find(group);
    members.push_back({group, {}});
    for (int rank = 0; rank < s_.world.spec.ranks(); ++rank)
      if (made == groups_.end() || made->second.contains(rank)) members.back().ranks.push_back(rank);
    return members;
  }

  void add(const Operation& op, const Called& called, const std::string& why, std::int64_t steps) {
    Calls& calls = calls_[called];
    calls.counts.resize(ranks_);
    if (op.when.any.empty()) return;  // adds the same everywhere
    for (std::int64_t step = steps < 0 ? -1 : 0; step < std::max<std::int64_t>(steps, 0); ++step)
      for (std::size_t r = 0; r < ranks_; ++r) {
        if ((budget_ -= static_cast<std::int64_t>(op.when.any.size())) < 0) return;
        const int rank = static_cast<int>(r);
        if (op.when.selects(rank, s_.world.spec.node_of(rank), static_cast<int>(step))) ++calls.counts[r];
      }
    if (calls.mark.line == 0) calls.mark = op.mark, calls.why = why;
  }

  const Scenario& s_;
  std::size_t ranks_;
  std::map<Called, Calls> calls_;
  std::map<std::string, IntSet> groups_;
  GroupCalls made_;
  std::int64_t budget_ = 10'000'000;
};

}  // namespace

void check_reach(const Node&, const Scenario& s, Problems& problems) { Reach(s).warn(problems); }

}  // namespace pdsim::scenarios::language
