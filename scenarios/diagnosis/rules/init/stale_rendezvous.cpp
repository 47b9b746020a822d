// A rank read from the store what an earlier launch had written there, or could not write what was already there, and its init
// failed or never came back.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

const Note* stale_read(const RankLog& log) {
  for (const Note* note : notes_of<notes::StoreRead>(log)) {
    const auto& read = note->as<notes::StoreRead>();
    if (read.launch > 0 && read.launch < read.now) return note;
  }
  return nullptr;
}

const notes::StoreRead& read_of(const Note& note) { return note.as<notes::StoreRead>(); }
bool is_refusal(const Note& note) { return read_of(note).refused; }

bool suffers(const Report& report, Rank rank, const Note& stale) {
  const auto in_init = [](const BlockedRank& b) {
    return b.in == "init_process_group" || b.site == "init_process_group";
  };
  const auto about_peers = [&stale](const RankError& e) {
    return is_timeout(e.code) || is_consequence(e.code) || e.code == Code::connection_refused ||
           e.code == Code::store_corrupt || (is_refusal(stale) && e.code == Code::io_error);
  };
  return std::any_of(report.blocked.begin(), report.blocked.end(),
                     [&](const BlockedRank& b) { return b.rank == rank && in_init(b); }) ||
         std::any_of(report.errors.begin(), report.errors.end(),
                     [&](const RankError& e) { return e.rank == rank && about_peers(e); });
}

void tell_read(Diagnosis& d, const Note& note, std::string_view path, Rank reader) {
  const std::string& key = read_of(note).key;
  d.headline = fmt::format("{} rendezvoused with records that an earlier run left in {}", short_ranks(d.ranks), path);
  d.cause = fmt::format("rank {} read the key {}, written by launch {}, before its owner rewrote it in launch {}",
                        reader, key, read_of(note).launch, read_of(note).now);
  d.why = fmt::format(
      "The earlier run ended without its clean-up, so {} still holds its records, and old records look exactly like "
      "new ones. Rank {} read {} before the rank that owns it had rewritten it, and now waits for a process that is "
      "gone. The file is not damaged, and the outcome depends on timing, so the next start may work.",
      path, reader, key);
}

void tell_refusal(Diagnosis& d, const Note& note, std::string_view path, Rank writer) {
  const std::string& key = read_of(note).key;
  d.headline = fmt::format("{} found files that an earlier run left in {}", short_ranks(d.ranks), path);
  d.cause =
      fmt::format("rank {} could not write the key {}, which launch {} had written", writer, key, read_of(note).launch);
  d.why = fmt::format(
      "Gloo's FileStore keeps a file for each key in the folder {}, never removes one, not even at a clean end, and "
      "refuses to overwrite one that exists. Rank {} found the file of {} and failed at once: better than c10d's "
      "FileStore, which would have continued with the old value.",
      path, writer, key);
}

}  // namespace

std::optional<Diagnosis> stale_rendezvous(const Report& report) {
  Diagnosis d;
  const Note* first = nullptr;
  Rank reader = 0;
  bool anybody_suffers = false;
  for (const RankResult& result : report.run.ranks) {
    const Note* note = stale_read(result.log);
    if (note == nullptr) continue;
    add_once(d.ranks, result.log.rank);
    anybody_suffers = anybody_suffers || suffers(report, result.log.rank, *note);
    d.evidence.push_back(evidence_of(
        result.log.rank, *note,
        fmt::format("{} {}, which launch {} had written, in launch {}", is_refusal(*note) ? "could not write" : "read",
                    read_of(*note).key, read_of(*note).launch, read_of(*note).now)));
    if (first == nullptr || note->at < first->at) {
      first = note;
      reader = result.log.rank;
    }
  }
  if (first == nullptr || !anybody_suffers) return std::nullopt;

  const Note* opened = first_note<notes::StoreOpened>(log_of(report.run, reader));
  const std::string path = opened != nullptr ? opened->as<notes::StoreOpened>().path : "the store";
  const std::string& key = read_of(*first).key;
  is_refusal(*first) ? tell_refusal(d, *first, path, reader) : tell_read(d, *first, path, reader);
  d.fix = {"give every run its own path, for example  init_process_group: {method: file, path: run/store.2}",
           "give every run its own file: init_method=\"file://...\""};
  d.fix_lines = {alternative(
      "remove the file before the start, or use init_process_group: {method: tcp}, whose store dies with rank 0",
      "remove the file before the start, or use init_method=\"tcp://...\", whose store dies with rank 0")};
  add_span(d, report, first->site.line, first->site.column,
           fmt::format("opens {}, left by an earlier run", path), true);
  add_crash_spans(d, report, "the processes died here and did not clean up");
  d.inevitable_at = first->at;
  d.inevitable = fmt::format("since {}: rank {} {} the old {}", to_string(first->at), reader,
                             is_refusal(*first) ? "met" : "read", key);
  return d;
}

constexpr std::string_view stale_rendezvous_text =
    R"(init_process_group(init_method="file:///path") keeps its key-value store in an append-only file. A run that ends in order
removes the file when its last process leaves; a killed one does not. The next run with the same path opens the old file,
and nothing tells an old record from a new one: a rank that reads a peer's address before that peer has rewritten it
connects to a process that is gone.

The outcome depends on timing: connection refused at once, a timeout in init_process_group, or success. After a failed start
the clean-up counters may happen to add up, so the third run works: the failure comes and goes.

How to recognise it: the error is in init_process_group, the path exists before the start, and a fresh path fixes it.

Fix: use a new path for every run, or remove the file first; or use the tcp:// or env:// methods, whose store lives and dies
with rank 0's process.)";

extern const DiagnosisRow stale_rendezvous_row;
const DiagnosisRow stale_rendezvous_row{60, "stale-rendezvous",
                                        "a rank read records that an earlier run left in the store", stale_rendezvous,
                                        stale_rendezvous_text};

}  // namespace pdsim::scenarios::diagnoses
