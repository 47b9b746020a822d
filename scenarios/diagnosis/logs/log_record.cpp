#include "scenarios/diagnosis/logs/log_record.h"

#include "core/collectives/collective_shape.h"
#include "core/record/record_check.h"
#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/records/own_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <set>
#include <utility>

namespace pdsim::scenarios {
namespace {

using logs::Fact;
using logs::LogFacts;

constexpr std::string_view unnamed_call = "collective";

struct LoggedOperation {
  std::string_view logged, name;
};
constexpr std::array logged_operations{
    LoggedOperation{"ALLREDUCE", "all_reduce"},
    LoggedOperation{"ALLREDUCE_COALESCED", "all_reduce"},
    LoggedOperation{"BROADCAST", "broadcast"},
    LoggedOperation{"_BROADCAST_OOP", "broadcast"},
    LoggedOperation{"REDUCE", "reduce"},
    LoggedOperation{"_REDUCE_OOP", "reduce"},
    LoggedOperation{"ALLGATHER", "all_gather"},
    LoggedOperation{"_ALLGATHER_BASE", "all_gather"},
    LoggedOperation{"ALLGATHER_COALESCED", "all_gather"},
    LoggedOperation{"REDUCE_SCATTER", "reduce_scatter"},
    LoggedOperation{"_REDUCE_SCATTER_BASE", "reduce_scatter"},
    LoggedOperation{"ALLTOALL", "all_to_all"},
    LoggedOperation{"ALLTOALL_BASE", "all_to_all"},
    LoggedOperation{"GATHER", "gather"},
    LoggedOperation{"SCATTER", "scatter"},
    LoggedOperation{"BARRIER", "barrier"},
    LoggedOperation{"SEND", "send"},
    LoggedOperation{"RECV", "recv"},
    LoggedOperation{"RECVANYSOURCE", "recv"},
};

// The side that all ranks must agree on; -1 where there is none, or it is not told.
std::int64_t count_of(const logs::WatchdogTimeout& timeout, const std::string& name) {
  const CollectiveRow* kind = collective_named(name);
  if (kind == nullptr || kind->kind == CollectiveKind::all_to_all || kind->kind == CollectiveKind::barrier) return -1;
  const std::int64_t count = is_counted_by_output(kind->kind) ? timeout.elements_out : timeout.elements_in;
  return count <= most_recorded_elements ? count : -1;
}

// A call that some rank names, as it names it.
struct NamedCall {
  std::string name;
  std::int64_t count = -1;
};
using NamedCalls = std::map<Seq, NamedCall>;
// A rank is given those that others name as far as it came: the oldest, which is where a hang begins.
constexpr std::ptrdiff_t most_named_calls = 64;

// The error of PyTorch's or the library's that a text is of.
struct CodeOfEntry {
  std::string_view entry;
  Code code;
};
constexpr std::array codes_of_entries{
    CodeOfEntry{"unused-parameters", Code::reduction_not_finished},
    CodeOfEntry{"parameter-mismatch", Code::size_mismatch},
    CodeOfEntry{"store-gone", Code::store_closed},
    CodeOfEntry{"store-key-missing", Code::store_timeout},
    CodeOfEntry{"connection-lost", Code::peer_closed},
    CodeOfEntry{"missing-call", Code::timeout},
    CodeOfEntry{"rank-hung", Code::process_aborted},
};

class Recording {
 public:
  Recording(const LogFacts& facts, const LoggedGroups& groups) : facts_(facts), groups_(groups) {}

  LogRecord take() {
    find_size();
    find_epoch();
    for (const auto& [label, group] : groups_)
      if (group.is_one) add_group(label, group);
    for (const Fact& fact : facts_.facts)
      if (const auto* mismatch = fact.as<logs::FingerprintMismatch>()) add_fingerprints(fact, *mismatch);
    for (RankResult& rank : run().ranks) finish_calls(rank.log);
    for (const Fact& fact : facts_.facts) add_end(fact);
    for (const Fact& fact : facts_.facts) add_out_of_memory(fact);
    add_missing_records();
    finish();
    return std::move(record_);
  }

 private:
  RunRecord& run() { return record_.run; }
  RankLog& log_of_rank(Rank rank) { return run().ranks[static_cast<std::size_t>(rank)].log; }
  bool has(Rank rank) { return rank >= 0 && static_cast<std::size_t>(rank) < run().ranks.size(); }

  void find_size() {
    std::int64_t told = 0, last = -1;
    bool has_snapshot = false;  // of a desync report, which lists every rank
    const bool is_of_job = groups_.empty() || groups_.count(std::string(group_of_the_job)) != 0;  // NCCL's largest communicator
    for (const auto& [rank, seen] : facts_.ranks) last = std::max<std::int64_t>(last, rank);
    const auto name = [&](const std::vector<Rank>& ranks) {
      for (const Rank rank : ranks) last = std::max<std::int64_t>(last, rank);
    };
    for (const Fact& fact : facts_.facts) {
      if (const auto* size = fact.as<logs::WorldSize>(); size != nullptr && (!size->is_communicator || is_of_job))
        told = std::max(told, size->ranks);
      if (const auto* state = fact.as<logs::DesyncState>()) {
        name(state->ranks);
        has_snapshot = has_snapshot || (!state->lagging && state->in_group.empty());
      }
      if (const auto* absent = fact.as<logs::DesyncAbsent>()) name(absent->ranks);
      if (const auto* missed = fact.as<logs::BarrierMissed>()) name(missed->ranks);
      if (const auto* ras = fact.as<logs::RasReport>(); ras != nullptr && ras->is_whole_job && ras->size > 0)
        told = std::max(told, ras->size);
      if (const auto* mismatch = fact.as<logs::FingerprintMismatch>())
        name({mismatch->mine.rank, mismatch->theirs.rank});
    }
    if (has_snapshot) told = std::max(told, last + 1);
    if (told > last && told <= most_recorded_ranks) record_.world_size = static_cast<int>(told);
    run().ranks.resize(static_cast<std::size_t>(std::max(last + 1, std::int64_t{record_.world_size.value_or(0)})));
    for (std::size_t r = 0; r < run().ranks.size(); ++r) run().ranks[r].log.rank = static_cast<Rank>(r);
  }

  void find_epoch() {
    for (const Fact& fact : facts_.facts) {
      if (!fact.at_ns) continue;
      const auto* timeout = fact.as<logs::WatchdogTimeout>();
      const std::int64_t begun = *fact.at_ns - (timeout != nullptr && timeout->ran_ms > 0 ? ran_ns(*timeout) : 0);
      record_.epoch_ns = std::min(record_.epoch_ns.value_or(begun), begun);
    }
  }
  static std::int64_t ran_ns(const logs::WatchdogTimeout& timeout) {
    return std::clamp<std::int64_t>(timeout.ran_ms, 0, 1'000'000'000) * 1'000'000;
  }

  Time time_of(const Fact& fact) const {
    if (!fact.at_ns || !record_.epoch_ns) return {};
    constexpr std::int64_t farthest_ns = latest_recorded_ps / 1000;
    return Time{1000} * std::clamp<std::int64_t>(*fact.at_ns - *record_.epoch_ns, 0, farthest_ns);
  }

  void add_group(const std::string& label, const LoggedGroup& group) {
    const std::map<Rank, LoggedProgress>& ranks = group.ranks;
    NamedCalls names;
    std::set<Seq> disputed;  // that ranks name differently: of those that name none, nothing is known
    for (const auto& [rank, progress] : ranks)
      for (const auto& [seq, waited] : progress.timeouts) {
        const std::string name = operation_of(waited.timeout.op);
        const NamedCall call{name, count_of(waited.timeout, name)};
        if (const auto [known, is_new] = names.try_emplace(seq, call); !is_new && (known->second.name != name || known->second.count != call.count))
          disputed.insert(seq);
      }
    for (const Seq seq : disputed) names.erase(seq);
    if (std::ssize(names) > most_named_calls) names.erase(std::next(names.begin(), most_named_calls), names.end());
    std::vector<Rank> members;
    for (const auto& [rank, progress] : ranks)
      if (has(rank)) add_calls(log_of_rank(rank), label, progress, names);
    std::copy_if(group.members.begin(), group.members.end(), std::back_inserter(members),
                 [this](Rank rank) { return has(rank); });
    if (label == group_of_the_job) {
      members.resize(run().ranks.size());
      for (std::size_t r = 0; r < members.size(); ++r) members[r] = static_cast<Rank>(r);
    }
    if (!members.empty())
      log_of_rank(members.front()).notes.push_back({-1, {}, {}, notes::GroupMade{label, 0, members}});
  }

  void add_calls(RankLog& log, const std::string& label, const LoggedProgress& progress, const NamedCalls& names) {
    const Seq first_open = progress.timeouts.empty() ? progress.completed + 1 : progress.timeouts.begin()->first;
    std::set<Seq> numbers;
    for (const auto& [seq, name] : names)
      if (seq <= progress.enqueued) numbers.insert(seq);
    for (const auto& [seq, waited] : progress.timeouts) numbers.insert(seq);
    if (progress.enqueued >= 0) numbers.insert(progress.enqueued);
    Time last;  // when the newest of the lower numbers was issued, as far as the log says
    for (const Seq seq : numbers) {
      Call call;
      call.issued = last;
      call.layer = Layer::collective;
      call.group = label;
      call.seq = seq;
      call.async = true;
      const auto named = names.find(seq);
      call.name = named != names.end() ? named->second.name : std::string(unnamed_call);
      if (named != names.end()) call.count = named->second.count;  // until the rank's own line says what it passed
      const auto waited = progress.timeouts.find(seq);
      const bool is_open = progress.timeouts.count(seq) != 0 || (seq > progress.completed && seq >= first_open);
      call.state = is_open ? CallState::started : CallState::completed;
      if (waited != progress.timeouts.end()) {
        call.name = operation_of(waited->second.timeout.op);
        call.count = count_of(waited->second.timeout, call.name);
        const Time end = time_of(*waited->second.fact);
        call.issued = std::max(Time{}, end - Time{1000} * ran_ns(waited->second.timeout));
        if (call.name == "send" || call.name == "recv") {
          call.layer = Layer::point_to_point;
          call.seq = -1;
        }
      }
      last = std::max(last, call.issued);
      if (!is_open) {
        call.finished = call.issued;
        if (seq > progress.completed) call.message = "the log does not say that it completed";
      }
      log.calls.push_back(std::move(call));
    }
    log.dropped = std::max<std::int64_t>(1, log.dropped + std::max<std::int64_t>(progress.enqueued, 0));
    stuck_ = stuck_ || !progress.timeouts.empty() || progress.timed_out;
  }

  // Two ranks met in different calls. Where their own numbers differ, no number is common to both: that is told of the facts.
  void add_fingerprints(const Fact& fact, const logs::FingerprintMismatch& mismatch) {
    if (!mismatch.is_whole_job || mismatch.mine.seq < 0 || mismatch.mine.seq != mismatch.theirs.seq) return;
    for (const logs::FingerprintSide* side : {&mismatch.mine, &mismatch.theirs}) {
      if (!has(side->rank)) continue;
      RankLog& log = log_of_rank(side->rank);
      const std::string label(group_of_the_job);
      const auto same = [&](const Call& c) { return c.group == label && c.seq == side->seq; };
      if (std::any_of(log.calls.begin(), log.calls.end(), same)) continue;
      Call call;
      call.layer = Layer::collective;
      call.name = operation_of(side->op);
      call.group = label;
      call.seq = side->seq;
      call.issued = time_of(fact);
      call.state = CallState::failed;
      call.error = Code::collective_mismatch;
      call.finished = call.issued;
      CallDetails details;
      details.dtype = side->dtype;
      if (!side->shape.empty()) {
        std::int64_t count = 1;
        for (const std::int64_t size : side->shape)
          if (__builtin_mul_overflow(count, size, &count)) count = -1;
        call.count = count <= most_recorded_elements ? std::max<std::int64_t>(count, -1) : -1;
      }
      call.details = std::move(details);
      log.calls.push_back(std::move(call));
      log.dropped = std::max<std::int64_t>(log.dropped, 1);
      set_end(log, RankEnd::raised, {Code::collective_mismatch, "Detected mismatch between collectives on ranks", {}},
              fact);
    }
  }

  static void finish_calls(RankLog& log) {
    std::stable_sort(log.calls.begin(), log.calls.end(),
                     [](const Call& a, const Call& b) { return a.issued < b.issued; });
    for (std::size_t i = 0; i < log.calls.size(); ++i) log.calls[i].id = static_cast<std::int64_t>(i);
  }

  bool was_ended_by_watchdog(Rank rank) const {
    return any_progress(groups_, rank, [](const LoggedProgress& progress) { return !progress.timeouts.empty(); });
  }

  void set_end(RankLog& log, RankEnd end, Error error, const Fact& fact) {
    log.end = end;
    log.error = std::move(error);
    log.ended = time_of(fact);
  }

  // The causes come first in a log; what a rank says after its own error follows from it.
  void add_end(const Fact& fact) {
    if (!has(fact.rank)) return;
    RankLog& log = log_of_rank(fact.rank);
    if (const auto* failed = fact.as<logs::ProcessFailed>()) return add_failed(log, fact, *failed);
    const bool has_only_exit_code = log.end == RankEnd::raised && !pdsim::fact(log.error.facts, exit_code_fact).empty() &&
                                    fact.as<logs::Raised>() != nullptr;
    if (was_ended_by_watchdog(fact.rank) || (log.end != RankEnd::running && !has_only_exit_code)) return;
    if (const auto* raised = fact.as<logs::Raised>()) {
      const std::string text = raised->type + (raised->message.empty() ? "" : ": " + raised->message);
      set_end(log, RankEnd::raised, {code_of(text), text, {}}, fact);
      if (const StackFrame* frame = own_frame(raised->frames)) {
        log.error_site.line = frame->line;
        log.error_site.origin = CallOrigin{frame->file, "", raised->frames};
      }
    } else if (fact.as<logs::PeerClosed>() != nullptr) {
      set_end(log, RankEnd::raised, {Code::peer_closed, "connection closed by peer", {}}, fact);
    } else if (fact.as<logs::TransferTimeout>() != nullptr || fact.as<logs::BarrierReached>() != nullptr) {
      set_end(log, RankEnd::raised, {Code::timeout, "timed out waiting", {}}, fact);
    }
  }

  void add_failed(RankLog& log, const Fact& fact, const logs::ProcessFailed& failed) {
    constexpr int aborted = 6, asked_to_end = 15;
    if (log.end == RankEnd::raised || failed.signal == asked_to_end) return;
    if (was_ended_by_watchdog(fact.rank) && (failed.signal == aborted || failed.signal == 0)) return;
    Error error{Code::rank_crashed, fmt::format("exit code {}", failed.exit_code), {}};
    if (failed.signal != 0) error.facts.push_back({"signal", std::to_string(failed.signal)});
    if (failed.out_of_memory) error.facts.push_back({std::string(out_of_memory_fact), "machine"});
    if (failed.signal == 0) {
      error.code = Code::program_raised;
      error.facts.push_back({std::string(exit_code_fact), std::to_string(failed.exit_code)});
    }
    set_end(log, failed.signal != 0 ? RankEnd::died : RankEnd::raised, std::move(error), fact);
  }

  // No traceback says that it ended the rank, so it counts only near the calls in which others wait.
  void add_out_of_memory(const Fact& fact) {
    const auto* exhausted = fact.as<logs::OutOfMemory>();
    if (exhausted == nullptr || !has(fact.rank) || was_ended_by_watchdog(fact.rank) || !is_near_a_wait(fact)) return;
    RankLog& log = log_of_rank(fact.rank);
    const bool says_more = log.end == RankEnd::died || (log.end == RankEnd::raised && log.error.code != Code::peer_closed &&
                                                        pdsim::fact(log.error.facts, exit_code_fact).empty());
    if (says_more) return;
    set_end(log, RankEnd::raised, {Code::program_raised, exhausted->text, {{std::string(out_of_memory_fact), "GPU"}}}, fact);
  }

  bool is_near_a_wait(const Fact& fact) const {
    constexpr std::int64_t most_apart_ns = 600'000'000'000;
    if (!fact.at_ns) return true;
    return std::none_of(facts_.facts.begin(), facts_.facts.end(), [&](const Fact& other) {
      const auto* timeout = other.as<logs::WatchdogTimeout>();
      return timeout != nullptr && other.at_ns && timeout->ran_ms > 0 && *other.at_ns - ran_ns(*timeout) - *fact.at_ns > most_apart_ns;
    });
  }

  Code code_of(const std::string& text) {
    const std::optional<SymptomMatch> match = symptoms_.best(text);
    if (!match || match->sureness != Sureness::sure) return Code::program_raised;
    const std::string_view entry = match->symptom->entry;
    const auto* const row = std::find_if(codes_of_entries.begin(), codes_of_entries.end(),
                                         [&](const CodeOfEntry& e) { return e.entry == entry; });
    if (row != codes_of_entries.end()) return row->code;
    return code_named(entry).value_or(Code::program_raised);
  }

  bool has_timed_out(Rank rank) const {
    return any_progress(groups_, rank, [](const LoggedProgress& progress) { return progress.timed_out; });
  }

  void add_missing_records() {
    const auto is_of_shared_name = [this](Rank rank) {
      return std::any_of(groups_.begin(), groups_.end(), [rank](const auto& group) {
        return !group.second.is_one && group.second.ranks.count(rank) != 0;
      });
    };
    for (RankResult& rank : run().ranks)
      if (rank.log.calls.empty() && !is_of_shared_name(rank.log.rank)) {
        rank.log.dropped = 1;  // a log keeps no calls
        if (rank.log.end == RankEnd::running && !has_timed_out(rank.log.rank)) rank.log.notes.push_back({-1, {}, {}, notes::NoRecord{}});
      }
  }

  void finish() {
    RunRecord& all = run();
    for (const RankResult& rank : all.ranks) {
      for (const Call& call : rank.log.calls) all.elapsed = std::max({all.elapsed, call.issued, call.finished});
      all.elapsed = std::max(all.elapsed, rank.log.ended);
    }
    for (const Fact& fact : facts_.facts) all.elapsed = std::max(all.elapsed, time_of(fact));
    all.deadlocked = stuck_;
    all.deadlock_at = stuck_ ? all.elapsed : Time{};
    all.wall_ns = all.elapsed.ns();
    all.watchdog.resize(all.ranks.size());
  }

  const LogFacts& facts_;
  const LoggedGroups& groups_;
  LogRecord record_;
  SymptomCache symptoms_;
  bool stuck_ = false;
};

}  // namespace

std::string operation_of(std::string_view logged) {
  const auto* const row = std::find_if(logged_operations.begin(), logged_operations.end(),
                                       [&](const LoggedOperation& o) { return o.logged == logged; });
  if (row != logged_operations.end()) return std::string(row->name);
  std::string name;
  for (const char c : logged) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name.empty() ? std::string(unnamed_call) : name;
}

LogRecord record_of(const LogFacts& facts, const LoggedGroups& groups) { return Recording(facts, groups).take(); }

}  // namespace pdsim::scenarios
