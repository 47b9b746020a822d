// Ranks that expect another number of ranks or of connections than the others, and keys of the store that nobody sets.
#include "core/base/nearest.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

// Whether a rank gave up in this operation, or sits in it.
bool suffers_in(const Report& report, std::string_view operation) {
  return std::any_of(report.errors.begin(), report.errors.end(),
                     [&](const RankError& e) { return e.in == operation && is_timeout(e.code); }) ||
         std::any_of(report.blocked.begin(), report.blocked.end(),
                     [&](const BlockedRank& b) { return b.site == operation || b.in == operation; });
}

// Returns the ranks that failed there with an error that ranks get when they were given different numbers: rejected, or
// left alone.
std::vector<Rank> failed_in(const Report& report, std::string_view operation) {
  constexpr std::array codes{Code::invalid_argument, Code::peer_closed, Code::store_closed, Code::connection_refused};
  std::vector<Rank> failed;
  for (const RankError& e : report.errors)
    if (e.in == operation && std::find(codes.begin(), codes.end(), e.code) != codes.end()) add_once(failed, e.rank);
  return failed;
}

// Groups the ranks by the count that each one noted.
template <class T>
std::map<std::int64_t, std::vector<Rank>> said(const Report& report, Diagnosis& d, std::string_view what) {
  std::map<std::int64_t, std::vector<Rank>> by_count;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<T>(result.log)) {
      const std::int64_t count = note->as<T>().count;
      add_once(by_count[count], result.log.rank);
      d.evidence.push_back(evidence_of(result.log.rank, *note, fmt::format("{} {}", what, count)));
    }
  return by_count;
}

template <class T>
void place(Diagnosis& d, const Report& report, std::string label) {
  const Note* note = first_note<T>(log_of(report.run, d.ranks.front()));
  if (note == nullptr) return;
  add_span(d, report, note->site.line, note->site.column, std::move(label), true);
  d.inevitable_at = note->at;
}

// More ranks expected than started.
void explain_absent(Diagnosis& d, std::int64_t count, int started) {
  d.headline = fmt::format("{} for {} ranks in init_process_group, and {} were started", who(d.ranks, "waits", "wait"),
                           count, started);
  d.cause = fmt::format("nobody is rank {}", started);
  d.why = fmt::format(
      "init_process_group returns when world_size ranks have met. The number comes from the caller, and nothing counts "
      "the processes: {} {} for the address of rank {}, which no process will publish.",
      short_ranks(d.ranks), d.ranks.size() == 1 ? "looks" : "look", started);
}

// Fewer ranks expected than started, on some ranks or on all.
void explain_left_out(Diagnosis& d, const Report& report, const std::vector<Rank>& failed, std::int64_t count,
                      int started) {
  d.headline = fmt::format("{} {} rank{} in init_process_group, and {} were started", who(d.ranks, "expects", "expect"),
                           count, count == 1 ? "" : "s", started);
  std::vector<Rank> beyond;
  for (const Rank rank : d.ranks)
    if (rank >= count && contains(failed, rank)) beyond.push_back(rank);
  const std::vector<Rank> rest = others(report, d.ranks);
  d.cause = beyond.empty() ? fmt::format("{} {} other ranks than {}", short_ranks(d.ranks),
                                         d.ranks.size() == 1 ? "expects" : "expect", short_ranks(rest))
                           : fmt::format("{} not in a world of {}", who(beyond, "is", "are"), count);
  d.why = fmt::format(
      "The world size comes from the caller of init_process_group, and nothing counts the processes. A world of {} has "
      "{}.",
      count, count == 1 ? "only rank 0" : fmt::format("only ranks 0 to {}", count - 1));
  if (!beyond.empty())
    d.why += fmt::format(" {} {} that and {} rejected.", capitalised(short_ranks(beyond)),
                         beyond.size() == 1 ? "is beyond" : "are beyond", beyond.size() == 1 ? "was" : "were");
  if (!rest.empty())
    d.why += fmt::format(" {} a group of {} with {}, but ranks can form a group only if they agree on its size.",
                         capitalised(who(rest, "expects", "expect")), started, short_ranks(d.ranks));
  else if (beyond.size() < d.ranks.size())
    d.why += fmt::format(" The others form a group without {} and continue.", short_ranks(beyond));
}

struct Waited {
  Rank rank = 0;
  const Call* call = nullptr;
};

// The call of the store that a program's own store_get or store_wait is in, or gave up in.
std::optional<Waited> waited_for(const Report& report) {
  for (const RankResult& result : report.run.ranks)
    for (const Call& call : result.log.calls) {
      if (call.layer != Layer::store || (!is_unfinished(call) && call.error != Code::store_timeout)) continue;
      const Call* around = enclosing(result.log, call);
      if (around != nullptr && (around->name == "store_get" || around->name == "store_wait"))
        return Waited{result.log.rank, &call};
    }
  return std::nullopt;
}

// Keys that programs wrote, by which rank and when.
std::map<std::string, Waited> written(const Report& report) {
  std::map<std::string, Waited> keys;
  for (const RankResult& result : report.run.ranks)
    for (const Call& call : result.log.calls) {
      const Call* around = call.layer == Layer::store ? enclosing(result.log, call) : nullptr;
      if (around != nullptr && (around->name == "store_set" || around->name == "store_add"))
        keys.try_emplace(text_of(call.purpose), Waited{result.log.rank, &call});
    }
  return keys;
}

// Without what stands before the last slash, so that a prefix that one side forgot is found too.
std::string without_prefix(const std::string& key) { return key.substr(key.rfind('/') + 1); }

// The reader does not look for a key that it has written itself.
std::string meant_key(const std::string& key, Rank reader, const std::map<std::string, Waited>& keys) {
  std::vector<std::string> names;
  for (const auto& [name, by] : keys) {
    if (by.rank == reader) continue;
    if (without_prefix(name) == without_prefix(key)) return name;
    names.push_back(name);
  }
  const auto close = nearest(key, std::span<const std::string>(names));
  return close ? std::string(*close) : std::string();
}

void explain_late(Diagnosis& d, const Waited& writer, const std::string& key, Time given_up) {
  d.ranks = {writer.rank};
  d.headline += fmt::format(", which rank {} set {} too late", writer.rank,
                            to_string(Time{std::max<std::int64_t>(writer.call->issued.ps - given_up.ps, 0)}));
  d.cause = fmt::format("rank {} reached set {} at {}", writer.rank, key, to_string(writer.call->issued));
  d.fix = "give the reader a longer timeout, or set the key before the writer's long work";
  d.evidence.push_back(evidence_of(writer.rank, *writer.call, "sets the key, after the reader gave up"));
}

}  // namespace

std::optional<Diagnosis> interface_counts(const Report& report) {
  if (!suffers_in(report, "init_process_group")) return std::nullopt;
  Diagnosis d;
  const auto counts = said<notes::InterfacesUsed>(report, d, "interfaces:");
  if (counts.size() < 2) return std::nullopt;
  const auto& [fewest, fewer] = *counts.begin();
  const auto& [most, more] = *counts.rbegin();
  d.ranks = more.size() <= fewer.size() ? more : fewer;
  d.headline = fmt::format("{} {} interfaces to Gloo and {} {}", who(more, "gives", "give"), most,
                           who(fewer, "gives", "give"), fewest);
  d.cause =
      fmt::format("{} connects over interface {}, which {} never uses", short_ranks(more), fewest, short_ranks(fewer));
  d.why = fmt::format(
      "Gloo creates one context for each name in GLOO_SOCKET_IFNAME, and in each context every rank connects to every "
      "other. {} reached context {} and waits there for {}, which does not have it.",
      capitalised(short_ranks(more)), fewest, short_ranks(fewer));
  d.fix = "give the same number of names in GLOO_SOCKET_IFNAME on every rank";
  d.fix_lines = {"the names may differ between hosts, but not their number"};
  place<notes::InterfacesUsed>(d, report, "a different number of interfaces than the others");
  d.inevitable = fmt::format("since {}: the numbers differ", to_string(d.inevitable_at));
  return d;
}

std::optional<Diagnosis> world_size(const Report& report) {
  const std::vector<Rank> failed = failed_in(report, "init_process_group");
  if (failed.empty() && !suffers_in(report, "init_process_group")) return std::nullopt;
  Diagnosis d;
  const auto counts = said<notes::RanksExpected>(report, d, "expects ranks:");
  if (counts.empty()) return std::nullopt;
  const int started = static_cast<int>(report.run.ranks.size());
  const bool too_many = counts.rbegin()->first > started;
  const auto& [count, ranks] = too_many ? *counts.rbegin() : *counts.begin();
  d.ranks = ranks;
  if (too_many)
    explain_absent(d, count, started);
  else
    explain_left_out(d, report, failed, count, started);
  d.fix = {fmt::format("init_process_group: {{world_size: {}}}, or leave it to the launcher", started),
           "init_process_group() without world_size, which the launcher knows"};
  d.fix_lines = {too_many ? "nodes x processes per node, and every node must be started"
                          : "nodes x processes per node: the same number on every rank"};
  place<notes::RanksExpected>(d, report, fmt::format("expects {} rank{}", count, count == 1 ? "" : "s"));
  d.inevitable = fmt::format("since {}: {}", to_string(d.inevitable_at), d.cause);
  if (too_many) d.inevitable = fmt::format("since {}: rank {} does not exist", to_string(d.inevitable_at), started);
  return d;
}

std::optional<Diagnosis> store_key_missing(const Report& report) {
  const std::optional<Waited> reader = waited_for(report);
  if (!reader) return std::nullopt;
  const std::string key = text_of(reader->call->purpose);
  const auto keys = written(report);
  Diagnosis d;
  d.ranks = {reader->rank};
  d.evidence.push_back(evidence_of(reader->rank, *reader->call, fmt::format("waits for the key {}", key)));
  d.headline = fmt::format("rank {} waits for the key {} of the store", reader->rank, key);
  d.why =
      "get and wait of a store block until some rank has set the key. If no rank sets it, they wait until the store's "
      "timeout: that of init_process_group for the store that it opened, and 5 minutes by default for any other.";
  const bool gave_up = reader->call->error == Code::store_timeout;
  if (const auto set = keys.find(key); set != keys.end()) {
    if (!gave_up || set->second.call->issued < reader->call->finished) return std::nullopt;  // it was there
    explain_late(d, set->second, key, reader->call->finished);
  } else {
    const std::string meant = meant_key(key, reader->rank, keys);
    d.headline += meant.empty() ? ", which no rank has set" : fmt::format(", while {} was set", meant);
    d.cause = fmt::format("no rank has set {}", key);
    d.fix = meant.empty() ? fmt::format("set {} on some rank before another waits for it", key)
                          : fmt::format("read {}, or set {}", meant, key);
    if (!meant.empty()) {
      const Waited& other = keys.at(meant);
      d.evidence.push_back(evidence_of(other.rank, *other.call, fmt::format("sets {}", meant)));
      add_span(d, report, other.call->site.line, other.call->site.column, fmt::format("sets {}", meant), false);
    }
  }
  d.fix_lines = {"a PrefixStore puts its prefix and a slash in front of every key"};
  add_span(d, report, reader->call->site.line, reader->call->site.column, fmt::format("waits for {}", key), true);
  d.inevitable_at = reader->call->issued;
  d.inevitable = fmt::format("since {}: {} waits for {}", to_string(d.inevitable_at), short_ranks({reader->rank}), key);
  return d;
}

std::optional<Diagnosis> store_gone(const Report& report) {
  if (report.errors.empty() || first_cause(report.errors).code != Code::store_closed) return std::nullopt;
  const RankLog& server = log_of(report.run, 0);
  if (server.end != RankEnd::returned) return std::nullopt;  // its own error is the cause
  Diagnosis d;
  d.ranks = {0};
  std::vector<Rank> left;
  const Call* call = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    if (log.end != RankEnd::raised || log.error.code != Code::store_closed || log.rank == 0) continue;
    const Call* failed = failed_operation(log, Code::store_closed);
    if (failed == nullptr) continue;
    add_once(left, log.rank);
    d.evidence.push_back(evidence_of(log.rank, *failed, "found that the store was gone"));
    if (call == nullptr || failed->issued < call->issued) call = failed;
  }
  if (call == nullptr) return std::nullopt;
  d.headline = fmt::format("rank 0 ended at {}, and with it the store that {} in {}", to_string(server.ended),
                           who(left, "needs", "need"), call->name);
  d.cause = fmt::format("rank 0, whose process serves the store, ended before {}", short_ranks(left));
  d.why =
      "With tcp:// and env:// rank 0's process is the store's server. When it ends, the sockets of all clients close. "
      "Collectives of an existing group continue without the store; a new group, the first call of an NCCL group, a "
      "monitored barrier or the program's own keys do not.";
  d.fix = "put a barrier of all ranks before the end of rank 0";
  d.fix_lines = {alternative("use a store that outlives the ranks: torchrun's agent serves it "
                             "(TORCHELASTIC_USE_AGENT_STORE)")};
  add_span(d, report, call->site.line, call->site.column, "needs the store", true);
  d.inevitable_at = server.ended;
  d.inevitable = fmt::format("since {}: rank 0 has ended", to_string(server.ended));
  return d;
}

constexpr std::string_view store_gone_text =
    R"(Rank 0 ended first, and the store lived in its process. Other ranks that still set or read a key, create a group, or connect for
the first time find its socket closed.

How to recognise it: "Broken pipe", "Connection reset by peer" or "recvValue failed" from TCPStore at the end of a job that
otherwise succeeded, on any rank but 0; a watchdog that cannot reach the store.

Fix: a barrier before the end, so that rank 0 is not the first; or torchrun, whose agent serves the store.)";

constexpr std::string_view interface_counts_text =
    R"(GLOO_SOCKET_IFNAME names several interfaces, and their number differs between ranks. Gloo connects all ranks once per
interface, and ranks with more interfaces wait for the others in a context that the others do not have.

How to recognise it: init_process_group hangs on some ranks and returns on others, which then hang in their first
collective; hosts have different network cards, or one host sets the variable in an old profile.

Fix: the same number of names everywhere; one is enough.)";

constexpr std::string_view world_size_text =
    R"(A rank expects a different number of ranks than were started: a node of the job did not come up, or one too many did, WORLD_SIZE
was set by hand, or nnodes and nproc_per_node do not fit.

How to recognise it: if the number is too large, init_process_group waits on every rank until its timeout; the error names a
rank that no process has, or says how many of how many have joined. If it is too small, the ranks beyond it fail at once in
Gloo, with "rank < size. 2 vs 2", and the others train without them. If it differs between ranks, those with the larger number
wait.

Fix: start what is missing, or leave RANK and WORLD_SIZE to the launcher.)";

constexpr std::string_view store_key_missing_text =
    R"(A rank reads a key of the store that no rank sets, or that is set after the reader has given up. Keys differ by a typo, a
number, or a prefix: a PrefixStore, and every process group, puts its own in front of each key.

How to recognise it: the store reports a wait timeout with the key in its text, or "Socket Timeout" in older versions,
while the other ranks are fine.

Fix: the same key, through the same prefix; and a timeout that covers the writer's work.)";

extern const DiagnosisRow interface_counts_row;
const DiagnosisRow interface_counts_row{190, "interface-counts", "ranks gave Gloo different numbers of interfaces",
                                        interface_counts, interface_counts_text};
extern const DiagnosisRow world_size_row;
const DiagnosisRow world_size_row{200, "world-size", "a rank expects a different number of ranks than were started",
                                  world_size, world_size_text};
extern const DiagnosisRow store_gone_row;
const DiagnosisRow store_gone_row{210, "store-gone", "the process that serves the store ended while others needed it",
                                  store_gone, store_gone_text};
extern const DiagnosisRow store_key_missing_row;
const DiagnosisRow store_key_missing_row{220, "store-key-missing",
                                         "a rank waits for a key of the store that no rank has set", store_key_missing,
                                         store_key_missing_text};

}  // namespace pdsim::scenarios::diagnoses
