// Processes that meet others than they should, or nobody: one port for two jobs, one rank twice, a file each.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

bool suffers_in_init(const Report& report) {
  return std::any_of(report.errors.begin(), report.errors.end(),
                     [](const RankError& e) { return e.in == "init_process_group"; }) ||
         std::any_of(report.blocked.begin(), report.blocked.end(), [](const BlockedRank& b) {
           return b.site == "init_process_group" || b.in == "init_process_group";
         });
}

void place(Diagnosis& d, const Report& report, const Note& note, std::string label) {
  add_span(d, report, note.site.line, note.site.column, std::move(label), true);
  d.inevitable_at = note.at;
}

// Ranks that said they are one that somebody else is, with what they said: "0 and 1".
struct Doubles {
  std::vector<Rank> ranks, say, holders;
  const Note* first = nullptr;
  bool all_local = true;
};

Doubles doubles_of(const Report& report, Diagnosis& d) {
  Doubles found;
  for (const RankResult& result : report.run.ranks) {
    const Note* note = first_note<notes::IdentityClaimed>(result.log);
    if (note == nullptr || note->as<notes::IdentityClaimed>().taken_by == no_rank) continue;
    const auto& claimed = note->as<notes::IdentityClaimed>();
    const Rank holder = claimed.taken_by, says = claimed.rank;
    found.ranks.push_back(result.log.rank);
    add_once(found.say, says);
    add_once(found.holders, holder);
    found.all_local = found.all_local && claimed.local;
    d.evidence.push_back(evidence_of(result.log.rank, *note, fmt::format("claims to be rank {}, as rank {} did", says, holder)));
    if (found.first == nullptr) found.first = note;
  }
  return found;
}

// By file: the ranks that opened it, those of rank 0's file apart.
std::map<std::string, std::vector<Rank>> files_of(const Report& report, Diagnosis& d) {
  std::map<std::string, std::vector<Rank>> files;
  for (const RankResult& result : report.run.ranks) {
    const Note* note = first_note<notes::StoreOpened>(result.log);
    if (note == nullptr) continue;
    const std::string& path = note->as<notes::StoreOpened>().path;
    files[path].push_back(result.log.rank);
    d.evidence.push_back(evidence_of(result.log.rank, *note, fmt::format("opened {}", path)));
  }
  return files;
}

}  // namespace

std::optional<Diagnosis> port_in_use(const Report& report) {
  Diagnosis d;
  const Note* first = nullptr;
  std::vector<Rank> holders, mixed;
  for (const RankResult& result : report.run.ranks) {
    const Note* note = first_note<notes::PortTaken>(result.log);
    if (note == nullptr) continue;
    d.ranks.push_back(result.log.rank);
    add_once(holders, note->as<notes::PortTaken>().held_by);
    d.evidence.push_back(evidence_of(result.log.rank, *note, "wanted to listen at the port"));
    if (first == nullptr) first = note;
  }
  if (first == nullptr) return std::nullopt;
  const Doubles doubles = doubles_of(report, d);
  const std::int64_t port = first->as<notes::PortTaken>().port;
  d.headline = fmt::format("{} to listen on port {}, where {} of another job listens", who(d.ranks, "wants", "want"),
                           port, short_ranks(holders));
  d.cause = fmt::format("two jobs have MASTER_PORT {} on one host", port);
  d.why =
      "The process with rank 0 serves the store at MASTER_PORT. The operating system does not let the second one "
      "listen on the same port. The other processes of its job only connect, and the first job's rank 0 answers them: "
      "they end up in the store of the first job.";
  if (!doubles.ranks.empty())
    d.why += fmt::format(" There it met {}, which had joined as {} before {}, and no one waits for the second process "
                         "with a rank.",
                         short_ranks(doubles.holders), short_ranks(doubles.say), short_ranks(doubles.ranks));
  d.fix = {"use a different port for each job: init_process_group: {port: ...}, that is, MASTER_PORT, or torchrun "
           "--rdzv-endpoint=localhost:0",
           "use a different port for each job: MASTER_PORT, or torchrun --rdzv-endpoint=localhost:0"};
  d.fix_lines = {"the port of a job that has ended may stay in use for another minute"};
  place(d, report, *first, fmt::format("port {} is taken", port));
  d.inevitable = fmt::format("since {}: port {} was taken", to_string(d.inevitable_at), port);
  return d;
}

std::optional<Diagnosis> rank_claimed_twice(const Report& report) {
  if (!suffers_in_init(report)) return std::nullopt;
  Diagnosis d;
  const Doubles doubles = doubles_of(report, d);
  if (doubles.first == nullptr) return std::nullopt;
  d.ranks = doubles.ranks;
  d.headline =
      fmt::format("{} to init_process_group as {}, which {} already {}", who(d.ranks, "comes", "come"),
                  short_ranks(doubles.say), short_ranks(doubles.holders), doubles.holders.size() == 1 ? "is" : "are");
  d.cause = doubles.all_local ? fmt::format("{} its place in its node for its rank: LOCAL_RANK for RANK",
                                            who(d.ranks, "took", "took"))
                              : fmt::format("two processes claim {}", short_ranks(doubles.say));
  d.why =
      "Nothing counts processes: each publishes its address under its own rank and looks up the others under theirs. "
      "If two have the same rank, the others meet only one of them. The second waits for peers that do not expect it, "
      "and all wait for the ranks that no process has.";
  d.fix = "leave `rank` out of init_process_group, that is, RANK from the launcher and not LOCAL_RANK";
  d.fix_lines = {"LOCAL_RANK is for set_device; RANK = node x processes per node + LOCAL_RANK"};
  place(d, report, *doubles.first,
        fmt::format("claims rank {} a second time", doubles.first->as<notes::IdentityClaimed>().rank));
  d.inevitable = fmt::format("since {}: two processes had the same rank", to_string(d.inevitable_at));
  return d;
}

std::optional<Diagnosis> store_not_shared(const Report& report) {
  if (!suffers_in_init(report)) return std::nullopt;
  Diagnosis d;
  const auto files = files_of(report, d);
  if (files.size() < 2) return std::nullopt;
  const auto with_zero = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.second.front() == 0; });
  std::size_t most = 0;
  for (const auto& [path, ranks] : files) most = std::max(most, ranks.size());
  const bool zero_wins = with_zero != files.end() && with_zero->second.size() == most;
  std::string right = zero_wins ? with_zero->first : std::string();
  for (const auto& [path, ranks] : files)
    if (right.empty() && ranks.size() == most) right = path;
  std::vector<std::string> others_have;
  for (const auto& [path, ranks] : files) {
    if (path == right) continue;
    others_have.push_back(path);
    for (const Rank rank : ranks) add_once(d.ranks, rank);
  }
  d.headline = fmt::format("{} the store {}, and {} {}", who(d.ranks, "opened", "opened"), list_text(others_have),
                           short_ranks(files.at(right)), right);
  d.cause = fmt::format("{} another file than {}", who(d.ranks, "has", "have"), short_ranks(files.at(right)));
  d.why =
      "With file:// the ranks meet through one file that all of them see. A relative path, or one on a host's local "
      "disk, names a different file on each host: every rank writes its own address and waits for records that the "
      "others write elsewhere.";
  d.fix = {"one absolute path on a disk that all hosts share, for example init_process_group: {method: file, path: " + right + "}",
           "one absolute path on a disk that all hosts share: init_method=\"file:///...\""};
  d.fix_lines = {alternative("use tcp:// or env://, which need no shared disk")};
  if (const Note* note = first_note<notes::StoreOpened>(log_of(report.run, d.ranks.front())))
    place(d, report, *note, "opens another file");
  d.inevitable = fmt::format("since {}: the files differ", to_string(d.inevitable_at));
  return d;
}

constexpr std::string_view port_in_use_text =
    R"(Two jobs on one host have the same MASTER_PORT. The second job's rank 0 cannot listen there; its other processes connect to the
first job's store, which then has two processes for some ranks. Whichever of the two connects first joins the first job, so it
may train with a process of the other job.

How to recognise it: "The server socket has failed to bind", "Address already in use", "errno: 98" from one rank 0, while other
processes of both jobs hang in init_process_group.

Fix: a different port for each job: MASTER_PORT, torchrun --rdzv-endpoint=localhost:0, or a number derived from the job's id.)";

constexpr std::string_view rank_claimed_twice_text =
    R"(Two processes were given the same rank, usually because LOCAL_RANK or SLURM_LOCALID was used as RANK, or because both nodes
were started with node_rank 0. Each finds peers under the ranks that exist, and waits for those that do not.

How to recognise it: init_process_group hangs with two nodes and works with one; logs of two hosts show the same rank; the
store counts the right number of clients, and the error names a rank that no process has.

Fix: RANK = node_rank x nproc_per_node + LOCAL_RANK, or leave it to the launcher.)";

constexpr std::string_view store_not_shared_text =
    R"(With init_method file:// the ranks opened different files: a relative path in different working directories, each host's
/tmp, or a container's own file system. The ranks that share a file form a world of their own, with too few ranks.

How to recognise it: init_process_group waits until its timeout on every rank, there is a file on each host, and each holds
only the records of that host's ranks.

Fix: an absolute path on a shared disk, or tcp:// or env://.)";

extern const DiagnosisRow port_in_use_row;
const DiagnosisRow port_in_use_row{150, "port-in-use", "two jobs use one MASTER_PORT", port_in_use, port_in_use_text};
extern const DiagnosisRow rank_claimed_twice_row;
const DiagnosisRow rank_claimed_twice_row{170, "rank-claimed-twice", "two processes claim the same rank",
                                          rank_claimed_twice, rank_claimed_twice_text};
extern const DiagnosisRow store_not_shared_row;
const DiagnosisRow store_not_shared_row{180, "store-not-shared", "ranks opened different store files", store_not_shared,
                                        store_not_shared_text};

}  // namespace pdsim::scenarios::diagnoses
