// Rules on the samples that ranks draw from the data set: all the same, the same again, ones that do not exist, or not
// all of them.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Epoch {
  Rank rank = 0;
  const Note* note = nullptr;

  const notes::SamplesDrawn& drawn() const { return note->as<notes::SamplesDrawn>(); }
  const std::vector<std::int64_t>& indices() const { return drawn().indices; }
};

std::vector<Epoch> epochs_of(const Report& report, std::int64_t number) {
  std::vector<Epoch> epochs;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::SamplesDrawn>(result.log))
      if (note->as<notes::SamplesDrawn>().epoch == number) epochs.push_back({result.log.rank, note});
  return epochs;
}

// The epochs that every rank began; the first is enough for most rules.
std::vector<Epoch> first_epoch(const Report& report) { return epochs_of(report, 0); }

void place(Diagnosis& d, const Report& report, const Note& note, std::string label) {
  add_span(d, report, Section::data, std::move(label), true);
  add_span(d, report, note.site.line, note.site.column, "draws from it here", false);
  d.inevitable_at = note.at;
}

void cite_all(Diagnosis& d, const std::vector<Epoch>& epochs, std::string_view what) {
  for (const Epoch& e : epochs) {
    add_once(d.ranks, e.rank);
    if (d.evidence.size() < 4) d.evidence.push_back(evidence_of(e.rank, *e.note, std::string(what)));
  }
}

}  // namespace

std::optional<Diagnosis> sampler_missing(const Report& report) {
  const std::vector<Epoch> epochs = first_epoch(report);
  if (epochs.size() < 2 || epochs.front().drawn().sampler != "none") return std::nullopt;
  const bool alike = std::all_of(epochs.begin(), epochs.end(),
                                 [&](const Epoch& e) { return e.indices() == epochs.front().indices(); });
  if (!alike) return std::nullopt;
  Diagnosis d;
  cite_all(d, epochs, "draws every sample, in the same order as the others");
  d.headline = fmt::format("{} the same samples in the same order", who(d.ranks, "draws", "draw"));
  d.cause = fmt::format("no sampler divides the {} samples among the ranks", epochs.front().indices().size());
  d.why =
      "Without a DistributedSampler every rank's loader reads the whole data set, and with equal seeds in the same "
      "order. All ranks compute the same gradient and DDP averages equal numbers: the job uses one device per rank and "
      "learns only what one device would.";
  d.fix = {"data: {sampler: distributed}, that is, DataLoader(..., sampler=DistributedSampler(dataset))",
           "DataLoader(..., sampler=DistributedSampler(dataset))"};
  d.fix_lines = {"and shuffle=False in the loader: the sampler shuffles"};
  place(d, report, *epochs.front().note, "every rank reads everything");
  d.inevitable = fmt::format("since {}: all ranks draw the same", to_string(d.inevitable_at));
  return d;
}

std::optional<Diagnosis> sampler_epoch(const Report& report) {
  const std::vector<Epoch> first = first_epoch(report), second = epochs_of(report, 1);
  if (first.empty() || second.empty()) return std::nullopt;
  const Note& note = *second.front().note;
  if (!second.front().drawn().shuffled || first.front().indices().size() < 2) return std::nullopt;
  for (const Epoch& e : second)
    for (const Epoch& before : first)
      if (before.rank == e.rank && before.indices() != e.indices()) return std::nullopt;
  Diagnosis d;
  cite_all(d, second, "draws the same samples as in epoch 0, in the same order");
  d.headline = "every epoch draws the same samples in the same order on each rank, although the sampler shuffles";
  d.cause = "set_epoch was not called, so the sampler keeps the permutation of epoch 0";
  d.why =
      "DistributedSampler computes its permutation from seed + epoch, with its own generator, so that all ranks get "
      "the same one. The epoch is the last argument of set_epoch, and 0 before that. So the sampler shuffles only once.";
  d.fix = {"data: {set_epoch: true}, that is, sampler.set_epoch(epoch) at the beginning of every epoch",
           "sampler.set_epoch(epoch) at the beginning of every epoch"};
  d.fix_lines = {"before the loader's iterator is created; with persistent workers too"};
  place(d, report, note, "shuffles, but never learns the epoch");
  d.inevitable = fmt::format("since {}: epoch 1 is epoch 0 again", to_string(d.inevitable_at));
  return d;
}

std::optional<Diagnosis> sampler_length(const Report& report) {
  const std::vector<Epoch> epochs = first_epoch(report);
  if (epochs.empty()) return std::nullopt;
  const Note& note = *epochs.front().note;
  const std::int64_t samples = epochs.front().drawn().samples, over = epochs.front().drawn().over;
  if (samples == over) return std::nullopt;
  Diagnosis d;
  if (over > samples) {
    for (const RankError& e : report.errors)
      if (!fact(log_of(report.run, e.rank).error.facts, "index").empty()) add_once(d.ranks, e.rank);
    if (d.ranks.empty()) return std::nullopt;
  }
  const std::vector<Rank> culprits = d.ranks;
  cite_all(d, epochs, fmt::format("the sampler draws from {} samples, the data set has {}", over, samples));
  if (!culprits.empty()) d.ranks = culprits;
  d.headline = fmt::format("the sampler was made for {} samples, and the loader's data set has {}", over, samples);
  d.cause = over < samples ? fmt::format("samples {}..{} are never drawn", over, samples - 1)
                           : fmt::format("{} drew an index from {} on", short_ranks(d.ranks), samples);
  d.why =
      "DistributedSampler only asks its data set for its length, and returns indices below it. The loader looks them "
      "up in its own data set. If one has the training set and the other a subset, it works until an index is too "
      "large, and silently forever if none is.";
  d.fix = "give the sampler and the loader the same data set";
  d.fix_lines = {fmt::format("data: {{over: {}}}", samples)};
  place(d, report, note, "the sampler has a different data set");
  d.inevitable = fmt::format("since {}: the two lengths differ", to_string(d.inevitable_at));
  return d;
}

std::optional<Diagnosis> sampler_seed(const Report& report) {
  const std::vector<Epoch> epochs = first_epoch(report);
  if (epochs.size() < 2 || epochs.front().drawn().sampler != "distributed") return std::nullopt;
  std::map<std::uint64_t, int> seeds;
  for (const Epoch& e : epochs) ++seeds[e.drawn().seed];
  if (seeds.size() < 2 || !epochs.front().drawn().shuffled) return std::nullopt;
  std::set<std::int64_t> drawn;
  std::size_t all = 0;
  for (const Epoch& e : epochs) {
    drawn.insert(e.indices().begin(), e.indices().end());
    all += e.indices().size();
  }
  const std::int64_t samples = epochs.front().drawn().samples;
  Diagnosis d;
  cite_all(d, epochs, "shuffles with a seed of its own");
  d.headline = fmt::format("{} with different seeds, so their shares of the data set overlap",
                           who(d.ranks, "shuffles", "shuffle"));
  d.cause =
      fmt::format("an epoch draws {1} of {0} samples and never the others, in {2} draws", samples, drawn.size(), all);
  d.why =
      "Every rank computes the whole permutation and takes every n-th element. The shares are disjoint only if all "
      "ranks computed the same permutation. With a different seed per rank, some samples are drawn by several ranks, "
      "and others by none.";
  d.fix = {"data: {seeds: same}, that is, one seed for DistributedSampler on every rank",
           "one seed for DistributedSampler on every rank"};
  d.fix_lines = {"a seed per rank is right for augmentation and dropout, which come after the sampler"};
  place(d, report, *epochs.front().note, "the sampler's seed differs between ranks");
  d.inevitable = fmt::format("since {}: the permutations differ", to_string(d.inevitable_at));
  return d;
}

constexpr std::string_view sampler_missing_text =
    R"(Every rank reads the whole data set in the same order. No call fails: gradients are equal on all ranks, and their average is
the gradient that one process would have computed from the same batch.

How to recognise it: an epoch has the same number of steps on four devices as on one; losses of all ranks are equal to the last
digit.

Fix: DataLoader(dataset, sampler=DistributedSampler(dataset), shuffle=False).)";

constexpr std::string_view sampler_epoch_text =
    R"(DistributedSampler shuffles with seed + epoch and learns the epoch only from set_epoch. Without the call every epoch has the
order of the first one, on every rank.

How to recognise it: no error; the loss has the same pattern in every epoch, and shuffle=True changes nothing between epochs.

Fix: sampler.set_epoch(epoch) before the loader's iterator is created, in every epoch.)";

constexpr std::string_view sampler_length_text =
    R"(The sampler was created with one data set and the loader with another. Indices go up to the length of the sampler's data set: if
it is shorter, the rest of the loader's data set is never seen; if it is longer, some rank draws an index that does not exist,
and the others wait for that rank.

How to recognise it: "list index out of range" in one rank's loader; or fewer steps in an epoch than the data set has batches.

Fix: one variable for both: DataLoader(train, sampler=DistributedSampler(train)).)";

constexpr std::string_view sampler_seed_text =
    R"(The ranks' DistributedSamplers have different seeds, because the script seeds everything with seed + rank. Each rank takes
its share of a different permutation: shares overlap, and part of the data set is in none.

How to recognise it: no error; the number of different samples of an epoch is smaller than the data set.

Fix: the same seed for the sampler on every rank; seed + rank for augmentation only.)";

extern const DiagnosisRow sampler_length_row;
const DiagnosisRow sampler_length_row{140, "sampler-length", "sampler and loader have different data sets",
                                      sampler_length, sampler_length_text};
extern const DiagnosisRow sampler_missing_row;
const DiagnosisRow sampler_missing_row{540, "sampler-missing", "every rank draws the same samples", sampler_missing,
                                       sampler_missing_text};
extern const DiagnosisRow sampler_epoch_row;
const DiagnosisRow sampler_epoch_row{550, "sampler-epoch", "every epoch draws in the same order", sampler_epoch,
                                     sampler_epoch_text};
extern const DiagnosisRow sampler_seed_row;
const DiagnosisRow sampler_seed_row{560, "sampler-seed", "ranks shuffle with different seeds", sampler_seed,
                                    sampler_seed_text};

}  // namespace pdsim::scenarios::diagnoses
