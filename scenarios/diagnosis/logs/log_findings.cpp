#include "scenarios/diagnosis/logs/log_findings.h"

#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/diagnosis/logs/nccl_warnings.h"
#include "scenarios/diagnosis/logs/ras_findings.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/own_frame.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace pdsim::scenarios {
namespace {

using diagnoses::add_once;
using diagnoses::contains;
using diagnoses::list_text;
using diagnoses::short_ranks;
using diagnoses::who;
using logs::Fact;
using logs::LogFacts;

Diagnosis finding(std::string_view id) {
  Diagnosis d;
  d.id = std::string(id);
  return d;
}

// "rank 4", "rank 1 of its group", or both.
std::string text_of(const std::vector<Rank>& ranks, const std::vector<Rank>& in_group) {
  const std::string of_group = in_group.empty() ? std::string() : short_ranks(in_group) + " of the group";
  if (ranks.empty() || in_group.empty()) return ranks.empty() ? of_group : short_ranks(ranks);
  return fmt::format("{} and {}", short_ranks(ranks), of_group);
}

std::string text_of(const logs::FingerprintSide& side) {
  return side.rank != no_rank ? short_ranks({side.rank}) : text_of({}, {side.in_group});
}

std::string call_text(const logs::FingerprintSide& side) {
  return side.seq >= 0 ? fmt::format("{} #{}", operation_of(side.op), side.seq) : operation_of(side.op);
}

bool ended_by_itself(const LogRecord& record, Rank rank) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= record.run.ranks.size()) return false;
  const RankLog& log = record.run.ranks[static_cast<std::size_t>(rank)].log;
  return log.end == RankEnd::died || (log.end == RankEnd::raised && log.error.code == Code::program_raised);
}

std::optional<Diagnosis> unused(const LogFacts& facts) {
  Diagnosis d = finding("unused-parameters");
  std::vector<Rank> in_group;
  bool only_indices = true, found = false;
  std::set<std::pair<Rank, Rank>> named;  // whose parameters another line lists by name
  for (const Fact& fact : facts.facts)
    if (const auto* missing = fact.as<logs::GradientsMissing>(); missing != nullptr && !missing->names.empty())
      named.emplace(missing->rank, missing->in_group);
  for (const Fact& fact : facts.facts)
    if (const auto* missing = fact.as<logs::GradientsMissing>();
        missing != nullptr && (!missing->names.empty() || named.count({missing->rank, missing->in_group}) == 0)) {
      found = true;
      if (missing->rank != no_rank) add_once(d.ranks, missing->rank);
      if (missing->rank == no_rank) add_once(in_group, missing->in_group);
      add_once(d.parameters, missing->names);
      only_indices = only_indices && missing->names.empty();
      std::vector<std::string> numbered;
      for (const std::int64_t index : missing->indices) numbered.push_back(fmt::format("parameter {}", index));
      if (missing->names.empty()) add_once(d.parameters, numbered);
    }
  if (!found) return std::nullopt;
  std::sort(d.ranks.begin(), d.ranks.end());
  const std::string where = text_of(d.ranks, in_group);
  d.headline = fmt::format("{} got no gradient on {}, and the next forward found its bucket unreduced",
                           list_text(d.parameters), where);
  d.cause = fmt::format("the loss of {} did not depend on {}", where, list_text(d.parameters));
  d.fix =
      "DistributedDataParallel(..., find_unused_parameters=True), or let every output of forward take part in the loss";
  if (only_indices)
    d.fix_lines = {
        "list(model.named_parameters())[i][0] is the name of parameter i; TORCH_DISTRIBUTED_DEBUG=DETAIL prints names"};
  return d;
}

std::optional<Diagnosis> marked_twice(const LogFacts& facts) {
  Diagnosis d = finding("marked-ready-twice");
  for (const Fact& fact : facts.facts)
    if (const auto* twice = fact.as<logs::MarkedTwice>()) {
      if (fact.rank != no_rank) add_once(d.ranks, fact.rank);
      add_once(d.parameters, {twice->name.empty() ? fmt::format("parameter {}", twice->index) : twice->name});
    }
  if (d.parameters.empty()) return std::nullopt;
  d.headline = fmt::format("the gradient of {} became ready twice in one backward", list_text(d.parameters));
  d.cause = fmt::format("something accumulated into {} after DDP had counted its gradient", list_text(d.parameters));
  d.fix = "DistributedDataParallel(..., static_graph=True), or checkpoint(..., use_reentrant=False)";
  return d;
}

// Where the ranks' own numbers differ, or the group is not the job; otherwise the record shows it.
std::optional<Diagnosis> fingerprints(const LogFacts& facts) {
  struct Callers {
    std::vector<Rank> ranks, in_group;
    std::size_t size() const { return ranks.size() + in_group.size(); }
  };
  Diagnosis d = finding("collective-mismatch");
  const logs::FingerprintMismatch* first = nullptr;
  std::map<std::string, Callers> by_call;
  for (const Fact& fact : facts.facts)
    if (const auto* m = fact.as<logs::FingerprintMismatch>()) {
      if (m->is_whole_job && m->mine.seq == m->theirs.seq && m->mine.seq >= 0) continue;
      if (first == nullptr) first = m;
      for (const logs::FingerprintSide* side : {&m->mine, &m->theirs}) {
        Callers& callers = by_call[call_text(*side)];
        side->rank != no_rank ? add_once(callers.ranks, side->rank) : add_once(callers.in_group, side->in_group);
      }
    }
  if (first == nullptr) return std::nullopt;
  std::size_t fewest = SIZE_MAX, most = 0;
  for (const auto& [call, callers] : by_call) {
    fewest = std::min(fewest, callers.size());
    most = std::max(most, callers.size());
  }
  std::vector<std::string> parts;
  for (const auto& [call, callers] : by_call) {
    parts.push_back(fmt::format("{} called {}", text_of(callers.ranks, callers.in_group), call));
    if (fewest < most && callers.size() == fewest)
      for (const Rank rank : callers.ranks) add_once(d.ranks, rank);
  }
  d.headline = fmt::format("{}, and they met", fmt::join(parts, ", "));
  const bool counted_apart = first->mine.seq >= 0 && first->theirs.seq >= 0 && first->mine.seq != first->theirs.seq;
  d.cause = counted_apart ? fmt::format("{} and {} had made different numbers of calls when they met",
                                        text_of(first->mine), text_of(first->theirs))
                          : fmt::format("{} and {} met in different calls", text_of(first->mine), text_of(first->theirs));
  d.fix = "make the same calls in the same order on every rank of the group";
  return d;
}

std::optional<Diagnosis> barrier(const LogFacts& facts, const LogRecord& record) {
  Diagnosis d = finding("missing-call");
  std::vector<Rank> in_group, waiting_in_group;
  std::int64_t timeout_ms = -1;
  for (const Fact& fact : facts.facts) {
    const auto* missed = fact.as<logs::BarrierMissed>();
    if (missed == nullptr && fact.as<logs::BarrierReached>() == nullptr) continue;
    if (fact.rank != no_rank) add_once(d.waiting, fact.rank);
    if (missed == nullptr) continue;
    if (fact.rank == no_rank) add_once(waiting_in_group, 0);
    for (const Rank rank : missed->ranks) add_once(d.ranks, rank);
    for (const Rank rank : missed->in_group) add_once(in_group, rank);
    if (missed->timeout_ms >= 0) timeout_ms = missed->timeout_ms;
  }
  if ((d.ranks.empty() && in_group.empty()) ||
      std::any_of(d.ranks.begin(), d.ranks.end(), [&](Rank r) { return ended_by_itself(record, r); }))
    return std::nullopt;
  std::sort(d.waiting.begin(), d.waiting.end());
  const std::string missing = text_of(d.ranks, in_group), late = in_group.empty() ? missing : "the missing ranks";
  d.calls.push_back({d.waiting, "monitored_barrier", "", -1, no_rank, {}, -1});
  d.headline = fmt::format("{} waited in monitored_barrier for {}, which did not come{}",
                           text_of(d.waiting, waiting_in_group), missing,
                           timeout_ms >= 0 ? fmt::format(" within {}ms", timeout_ms) : std::string());
  d.cause = fmt::format("{} did not call monitored_barrier in time", missing);
  d.fix = fmt::format("make this call on {} too, or find out what held {} up", late, late);
  return d;
}

std::optional<Diagnosis> desync(const LogFacts& facts, const LogRecord& record) {
  Diagnosis d = finding("missing-call");
  std::map<Seq, std::string> calls;
  std::vector<Rank> in_group, waiting_in_group;
  Seq behind = -1;
  for (const Fact& fact : facts.facts) {
    if (const auto* absent = fact.as<logs::DesyncAbsent>()) {
      for (const Rank rank : absent->ranks) add_once(d.ranks, rank);
      for (const Rank rank : absent->in_group) add_once(in_group, rank);
      behind = std::max<Seq>(behind, 0);
    } else if (const auto* state = fact.as<logs::DesyncState>();
               state != nullptr && state->lagging && state->finished) {
      for (const Rank rank : state->ranks) add_once(d.ranks, rank);
      for (const Rank rank : state->in_group) add_once(in_group, rank);
      behind = std::max(behind, state->seq);
    }
  }
  if ((d.ranks.empty() && in_group.empty()) ||
      std::any_of(d.ranks.begin(), d.ranks.end(), [&](Rank r) { return ended_by_itself(record, r); }))
    return std::nullopt;
  for (const Fact& fact : facts.facts)
    if (const auto* state = fact.as<logs::DesyncState>();
        state != nullptr && !state->lagging && !state->finished && state->seq > behind) {
      for (const Rank rank : state->in_group)
        if (!contains(in_group, rank)) add_once(waiting_in_group, rank);
      for (const Rank rank : state->ranks)
        if (!contains(d.ranks, rank)) {
          add_once(d.waiting, rank);
          calls.try_emplace(state->seq, operation_of(state->op));
        }
    }
  std::sort(d.ranks.begin(), d.ranks.end());
  std::sort(d.waiting.begin(), d.waiting.end());
  for (const auto& [seq, name] : calls) d.calls.push_back({d.waiting, name, "", seq, no_rank, {}, -1});
  const std::string last = behind > 0 ? fmt::format("after call #{}", behind) : std::string("from the beginning");
  const std::string missing = text_of(d.ranks, in_group), waiting = text_of(d.waiting, waiting_in_group);
  d.headline = waiting.empty() ? fmt::format("{} made no call {}", missing, last)
                               : fmt::format("{} waited for {}, which made no call {}", waiting, missing, last);
  d.cause = fmt::format("{} made no call {} (numbers of the desync report)", missing, last);
  d.fix = "make the same calls in the same order on every rank of the group, or on none";
  return d;
}

std::optional<Diagnosis> heartbeat(const LogFacts& facts) {
  Diagnosis d = finding("rank-hung");
  std::set<Rank> timed_out;
  std::optional<std::int64_t> hung_ns;  // since the first call that timed out
  for (const Fact& fact : facts.facts)
    if (const auto* timeout = fact.as<logs::WatchdogTimeout>()) {
      timed_out.insert(fact.rank);
      if (!fact.at_ns || timeout->ran_ms < 0) continue;
      const std::int64_t begun = *fact.at_ns - std::min<std::int64_t>(timeout->ran_ms, 1'000'000'000) * 1'000'000;
      hung_ns = std::min(hung_ns.value_or(begun), begun);
    }
  // A watchdog that stops later than others begin to wait may wait for the same hang: to abort, or to write its dump.
  const auto is_later = [&](const Fact& fact, const logs::HeartbeatLost& lost) {
    return hung_ns && fact.at_ns && lost.seconds >= 0 && *fact.at_ns - std::min<std::int64_t>(lost.seconds, 1'000'000) * 1'000'000'000 > *hung_ns;
  };
  for (const Fact& fact : facts.facts)
    if (const auto* lost = fact.as<logs::HeartbeatLost>();
        lost != nullptr && fact.rank != no_rank && timed_out.count(fact.rank) == 0 && !is_later(fact, *lost))
      add_once(d.ranks, fact.rank);
  if (d.ranks.empty()) return std::nullopt;
  std::sort(d.ranks.begin(), d.ranks.end());
  for (const Rank rank : timed_out)
    if (rank != no_rank) d.waiting.push_back(rank);
  d.headline = fmt::format("NCCL's watchdog of {} made no progress", short_ranks(d.ranks));
  d.cause = fmt::format(
      "the watchdog thread of {} is stuck: a call into CUDA or NCCL does not return, or another thread holds Python's lock",
      short_ranks(d.ranks));
  d.fix = "find out where that process is (py-spy dump --native, gdb -p) and what it waits for";
  return d;
}

std::optional<Diagnosis> too_long(const LogFacts& facts) {
  for (const Fact& fact : facts.facts)
    if (const auto* message = fact.as<logs::MessageTooLong>()) {
      Diagnosis d = finding("parameter-mismatch");
      d.headline = fmt::format("a message of {} bytes met a buffer of {} bytes: ranks passed different sizes to one "
                               "call",
                               message->bytes, message->room);
      d.cause =
          "two ranks passed tensors of different sizes to one call, or met in different calls; Gloo ended the "
          "receiving process";
      d.fix = "pass tensors of the same size and dtype on every rank; TORCH_DISTRIBUTED_DEBUG=DETAIL names both calls";
      if (fact.rank != no_rank) d.waiting.push_back(fact.rank);
      return d;
    }
  return std::nullopt;
}

// Ranks that printed no timeout although others did, and whose stack shows them elsewhere, where each other rank is in one call.
std::optional<Diagnosis> from_stacks(const LogFacts& facts, const LoggedGroups& groups, const LogRecord& record) {
  if (groups.size() != 1) return std::nullopt;
  const auto& [label, group] = *groups.begin();
  const std::map<Rank, LoggedProgress>& ranks = group.ranks;
  if (!group.is_one) return std::nullopt;
  Diagnosis d = finding("missing-call");
  Seq seq = -1;
  std::string name;
  for (const auto& [rank, progress] : ranks) {
    if (progress.timeouts.empty()) return std::nullopt;
    const auto& [number, waited] = *progress.timeouts.begin();
    if (!d.waiting.empty() && number != seq) return std::nullopt;
    seq = number;
    name = operation_of(waited.timeout.op);
    d.waiting.push_back(rank);
  }
  std::string where;
  for (const Fact& fact : facts.facts) {
    const auto* stack = fact.as<logs::Stack>();
    if (stack == nullptr || fact.rank == no_rank || ranks.count(fact.rank) != 0 || contains(d.ranks, fact.rank))
      continue;
    const StackFrame* own = own_frame(stack->frames);
    if (own == nullptr || ended_by_itself(record, fact.rank)) continue;
    if (where.empty()) where = frame_text(*own);
    d.ranks.push_back(fact.rank);
  }
  if (d.ranks.empty() || d.ranks.size() + d.waiting.size() < record.run.ranks.size()) return std::nullopt;
  std::sort(d.ranks.begin(), d.ranks.end());
  d.calls.push_back({d.waiting, name, label, seq, no_rank, {}, -1});
  const std::string call = seq >= 0 ? fmt::format("{} #{}", name, seq) : name;
  d.headline = fmt::format("{} in {} for {}, which was in {}", who(d.waiting, "waited", "waited"), call,
                           short_ranks(d.ranks), where);
  d.cause =
      fmt::format("{} printed no timeout of {}; its stack shows it in {}", short_ranks({d.ranks.front()}), call, where);
  d.fix = fmt::format("find out what {} waits for there, and make the same calls on every rank", short_ranks(d.ranks));
  return d;
}

// Exceptions whose text is that of one diagnosis.
std::optional<Diagnosis> exceptions(const LogFacts& facts) {
  SymptomCache symptoms;
  std::optional<Diagnosis> d;
  for (const Fact& fact : facts.facts) {
    const auto* raised = fact.as<logs::Raised>();
    if (raised == nullptr) continue;
    const std::string text =
        raised->message.empty() ? raised->type : fmt::format("{}: {}", raised->type, raised->message);
    const std::optional<SymptomMatch> match = symptoms.best(text);
    if (!match || match->sureness != Sureness::sure || !match->symptom->cause || match->symptom->entry == "rank-died")
      continue;
    if (diagnosis_named(match->symptom->entry) == nullptr || (d && d->id != match->symptom->entry)) continue;
    if (!d) {
      d = finding(match->symptom->entry);
      d->headline = text.size() <= 200 ? text : text.substr(0, text.find(". ")) + ".";
      d->cause = std::string(match->symptom->says);
      d->fix = fmt::format("see `pdsim explain {}`", d->id);
    }
    if (fact.rank != no_rank) add_once(d->ranks, fact.rank);
  }
  if (!d) return d;
  std::sort(d->ranks.begin(), d->ranks.end());
  if (!d->ranks.empty()) d->headline = fmt::format("{} raised {}", short_ranks(d->ranks), d->headline);
  return d;
}

}  // namespace

std::vector<Diagnosis> findings_of_facts(const LogFacts& facts, const LoggedGroups& groups, const LogRecord& record) {
  std::vector<Diagnosis> findings;
  const auto add = [&](std::optional<Diagnosis> found) {
    if (found && std::none_of(findings.begin(), findings.end(), [&](const Diagnosis& d) { return d.id == found->id; }))
      findings.push_back(std::move(*found));
  };
  add(unused(facts));
  add(marked_twice(facts));
  add(fingerprints(facts));
  add(barrier(facts, record));
  add(desync(facts, record));
  add(too_long(facts));
  const bool met = std::any_of(facts.facts.begin(), facts.facts.end(),
                               [](const Fact& fact) { return fact.as<logs::FingerprintMismatch>() != nullptr; });
  if (findings.empty() && !met) add(warned_by_nccl(facts));
  if (findings.empty() && !met) add(exceptions(facts));
  for (Diagnosis& d : ras_findings(facts))
    if (findings.empty() || findings.front().id != d.id) findings.push_back(std::move(d));
  if (findings.empty() && std::any_of(facts.facts.begin(), facts.facts.end(), [](const Fact& fact) {
        const auto* failed = fact.as<logs::ProcessFailed>();
        return failed != nullptr && failed->rank == no_rank && failed->out_of_memory;
      }))
    add(unknown_process(facts));
  if (findings.empty()) add(heartbeat(facts));
  if (findings.empty()) add(from_stacks(facts, groups, record));
  return findings;
}

std::optional<Diagnosis> unknown_process(const LogFacts& facts) {
  constexpr int aborted = 6, asked_to_end = 15;
  const bool has_timeouts = std::any_of(facts.facts.begin(), facts.facts.end(),
                                        [](const Fact& fact) { return fact.as<logs::WatchdogTimeout>() != nullptr; });
  for (const Fact& fact : facts.facts) {
    const auto* failed = fact.as<logs::ProcessFailed>();
    if (failed == nullptr || failed->rank != no_rank || failed->signal == asked_to_end) continue;
    if (has_timeouts && (failed->signal == aborted || failed->signal == 0)) continue;  // the watchdog's own end
    Diagnosis d = finding("rank-died");
    d.cause = end_text(*failed);
    d.headline = d.cause;
    d.fix = failed->out_of_memory ? "give the job more memory on each node, or let it use less: fewer workers of the DataLoader, smaller batches, a data set "
                                    "that is not read as a whole by every rank"
            : failed->signal != 0 ? "find out what ended it: its own log, the kernel's log of its machine (dmesg -T), the batch system"
                                  : "fix the error of that process: its own log has the exception";
    return d;
  }
  return std::nullopt;
}

std::optional<Diagnosis> own_exception(const LogRecord& record) {
  constexpr std::array<std::string_view, 3> may_follow{"RuntimeError", "KeyboardInterrupt", "SystemExit"};
  Diagnosis d = finding("rank-died");
  std::string first;
  for (const RankResult& rank : record.run.ranks) {
    const RankLog& log = rank.log;
    if (log.end != RankEnd::raised || log.error.code != Code::program_raised) continue;
    const std::string type = log.error.message.substr(0, log.error.message.find(": "));
    const bool is_of_library = type.starts_with("torch.distributed.");
    if (is_of_library || std::find(may_follow.begin(), may_follow.end(), type) != may_follow.end()) continue;
    if (!first.empty() && first != type) return std::nullopt;
    first = type;
    d.ranks.push_back(log.rank);
  }
  if (d.ranks.empty()) return std::nullopt;
  d.fix = fmt::format("fix the error of {}; errors of other ranks may only report its consequence", short_ranks(d.ranks));
  return d;
}

namespace {

// How the log says that a rank ended, where it shows no exception.
std::string end_without_exception(const RankLog& log) {
  const std::string memory = std::string(fact(log.error.facts, out_of_memory_fact));
  if (!memory.empty()) return memory == "GPU" ? "ran out of GPU memory" : "was killed because the memory of its machine ran out";
  if (log.end == RankEnd::died) return {};
  return fact(log.error.facts, exit_code_fact).empty() ? std::string() : fmt::format("ended with {}", log.error.message);
}

void name_end(Diagnosis& d, const RankLog& log, const std::string& ended) {
  const bool is_memory = !fact(log.error.facts, out_of_memory_fact).empty();
  const std::string ranks = short_ranks(d.ranks);
  d.headline = d.waiting.empty() ? fmt::format("{} {}", ranks, ended) : fmt::format("{} for {}, which {}", who(d.waiting, "waited", "waited"), ranks, ended);
  d.cause = is_memory && log.end == RankEnd::raised ? fmt::format("{} {}: {}", ranks, ended, log.error.message) : fmt::format("{} {}", ranks, ended);
  d.why = fmt::format("{}. The log shows no traceback of it.", d.cause);
  if (is_memory)
    d.fix = fmt::format("let {} use less memory ({}), and end all ranks when one fails: a rank that skips a batch alone leaves the others waiting", ranks,
                        log.end == RankEnd::raised ? "a smaller batch or shorter sequences, checkpointed activations"
                                                   : "fewer workers of the DataLoader, a data set that is not read as a whole");
}

}  // namespace

void name_exceptions(const LogRecord& record, std::vector<Diagnosis>& findings) {
  for (Diagnosis& d : findings) {
    if (d.id != "rank-died" || d.ranks.empty()) continue;
    const RankLog& log = record.run.ranks[static_cast<std::size_t>(d.ranks.front())].log;
    if ((log.end != RankEnd::raised && log.end != RankEnd::died) || log.error.message.empty()) continue;
    if (const std::string ended = end_without_exception(log); !ended.empty()) {
      name_end(d, log, ended);
      continue;
    }
    if (log.end == RankEnd::died) continue;
    const std::string type = log.error.message.substr(0, log.error.message.find(": "));
    const std::string& file = log.error_site.origin->file;
    const std::string where = file.empty() ? "" : fmt::format(", at {}:{}", file, log.error_site.line);
    d.cause = fmt::format("{} raised {}{}", short_ranks(d.ranks), log.error.message, where);
    d.headline = d.waiting.empty() ? fmt::format("{} raised {}{}", short_ranks(d.ranks), type, where)
                                   : fmt::format("{} for {}, which raised {}{}", who(d.waiting, "waited", "waited"),
                                                 short_ranks(d.ranks), type, where);
  }
}

namespace {

// Where few ranks print, a log is likely a part of the job's, and silence proves nothing.
bool rests_on_silence(const Diagnosis& finding, const LogRecord& record) {
  const std::size_t silent = finding.ranks.size(), waiting = finding.waiting.size();
  if (finding.id != "missing-record") return false;
  return record.world_size ? silent > waiting : silent > 1 && silent * 3 > waiting;
}

}  // namespace

bool needs_all_ranks(const Diagnosis& finding, const LogRecord& record) {
  if (rests_on_silence(finding, record)) return true;
  constexpr std::array<std::string_view, 5> of_all{"all-stuck", "missing-exit", "timeout-too-short", "delayed-enter",
                                                   "connection-lost"};
  if (std::find(of_all.begin(), of_all.end(), finding.id) == of_all.end()) return false;
  return !record.world_size || std::any_of(finding.calls.begin(), finding.calls.end(), [](const CallReference& call) {
    return !call.group.empty() && call.group != group_of_the_job;
  });
}

}  // namespace pdsim::scenarios
