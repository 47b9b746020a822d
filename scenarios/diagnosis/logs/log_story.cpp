// Tells what a log proves, rank by rank, what it leaves open, and what to do next.

#include "core/base/quantity.h"
#include "core/record/record_check.h"
#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/diagnosis/logs/log_findings.h"
#include "scenarios/diagnosis/logs/nccl_warnings.h"
#include "scenarios/diagnosis/logs/ras_findings.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/own_frame.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace pdsim::scenarios {
namespace {

using diagnoses::short_ranks;
using logs::Fact;
using logs::LogFacts;

constexpr std::size_t most_proofs = 20;
constexpr std::size_t most_named_culprits = 4;

std::string place_of(const LogFacts& facts, const Fact& fact) {
  const std::string& file = facts.files[static_cast<std::size_t>(fact.file)];
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), fact.line);
}

std::string seconds(std::int64_t ms) {
  return to_string(Time{1'000'000'000} * std::clamp<std::int64_t>(ms, 0, 1'000'000'000));
}

std::string number_text(Seq seq) { return seq > 0 ? fmt::format(" #{}", seq) : std::string(); }

std::string waited_text(const std::string& group, const LoggedProgress& progress) {
  std::string text;
  if (!progress.timeouts.empty()) {
    const auto& [seq, waited] = *progress.timeouts.begin();
    text = fmt::format("waited in {}{} of {}", operation_of(waited.timeout.op), number_text(seq), group);
    const std::int64_t elements = waited.timeout.elements_in;
    if (elements >= 0) text += fmt::format(", {} element{}", elements, elements == 1 ? "" : "s");
    if (waited.timeout.timeout_ms >= 0)
      text += fmt::format(", until its timeout of {}", seconds(waited.timeout.timeout_ms));
  }
  if (progress.says_completed || (progress.timeouts.empty() && progress.enqueued >= 0)) {
    text += text.empty() ? fmt::format("in {}", group) : std::string(";");
    text += fmt::format(" had enqueued {}", progress.enqueued < 0 ? std::string("none") : std::to_string(progress.enqueued));
    if (progress.says_completed)
      text += fmt::format(" and completed {}", progress.completed < 0 ? std::string("none") : std::to_string(progress.completed));
  }
  return text;
}

std::string process_text(const logs::ProcessFailed& failed) {
  if (failed.task >= 0) return fmt::format("Slurm's task {}", failed.task);
  return failed.pid >= 0 ? fmt::format("process {}", failed.pid) : "a process of the job";
}

std::string raised_text(const logs::Raised& raised) {
  constexpr std::size_t most = 400;  // a message may hold a whole log; its whole words are shown
  std::string text = raised.message;
  if (const std::size_t end = text.size() > most ? text.rfind(' ', most) : std::string::npos; end != std::string::npos)
    text = text.substr(0, end) + " ...";
  text = fmt::format("raised {}{}{}", raised.type, text.empty() ? "" : ": ", text);
  if (const StackFrame* frame = own_frame(raised.frames))
    text += fmt::format(", at {}", frame_text(*frame));
  return text;
}

std::string stack_text(const logs::Stack& stack) {
  const StackFrame* own = own_frame(stack.frames);
  const StackFrame& innermost = stack.frames.front();
  std::string text = fmt::format("was in {}", frame_text(own != nullptr ? *own : innermost));
  if (own != nullptr && own != &innermost) text += fmt::format(", inside {}", innermost.function);
  return text;
}

// Lists the ranks that the log proves, and for the others their rank within the group.
std::string listed(std::vector<Rank> ranks, const std::vector<Rank>& in_group) {
  std::erase(ranks, no_rank);
  if (!ranks.empty() && in_group.empty()) return short_ranks(ranks);
  const std::string of_group = short_ranks(in_group) + " of its group";
  return ranks.empty() ? of_group : fmt::format("{} and {}", short_ranks(ranks), of_group);
}

std::string side_text(const logs::FingerprintSide& side) {
  std::string text = fmt::format("{} in {}", side.rank != no_rank ? short_ranks({side.rank}) : listed({}, {side.in_group}), operation_of(side.op));
  if (side.seq >= 0) text += fmt::format(" #{}", side.seq);
  if (!side.shape.empty()) text += fmt::format(" of [{}]", fmt::join(side.shape, ", "));
  return text;
}

// Describes facts that no group's progress shows.
std::string says(const Fact& fact) {
  if (const auto* failed = fact.as<logs::ProcessFailed>()) return end_text(*failed);
  if (const auto* cancelled = fact.as<logs::JobCancelled>()) return fmt::format("the job was ended by {}", cancelled->by);
  if (const auto* progress = fact.as<logs::GroupProgress>(); progress != nullptr && progress->timed_out_rank != no_rank)
    return fmt::format("was told that a collective of {} had timed out", short_ranks({progress->timed_out_rank}));
  if (const auto* raised = fact.as<logs::Raised>()) return raised_text(*raised);
  if (const auto* stack = fact.as<logs::Stack>()) return stack_text(*stack);
  if (const auto* exhausted = fact.as<logs::OutOfMemory>()) return "reports " + exhausted->text;
  if (const auto* missed = fact.as<logs::BarrierMissed>())
    return fmt::format("reports that {} did not reach monitored_barrier", listed(missed->ranks, missed->in_group));
  if (const auto* reached = fact.as<logs::BarrierReached>())
    return fmt::format("reached monitored_barrier, and its exchange with {} failed",
                       reached->blamed != no_rank ? short_ranks({reached->blamed}) : listed({}, {reached->blamed_in_group}));
  if (const auto* closed = fact.as<logs::PeerClosed>())
    return closed->address.empty() ? "lost a connection" : fmt::format("lost its connection to {}", closed->address);
  if (const auto* warning = fact.as<logs::NcclWarning>()) return fmt::format("{} warns: {}", nccl_on(*warning), warning->text);
  if (const auto* left = fact.as<logs::LocalRankLeft>())
    return fmt::format("local rank {}{} closed its connections: it ended, or gave NCCL up", left->local_rank,
                       left->host.empty() ? "" : " of " + left->host);
  if (const auto* transfer = fact.as<logs::TransferTimeout>())
    return fmt::format("waited {} for a {} to complete", seconds(transfer->timeout_ms),
                       transfer->is_send ? "send" : "receive");
  if (const auto* lost = fact.as<logs::HeartbeatLost>())
    return lost->seconds < 0 ? std::string("its watchdog made no progress")
                             : fmt::format("its watchdog made no progress for {}s", lost->seconds);
  if (const auto* met = fact.as<logs::FingerprintMismatch>())
    return fmt::format("{} met {}", side_text(met->mine), side_text(met->theirs));
  if (const auto* state = fact.as<logs::DesyncState>())
    return fmt::format("the desync report: {} {} {}{}", listed(state->ranks, state->in_group),
                       state->finished                                       ? "finished"
                       : state->ranks.size() + state->in_group.size() == 1 ? "was in"
                                                                             : "were in",
                       state->op.empty() ? "call" : operation_of(state->op),
                       number_text(state->seq));
  if (const auto* absent = fact.as<logs::DesyncAbsent>())
    return fmt::format("the desync report: {} joined no collective", listed(absent->ranks, absent->in_group));
  if (const auto* ras = fact.as<logs::RasReport>()) return ras_text(*ras);
  if (const auto* store = fact.as<logs::StoreTimeout>())
    return fmt::format("waited for the store{}", store->keys.empty() ? "" : " key " + store->keys);
  if (const auto* size = fact.as<logs::WorldSize>(); size != nullptr && size->joined >= 0)
    return fmt::format("{} of {} processes had joined", size->joined, size->ranks);
  return {};
}

class Proofs {
 public:
  void add(Rank rank, std::string text, std::string place) {
    if (text.empty()) return;
    const auto [at, is_new] = places_.try_emplace(text, proofs_.size());
    if (is_new) proofs_.push_back({{}, std::move(text), std::move(place)});
    if (rank != no_rank) proofs_[at->second].ranks.push_back(rank);
  }
  void give(LogStory& story) {
    for (LogProof& proof : proofs_) {
      std::sort(proof.ranks.begin(), proof.ranks.end());
      proof.ranks.erase(std::unique(proof.ranks.begin(), proof.ranks.end()), proof.ranks.end());
      if (story.proves.size() < most_proofs) {
        story.proves.push_back(std::move(proof));
      } else {
        ++story.more_proofs;
      }
    }
  }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<LogProof> proofs_;
};

// Returns the culprits whose stack, exception or end is not in the log.
std::vector<Rank> unseen_culprits(const LogFacts& facts, const std::vector<Diagnosis>& findings) {
  std::set<Rank> seen;
  for (const Fact& fact : facts.facts)
    if (fact.as<logs::Stack>() != nullptr || fact.as<logs::Raised>() != nullptr ||
        fact.as<logs::ProcessFailed>() != nullptr || fact.as<logs::OutOfMemory>() != nullptr)
      seen.insert(fact.rank);
  std::vector<Rank> unseen;
  for (const Diagnosis& d : findings)
    for (const Rank rank : d.ranks)
      if (seen.count(rank) == 0 && std::find(unseen.begin(), unseen.end(), rank) == unseen.end())
        unseen.push_back(rank);
  return unseen;
}

std::vector<Rank> named_ranks(const LogFacts& facts) {
  std::vector<Rank> ranks;
  for (const auto& [rank, seen] : facts.ranks) ranks.push_back(rank);
  return ranks;
}

bool is_hang(const std::vector<Diagnosis>& findings) {
  return findings.empty() || findings.front().id == "missing-call" || findings.front().id == "rank-hung" ||
         findings.front().id == "missing-record" || findings.front().id == "group-cycle";
}

void add_open(const LogFacts& facts, const LoggedGroups& groups, const LogRecord& record,
              const std::vector<Diagnosis>& findings, LogStory& story) {
  if (!record.world_size && is_hang(findings))
    story.open.push_back(
        fmt::format("how many ranks the job has: the log names {}, and a rank that printed nothing would be missing",
                    facts.ranks.empty() ? std::string("none") : short_ranks(named_ranks(facts))));
  const auto is_unnumbered = [](const auto& rank) {
    return !rank.second.timeouts.empty() && rank.second.timeouts.begin()->first < 0;
  };
  if (std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
        return std::any_of(group.second.ranks.begin(), group.second.ranks.end(), is_unnumbered);
      }))
    story.open.push_back("which call it was: this version of PyTorch does not print sequence numbers");
  if (const std::vector<Rank> unseen = unseen_culprits(facts, findings); !unseen.empty() && is_hang(findings))
    story.open.push_back(
        fmt::format("what {} did instead: the log has no stack, exception or exit of it", short_ranks(unseen)));
  const auto is_message = [](const Fact& fact) {
    const auto* timeout = fact.as<logs::WatchdogTimeout>();
    const std::string name = timeout == nullptr ? "" : operation_of(timeout->op);
    return name == "send" || name == "recv";
  };
  if (std::any_of(facts.facts.begin(), facts.facts.end(), is_message))
    story.open.push_back("with whom these sends and receives were: NCCL's watchdog does not print the peer; dumps have it");
  if (facts.lines_in_group > 0)
    story.open.push_back(
        fmt::format("which ranks of the job they are: {} line{} a rank within a group and none of the job; give one file "
                    "per rank, named rank_N.log, or logs with torch's [rankN]: prefix",
                    facts.lines_in_group, facts.lines_in_group == 1 ? " says" : "s say"));
  if (!facts.assumed_ranks.empty() && !findings.empty())
    story.open.push_back(
        fmt::format("whether the group is the whole job: lines count {} within a group that they do not name, and the log "
                    "shows no other group",
                    short_ranks(facts.assumed_ranks)));
  for (const auto& [label, group] : groups)
    if (!group.is_named)
      story.open.push_back(fmt::format("in which group {} waited: the line does not name it, and counts the ranks of that group", short_ranks(group.members)));
    else if (!group.is_one)
      story.open.push_back(
          fmt::format("which of {} share a group: several groups have the name {}, a number that each process counts",
                      short_ranks(group.members), label));
  if (std::any_of(facts.facts.begin(), facts.facts.end(), [](const Fact& fact) {
        const auto* failed = fact.as<logs::ProcessFailed>();
        return failed != nullptr && failed->rank == no_rank;
      }))
    story.open.push_back("which rank the process that ended was: give the logs of the ranks as well, or the launcher's table of failures");
  if (facts.unplaced_local_ranks)
    story.open.push_back("which global ranks the [default0]-like prefixes of the other hosts' logs are");
  if (facts.lines_beyond > 0)
    story.open.push_back(fmt::format("{} lines name ranks above {}, the highest that is read; they were left out",
                                     facts.lines_beyond, most_recorded_ranks - 1));
  if (facts.cut_lines > 0)
    story.open.push_back(
        fmt::format("{} lines were longer than {} bytes and were cut", facts.cut_lines, logs::most_line));
  if (facts.more_facts > 0)
    story.open.push_back(fmt::format("{} lines that repeat the same were only counted", facts.more_facts));
}

// The step of each finding that has one and whose culprits the log does not show already; then what shows more.
std::map<Rank, const Fact*> stack_by_rank(const LogFacts& facts) {
  std::map<Rank, const Fact*> of_rank;
  for (const Fact& fact : facts.facts) {
    const auto* stack = fact.as<logs::Stack>();
    if (stack == nullptr || fact.rank == no_rank) continue;
    const Fact*& best = of_rank[fact.rank];
    if (best == nullptr || own_frame(stack->frames) != nullptr) best = &fact;
  }
  return of_rank;
}

// The function of torch.distributed that the program had called.
std::string call_of(const logs::Stack& stack) {
  const StackFrame* own = own_frame(stack.frames);
  std::string call;
  for (const StackFrame& frame : stack.frames) {
    if (&frame == own) break;
    if (frame.file.ends_with("distributed_c10d.py")) call = frame.function;
  }
  return call;
}

void add_stacks(const LogFacts& facts, LogStory& story) {
  std::map<std::pair<std::string, std::string>, std::vector<Rank>> places;
  for (const auto& [rank, fact] : stack_by_rank(facts)) {
    const auto& stack = *fact->as<logs::Stack>();
    const StackFrame* own = own_frame(stack.frames);
    if (own != nullptr) places[{call_of(stack), frame_text(*own)}].push_back(rank);
  }
  if (places.size() < 2 || places.rbegin()->first.first.empty()) return;
  for (auto at = places.rbegin(); at != places.rend(); ++at) story.stacks.push_back({at->second, at->first.first, at->first.second});
  story.next.emplace_back("take the stacks once more after a minute: ranks that have not moved wait for each other, or are stuck");
}

// Whether Gloo reports, and no watchdog of NCCL does.
bool is_of_gloo(const LogFacts& facts) {
  bool any = false;
  for (const Fact& fact : facts.facts) {
    if (fact.as<logs::WatchdogTimeout>() != nullptr || fact.as<logs::GroupProgress>() != nullptr || fact.as<logs::HeartbeatLost>() != nullptr) return false;
    const auto* raised = fact.as<logs::Raised>();
    any = any || fact.as<logs::TransferTimeout>() != nullptr || fact.as<logs::MessageTooLong>() != nullptr || fact.as<logs::BarrierReached>() != nullptr ||
          (raised != nullptr && raised->message.find("gloo") != std::string::npos);
  }
  return any;
}

void add_next(const LogFacts& facts, const std::vector<Diagnosis>& findings, LogStory& story) {
  const auto add = [&story](std::string step) {
    if (std::find(story.next.begin(), story.next.end(), step) == story.next.end()) story.next.push_back(std::move(step));
  };
  SymptomCache symptoms;
  for (const Fact& fact : facts.facts)
    if (const auto* raised = fact.as<logs::Raised>(); raised != nullptr && findings.empty()) {
      const std::optional<SymptomMatch> match = symptoms.best(fmt::format("{}: {}", raised->type, raised->message));
      if (match && match->sureness == Sureness::sure) add(fmt::format("read `pdsim explain {}`: the text of this {} is one of its messages", match->symptom->entry, raised->type));
    }
  const std::vector<Rank> unseen = unseen_culprits(facts, findings);
  const auto is_unseen = [&](Rank r) { return std::find(unseen.begin(), unseen.end(), r) != unseen.end(); };
  std::size_t named = 0;
  for (const Diagnosis& d : findings) {
    if (!d.next.empty()) {
      if (d.ranks.empty() || std::any_of(d.ranks.begin(), d.ranks.end(), is_unseen)) add(d.next);
      continue;
    }
    for (const Rank rank : d.ranks)
      if (is_hang(findings) && is_unseen(rank) && named++ < most_named_culprits)
        add(fmt::format("while it hangs: `py-spy dump --pid PID` for rank {}", rank));
  }
  const auto any = [&](const auto& is) { return std::any_of(facts.facts.begin(), facts.facts.end(), is); };
  if (findings.empty() && any([](const Fact& fact) { return fact.as<logs::PeerClosed>() != nullptr || fact.as<logs::LocalRankLeft>() != nullptr; }))
    add("find the rank that ended first: its own log has an exception, or the kernel's log of its machine (dmesg -T) or the batch system says who ended it");
  const bool has_proofs = !story.proves.empty() || !facts.ranks.empty();
  if (is_hang(findings) && has_proofs)
    add(is_of_gloo(facts) ? "run again with TORCH_FR_BUFFER_SIZE=2000, let each rank write _dump_fr_trace() while it hangs (docs/pytorch.md), and give the dumps to "
                            "pdsim diagnose"
                          : "run again with TORCH_FR_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1, and give the dumps to pdsim diagnose");
  for (const Fact& fact : facts.facts)
    if (const auto* failed = fact.as<logs::ProcessFailed>(); failed != nullptr && failed->signal == 9) {
      add(fmt::format("look for the kernel's out-of-memory killer{}: dmesg -T, journalctl -k",
                      failed->host.empty() ? "" : " on " + failed->host));
      break;
    }
}

}  // namespace

std::string end_text(const logs::ProcessFailed& failed) {
  std::string text = failed.out_of_memory ? "killed because memory ran out"
                     : failed.signal != 0 ? fmt::format("ended by signal {}", failed.signal)
                                          : fmt::format("ended with exit code {}", failed.exit_code);
  if (failed.rank == no_rank) text = fmt::format("{}: {}", process_text(failed), text);
  if (!failed.host.empty()) text += fmt::format(" on {}", failed.host);
  if (failed.first) text += "; the launcher saw it fail first";
  return text;
}

std::vector<LogProof> stacks_of(const LogFacts& facts) {
  Proofs proofs;
  for (const auto& [rank, fact] : stack_by_rank(facts))
    proofs.add(rank, stack_text(*fact->as<logs::Stack>()), place_of(facts, *fact));
  LogStory story;
  proofs.give(story);
  return std::move(story.proves);
}

LogStory story_of(const LogFacts& facts, const LoggedGroups& groups, const LogRecord& record,
                  const std::vector<Diagnosis>& findings) {
  LogStory story;
  story.knows_size = record.world_size.has_value();
  Proofs proofs;
  for (const auto& [label, group] : groups)
    for (const auto& [rank, progress] : group.ranks)
      if (progress.fact != nullptr) proofs.add(rank, waited_text(label, progress), place_of(facts, *progress.fact));
  const auto has_lines = [](const LoggedProgress& progress) { return progress.fact != nullptr; };  // of its own, which say how far it came
  std::set<Rank> raised;  // whose exception says the rest
  for (const Fact& fact : facts.facts)
    if (fact.as<logs::Raised>() != nullptr && fact.rank != no_rank) raised.insert(fact.rank);
  for (const Fact& fact : facts.facts) {
    const bool is_repeated = raised.count(fact.rank) != 0 &&
                             (fact.as<logs::PeerClosed>() != nullptr || fact.as<logs::TransferTimeout>() != nullptr ||
                              fact.as<logs::StoreTimeout>() != nullptr || fact.as<logs::OutOfMemory>() != nullptr);
    const auto* progress = fact.as<logs::GroupProgress>();
    if (progress != nullptr && any_progress(groups, progress->timed_out_rank, has_lines)) continue;
    if (!is_repeated) proofs.add(fact.rank, says(fact), place_of(facts, fact));
  }
  proofs.give(story);
  add_open(facts, groups, record, findings, story);
  if (findings.empty()) add_stacks(facts, story);
  add_next(facts, findings, story);
  return story;
}

}  // namespace pdsim::scenarios
