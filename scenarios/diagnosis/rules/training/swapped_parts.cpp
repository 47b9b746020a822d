// A rank that loaded the part of split layers which belongs to another place of the mesh.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <map>
#include <string>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Stored {
  Rank rank = 0;
  const Note* note = nullptr;
  const notes::PartStored& part() const { return note->as<notes::PartStored>(); }
};

// The last rank that wrote each file, in this launch or one before.
std::map<std::string, Stored> parts_written(const Report& report) {
  std::map<std::string, Stored> written;
  for (const auto* launch : {&report.run.earlier, &report.run.ranks})
    for (const RankResult& result : *launch)
      for (const Note* note : notes_of<notes::PartStored>(result.log))
        if (const Stored stored{result.log.rank, note}; !stored.part().loaded) written[stored.part().path] = stored;
  return written;
}

}  // namespace

std::optional<Diagnosis> swapped_parts(const Report& report) {
  const std::map<std::string, Stored> written = parts_written(report);
  Diagnosis d;
  Stored first;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::PartStored>(result.log)) {
      const Stored loads{result.log.rank, note};
      const auto from = written.find(loads.part().path);
      if (!loads.part().loaded || from == written.end() || from->second.part().part == loads.part().part) continue;
      if (first.note == nullptr) first = loads;
      add_once(d.ranks, loads.rank);
      d.evidence.push_back(evidence_of(loads.rank, *note,
                                fmt::format("has part {} and loads part {}, from {}", loads.part().part,
                                            from->second.part().part, loads.part().path)));
    }
  if (first.note == nullptr) return std::nullopt;
  const Stored& from = written.at(first.part().path);
  d.evidence.push_back(evidence_of(from.rank, *from.note, fmt::format("wrote {}", first.part().path)));
  d.headline = fmt::format("{} a part of split layers that belongs to another place in the mesh",
                           who(d.ranks, "loads", "load"));
  d.cause = fmt::format("rank {} has part {} of {}, and {} holds part {}, which rank {} wrote", first.rank,
                        first.part().part, first.part().parts, first.part().path, from.part().part, from.rank);
  d.why =
      "All parts of a layer have the same shape, so no call fails when a rank loads another's. The sums over the group "
      "then add up the wrong parts, and replicas in the other dimension of the mesh differ. It happens when a rank "
      "computes its place along a different dimension than the mesh does: rank / size instead of rank % size, or the "
      "dimensions in a different order than when the files were written.";
  d.fix = "load the file of this rank's place:  mesh[\"tp\"].get_local_rank(), not a rank computed by hand";
  d.fix_lines = {"write part, number of parts and dimension into the file, and compare them when it is loaded"};
  add_span(d, report, first.note->site.line, first.note->site.column,
           fmt::format("{} a part of another place here", who(d.ranks, "loads", "load")), true);
  d.inevitable_at = first.note->at;
  d.inevitable = fmt::format("since {}: rank {} has the parameters of part {}", to_string(first.note->at), first.rank,
                             from.part().part);
  return d;
}

constexpr std::string_view swapped_parts_text =
    R"(A rank of a tensor-parallel group loaded the part of a layer that belongs to another place in the mesh. All parts have the same
shape, so no call fails, but the model is wrong.

How to recognise it: the loss jumps after a restart from a checkpoint of several files, although each file is complete; it does
not jump when the mesh has one dimension, or on ranks whose place is the same in both dimensions (rank 0 is right).

Fix: name files by the place along the dimension that splits the layers (mesh["tp"].get_local_rank()), and store it in the file.)";

extern const DiagnosisRow swapped_parts_row;
const DiagnosisRow swapped_parts_row{45, "swapped-parts",
                                     "a rank loaded a part of split layers that belongs to another place in the mesh",
                                     swapped_parts, swapped_parts_text};

}  // namespace pdsim::scenarios::diagnoses
