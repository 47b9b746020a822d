// A file that several ranks write, or that one reads while another writes.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Use {
  Rank rank = 0;
  const Note* note = nullptr;
  std::string path;
};

template <class T>
std::vector<Use> uses_of(const Report& report) {
  std::vector<Use> uses;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<T>(result.log)) uses.push_back({result.log.rank, note, note->as<T>().path});
  return uses;
}

// Returns the ranks that wrote each file, begun or finished.
std::map<std::string, std::vector<Rank>> writers_of(const Report& report) {
  std::map<std::string, std::vector<Rank>> writers;
  for (const Use& use : uses_of<notes::FileBegun>(report)) add_once(writers[use.path], use.rank);
  for (const Use& use : uses_of<notes::FileWritten>(report)) add_once(writers[use.path], use.rank);
  for (auto& [path, ranks] : writers) std::sort(ranks.begin(), ranks.end());
  return writers;
}

// The first read that found a part of the file only.
const Use* cut_read(const std::vector<Use>& reads) {
  const Use* first = nullptr;
  for (const Use& use : reads)
    if (!use.note->as<notes::FileRead>().whole && (first == nullptr || use.note->at < first->note->at)) first = &use;
  return first;
}

// Returns the ranks that were writing this file at that moment.
std::vector<Rank> writing_at(const Report& report, const std::string& path, Time moment) {
  std::vector<Rank> ranks;
  for (const Use& begun : uses_of<notes::FileBegun>(report)) {
    if (begun.path != path || begun.note->at > moment) continue;
    bool done = false;
    for (const Use& end : uses_of<notes::FileWritten>(report))
      done = done ||
             (end.rank == begun.rank && end.path == path && end.note->at >= begun.note->at && end.note->at < moment);
    if (!done) add_once(ranks, begun.rank);
  }
  return ranks;
}

// Whether a write of this file had ended before.
bool was_complete_before(const Report& report, const std::string& path, Time moment) {
  const std::vector<Use> written = uses_of<notes::FileWritten>(report);
  return std::any_of(written.begin(), written.end(), [&](const Use& use) { return use.path == path && use.note->at < moment; });
}

void finish(Diagnosis& d, const Report& report, const std::string& path, const Use* read) {
  const Use* write = nullptr;
  const auto is_at_work = [&](const Use& use) {
    return read != nullptr && use.note->at <= read->note->at && contains(writing_at(report, path, read->note->at), use.rank);
  };
  std::vector<Use> written = uses_of<notes::FileWritten>(report);
  const std::vector<Use> begun = uses_of<notes::FileBegun>(report);
  written.insert(written.end(), begun.begin(), begun.end());
  for (const Use& use : begun)  // the newest before the read, of the ranks that it met
    if (use.path == path && is_at_work(use) && (write == nullptr || use.note->at > write->note->at)) write = &use;
  for (const Use& use : written) {
    if (use.path != path) continue;
    d.evidence.push_back(evidence_of(use.rank, *use.note, fmt::format("writes {}", path)));
    if (write == nullptr) write = &use;
  }
  d.inevitable_at = write->note->at;
  add_span(d, report, write->note->site.line, write->note->site.column, fmt::format("writes {}", path), true);
  if (read != nullptr) {
    d.evidence.push_back(evidence_of(read->rank, *read->note, fmt::format("read a part of {}", path)));
    add_span(d, report, read->note->site.line, read->note->site.column, fmt::format("reads {}", path), false);
    d.inevitable_at = read->note->at;
  }
  d.inevitable = fmt::format("since {}: {}", to_string(d.inevitable_at), d.cause);
}

}  // namespace

std::optional<Diagnosis> checkpoint_race(const Report& report) {
  const std::vector<Use> reads = uses_of<notes::FileRead>(report);
  const Use* read = cut_read(reads);
  for (const auto& [path, writers] : writers_of(report)) {
    const bool torn = read != nullptr && read->path == path;
    const std::vector<Rank> at_work = torn ? writing_at(report, path, read->note->at) : std::vector<Rank>{};
    if (writers.size() < 2 && at_work.empty()) continue;
    Diagnosis d;
    if (writers.size() > 1) {
      d.ranks = writers;
      d.headline = fmt::format("{} the same file, {}", who(writers, "writes", "write"), path);
      d.cause = at_work.empty() ? "the last writer wins"
                                : fmt::format("rank {} read it while {} at it", read->rank,
                                              who(at_work, "was still", "were still"));
      d.fix = "checkpoint: on rank 0 alone, and a barrier before anybody reads it";
      d.fix_lines = {"if rank == 0: torch.save(...); then dist.barrier() on every rank",
                     alternative("a file for each rank, if their contents differ")};
    } else {
      d.ranks = {read->rank};
      d.headline = fmt::format("rank {} reads {}, which {} still writing", read->rank, path, who(at_work, "is", "are"));
      d.cause = fmt::format("there is no barrier between the write of rank {} and the read of rank {}", at_work.front(),
                            read->rank);
      d.fix = "a barrier between writing and reading, on every rank";
      if (was_complete_before(report, path, read->note->at))
        d.fix_lines = {"the file of an earlier write was there, so neither its name nor a flag set after that write says that this one is "
                       "done"};
      else
        d.fix_lines = {"write to another name and rename: a file with the final name is then complete"};
    }
    d.why =
        "torch.save truncates the file and writes it piece by piece; nothing locks it. Until it is done the file is "
        "incomplete, and a rank that is slightly behind truncates it again after another has finished. In tests it "
        "works, because all ranks are equally fast and files are small.";
    finish(d, report, path, torn ? read : nullptr);
    return d;
  }
  return std::nullopt;
}

constexpr std::string_view checkpoint_race_text =
    R"(Several ranks write one checkpoint file, or one reads it while another writes. Files are written piece by piece, and opening one
for writing truncates it: a rank that reads meanwhile finds part of it, and the last writer decides the final contents.

How to recognise it: "PytorchStreamReader failed reading zip archive: failed finding central directory", "unexpected EOF, expected
more bytes. The file might be corrupted", now and then, on a shared disk; a resumed job with the buffers of another rank.

Fix: save on rank 0 alone, under another name that is renamed at the end; then a barrier on every rank, then load.)";

extern const DiagnosisRow checkpoint_race_row;
const DiagnosisRow checkpoint_race_row{50, "checkpoint-race",
                                       "several ranks write one file, or one reads it while another writes",
                                       checkpoint_race, checkpoint_race_text};

}  // namespace pdsim::scenarios::diagnoses
