// Three faces of one cause: a hang (only some ranks skipped), an error at the next forward, and nothing at all (every rank
// skipped and no forward followed). Cites the backward that returned with an unfilled bucket.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

// Ranks that left out the same parameters.
struct Alike {
  std::vector<Rank> ranks;
  std::vector<std::string> parameters;
  const Note* path = nullptr;    // that left them out, on the first of the ranks
  const Note* frozen = nullptr;  // the requires_grad there that took their gradients away, after the wrapper was made
};

struct Skip {
  std::vector<Rank> ranks;  // whose backward returned with an unfilled bucket, in the first such step
  std::vector<std::string> parameters;
  std::vector<Alike> alike;
  std::int64_t bucket = 0;
  int step = -1;
  Time at{};
  const Note* note = nullptr;
};

const notes::BucketUnfilled& unfilled_of(const Note& note) { return note.as<notes::BucketUnfilled>(); }
const notes::PathTaken& path_of(const Note& note) { return note.as<notes::PathTaken>(); }

const notes::RequiresGradSet& frozen_of(const Note& note) { return note.as<notes::RequiresGradSet>(); }

// The last freezing of wrapped layers before that moment that covers all of these parameters.
const Note* frozen_before(const RankLog& log, Time moment, const std::vector<std::string>& parameters) {
  const Note* found = nullptr;
  for (const Note* note : notes_of<notes::RequiresGradSet>(log)) {
    const notes::RequiresGradSet& set = frozen_of(*note);
    const bool covers = std::all_of(parameters.begin(), parameters.end(), [&](const std::string& p) {
      return std::any_of(set.layers.begin(), set.layers.end(), [&](const std::string& layer) { return p.starts_with(layer + "."); });
    });
    if (note->at <= moment && set.wrapped && covers) found = set.to ? nullptr : note;
  }
  return found;
}

const Note* path_taken_in(const RankLog& log, int step) {
  for (const Note* note : notes_of<notes::PathTaken>(log))
    if (note->site.step == step) return note;
  return nullptr;
}

void add(Skip& skip, const RankLog& log, const std::vector<std::string>& parameters) {
  add_once(skip.ranks, log.rank);
  add_once(skip.parameters, parameters);
  const auto same =
      std::find_if(skip.alike.begin(), skip.alike.end(), [&](const Alike& a) { return a.parameters == parameters; });
  if (same != skip.alike.end()) return same->ranks.push_back(log.rank);
  skip.alike.push_back({{log.rank}, parameters, path_taken_in(log, skip.step), frozen_before(log, skip.at, parameters)});
}

std::optional<Skip> first_skip(const Report& report) {
  Skip skip;
  skip.at = Time::max();
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::BucketUnfilled>(result.log))
      if (note->at < skip.at) {
        skip.at = note->at;
        skip.step = note->site.step;
        skip.note = note;
        skip.bucket = unfilled_of(*note).bucket;
      }
  if (skip.note == nullptr) return std::nullopt;
  for (const RankResult& result : report.run.ranks) {
    std::vector<std::string> parameters;
    bool skipped = false;
    for (const Note* note : notes_of<notes::BucketUnfilled>(result.log)) {
      if (note->site.step != skip.step) continue;
      skipped = true;
      add_once(parameters, unfilled_of(*note).missing);
    }
    if (skipped) add(skip, result.log, parameters);
  }
  return skip;
}

// The bucket calls of other ranks that met nobody: open, or failed.
std::vector<Rank> waiting_in_bucket(const Report& report, const Skip& skip, std::vector<Evidence>& evidence) {
  std::vector<Rank> ranks;
  for (const RankResult& result : report.run.ranks) {
    if (contains(skip.ranks, result.log.rank)) continue;
    for (const Call& call : result.log.calls) {
      const bool is_bucket = call.layer == Layer::collective && call.purpose.kind == PurposeKind::bucket;
      if (!is_bucket || call.issued < Time{} || call.site.step < skip.step) continue;
      if (call.state == CallState::completed && call.finished <= moment_of(report.run)) continue;
      add_once(ranks, result.log.rank);
      if (evidence.size() < 4)
        evidence.push_back(
            evidence_of(result.log.rank, call, fmt::format("{} #{} never finished", call_text(call), call.seq)));
      break;
    }
  }
  return ranks;
}

bool divergence_is_a_bucket(const Report& report) {
  const auto is_bucket = [&](const Divergence::Entry& entry) {
    const Call* call = call_by_id(log_of(report.run, entry.rank), entry.id);
    return call != nullptr && call->purpose.kind == PurposeKind::bucket;
  };
  return report.divergence &&
         std::any_of(report.divergence->entries.begin(), report.divergence->entries.end(), is_bucket);
}

bool raised_for_it(const Report& report) {
  return std::any_of(report.errors.begin(), report.errors.end(),
                     [](const RankError& e) { return e.code == Code::reduction_not_finished; });
}

const Note* options_of(const Report& report, Rank rank) {
  const std::vector<const Note*> all = notes_of<notes::DdpOptions>(log_of(report.run, rank));
  return all.empty() ? nullptr : all.back();
}

// "ranks 0, 2 do not use a.weight and ranks 1, 3 do not use b.weight"
template <class Say>
std::string each(const Skip& skip, const Say& say) {
  std::string text;
  for (const Alike& alike : skip.alike) text += (text.empty() ? "" : " and ") + say(alike);
  return text;
}

std::string not_used(const Alike& alike) {
  return fmt::format("{} not use {}", who(alike.ranks, "does", "do"), list_text(alike.parameters));
}

bool is_frozen(const Skip& skip) {
  return std::all_of(skip.alike.begin(), skip.alike.end(), [](const Alike& a) { return a.frozen != nullptr; });
}

// "rank 2 froze backbone after the model was wrapped"
std::string froze_text(const Skip& skip) {
  return each(skip, [](const Alike& a) { return fmt::format("{} froze {}", short_ranks(a.ranks), list_text(frozen_of(*a.frozen).layers)); }) +
         " after the model was wrapped";
}

// A script has no section for its wrapper, but a line that makes it.
void add_places_of_script(Diagnosis& d, const Report& report, const Skip& skip, const Note* options, const std::string& because) {
  const Site& backward = skip.note->site;
  add_span(d, report, backward.line, backward.column,
           fmt::format("{} returned from this with {} of {} gradients of bucket {}", short_ranks(skip.ranks),
                       unfilled_of(*skip.note).ready, unfilled_of(*skip.note).total, skip.bucket),
           true);
  if (options != nullptr) add_span(d, report, options->site.line, options->site.column, because, false);
}

void add_spans(Diagnosis& d, const Report& report, const Skip& skip, const std::string& when, const Note* options) {
  const bool detects = options != nullptr && options->as<notes::DdpOptions>().find_unused_parameters;
  for (const Alike& alike : skip.alike)
    if (alike.frozen != nullptr)
      add_span(d, report, alike.frozen->site.line, alike.frozen->site.column,
               fmt::format("{} {} here", who(alike.ranks, "freezes", "freeze"), list_text(frozen_of(*alike.frozen).layers)), d.spans.empty());
  for (const Alike& alike : skip.alike)
    if (alike.path != nullptr)
      add_span(d, report, path_of(*alike.path).line, path_of(*alike.path).column, when + not_used(alike),
               d.spans.empty());
  const std::string because =
      detects ? "DDP looks for parameters that the output does not reach" : "so DDP does not look for them";
  const std::string wrapper = detects ? because : "without find_unused_parameters DDP does not look for them";
  if (skip.note->site.origin) return add_places_of_script(d, report, skip, options, wrapper);
  const bool primary = d.spans.empty();
  if (is_given(report, Section::find_unused_parameters))
    return add_span(d, report, Section::find_unused_parameters, because, primary);
  add_span(d, report, Section::ddp, wrapper, primary);
}

void write_fix_of_frozen(Diagnosis& d, bool everybody) {
  d.fix = everybody ? FixLine("freeze the layers before the model is wrapped, or wrap it again afterwards",
                              "set requires_grad=False before DistributedDataParallel(...), or wrap the model again afterwards")
                    : FixLine("decide on all ranks together (all_reduce what decides), freeze on every rank, and wrap the model again",
                              "decide on all ranks together (all_reduce what decides), freeze on every rank, and wrap the model again");
  d.fix_lines = {alternative("ddp: {find_unused_parameters: true}, with which every backward looks for parameters without a gradient",
                             "DistributedDataParallel(..., find_unused_parameters=True), with which every backward looks for parameters without "
                             "a gradient")};
  d.cures.push_back({"ddp: {find_unused_parameters: true}",
                     [](Scenario& changed) { changed.ddp.options.find_unused_parameters = true; }, std::nullopt, false});
}

void write_fix(Diagnosis& d, bool everybody, bool detects) {
  if (detects) {
    d.fix = "use every output of forward in the loss, or return only those that are used";
    d.fix_lines = {"detection is on, but follows the outputs: an output that the loss ignores still counts as used"};
    return;
  }
  d.fix = {"ddp: {find_unused_parameters: true}", "DistributedDataParallel(..., find_unused_parameters=True)"};
  d.cures.push_back({"ddp: {find_unused_parameters: true}",
                     [](Scenario& changed) { changed.ddp.options.find_unused_parameters = true; }, std::nullopt, true});
  d.fix_lines = {
      alternative("use every parameter in the loss on every rank, for example  loss + 0 * aux_output.sum()")};
  if (everybody)
    d.fix_lines.emplace_back(
        alternative("freeze parameters that no rank uses (requires_grad = false) before wrapping the module"));
}

struct Face {
  std::vector<Rank> waiting;  // in a bucket that never comes
  bool raised = false;        // at the next forward
  bool everybody = false;     // skipped
};

std::string headline_of(const Skip& skip, const Face& face, const std::string& when) {
  const std::string culprits = short_ranks(skip.ranks);
  if (is_frozen(skip))
    return fmt::format("{}: bucket {} is not reduced there{}{}", froze_text(skip), skip.bucket, when,
                       face.waiting.empty() ? "" : fmt::format(", and {} for it", who(face.waiting, "waits", "wait")));
  if (face.raised)
    return fmt::format("{} began a forward although the last backward left a gradient bucket unreduced", culprits);
  if (!face.waiting.empty())
    return fmt::format("{} for a gradient bucket that {} will never send", who(face.waiting, "waits", "wait"),
                       culprits);
  return fmt::format("backward returned on {}{} although bucket {} was never reduced", culprits, when, skip.bucket);
}

std::string why_of(const Skip& skip, const Face& face) {
  const std::string culprits = short_ranks(skip.ranks);
  std::string why = fmt::format(
      "DDP reduces a bucket when every gradient in it has arrived. {} never arrived, so {} never called all_reduce for "
      "bucket {} and the buckets after it. backward() still returned normally there; its gradients were NOT averaged, "
      "and an optimizer step on them lets the replicas drift apart.",
      capitalised(each(skip,
                       [](const Alike& alike) {
                         return fmt::format("on {} {}", short_ranks(alike.ranks), list_text(alike.parameters));
                       })),
      skip.ranks.size() == 1 ? "it" : "they", skip.bucket);
  if (is_frozen(skip))
    why += " The wrapper counts on the parameters that required gradients when it was made, so what is frozen later stays missing.";
  if (face.everybody)
    why += fmt::format(" Every rank skipped {}, so nobody {}",
                       skip.alike.size() == 1 ? "the same" : "something, if not the same",
                       face.raised ? "waited for anybody: the error comes only at the next forward."
                                   : "waits and nothing is reported; the next forward would raise.");
  else if (!face.raised)
    why += fmt::format(" Another forward on {} would have raised reduction-not-finished.", culprits);
  else if (!face.waiting.empty())
    why +=
        fmt::format(" Meanwhile {} sat in that bucket and could only see the others leave.", short_ranks(face.waiting));
  return why;
}

}  // namespace

std::optional<Diagnosis> unused_parameters(const Report& report) {
  const std::optional<Skip> skip = first_skip(report);
  if (!skip) return std::nullopt;
  Diagnosis d;
  d.ranks = skip->ranks;
  d.parameters = skip->parameters;
  d.evidence.push_back(evidence_of(skip->ranks.front(), *skip->note,
                            fmt::format("backward returned with bucket {} at {} of {} gradients", skip->bucket,
                                        unfilled_of(*skip->note).ready, unfilled_of(*skip->note).total)));
  for (const Alike& alike : skip->alike)
    if (alike.path != nullptr)
      d.evidence.push_back(
          evidence_of(alike.ranks.front(), *alike.path, fmt::format("took path {}", path_of(*alike.path).path)));
  for (const Alike& alike : skip->alike)
    if (alike.frozen != nullptr)
      d.evidence.push_back(
          evidence_of(alike.ranks.front(), *alike.frozen, fmt::format("froze {}", list_text(frozen_of(*alike.frozen).layers))));
  Face face;
  face.waiting = waiting_in_bucket(report, *skip, d.evidence);
  face.raised = raised_for_it(report);
  face.everybody = skip->ranks.size() == report.run.ranks.size();
  if (face.waiting.empty() && !face.raised && report.outcome != Outcome::ok && !divergence_is_a_bucket(report))
    return std::nullopt;

  const std::string when = skip->step >= 0 ? fmt::format(" in step {}", skip->step) : std::string();
  d.cause = fmt::format("{}{}, so bucket {} was never complete there", each(*skip, not_used), when, skip->bucket);
  d.headline = headline_of(*skip, face, when);
  d.why = why_of(*skip, face);
  const Note* options = options_of(report, skip->ranks.front());
  const bool detects = options != nullptr && options->as<notes::DdpOptions>().find_unused_parameters;
  add_spans(d, report, *skip, when.empty() ? "" : when.substr(1) + " ", options);
  if (d.spans.empty())
    add_span(d, report, skip->note->site.line, skip->note->site.column, "this backward returned without them", true);
  is_frozen(*skip) && !detects ? write_fix_of_frozen(d, face.everybody) : write_fix(d, face.everybody, detects);
  const bool paths =
      std::all_of(skip->alike.begin(), skip->alike.end(), [](const Alike& a) { return a.path != nullptr; });
  d.inevitable_at = skip->at;
  if (paths)
    for (const Alike& alike : skip->alike) d.inevitable_at = std::min(d.inevitable_at, alike.path->at);
  const std::string what =
      paths ? each(*skip,
                   [](const Alike& alike) {
                     return fmt::format("{} took path {}", short_ranks(alike.ranks), path_of(*alike.path).path);
                   })
            : fmt::format("backward on {} returned with bucket {} incomplete", short_ranks(skip->ranks), skip->bucket);
  d.inevitable = fmt::format("since {}: {}{}", to_string(d.inevitable_at), what, when);
  return d;
}

constexpr std::string_view unused_parameters_text =
    R"(DistributedDataParallel sums gradients in buckets. A bucket is all-reduced when every parameter in it has delivered its
gradient, and buckets go out strictly in order. A parameter that took no part in the loss delivers none, so its bucket,
and every bucket behind it, is not reduced on that rank. backward() does not report this: it returns, .grad holds this
rank's own values, and optimizer.step() applies them.

The effect depends on the other ranks:
  only some ranks skipped        the others wait in all_reduce for a bucket that never comes. Gloo reports a timeout after
                                 30 minutes, NCCL's watchdog ends the process after 10; the culprit looks healthy.
  the skipping rank goes on      its next forward raises "Expected to have finished reduction in the prior iteration";
                                 the others see their connection close.
  every rank skipped something   nobody waits. The error comes at the next forward; a job of one step never sees one, and
                                 its replicas have drifted apart.

How to recognise it: the rank that hangs is not the one at fault. Look for the rank whose backward returned without
launching its bucket; the report names it, its parameters, and the branch that left them out.

Fix: find_unused_parameters=True (DDP walks the graph after each forward, marks unreached parameters as ready, and
all-reduces one more small tensor), or let every parameter take part in the loss on every rank (loss + 0 * x.sum()), or
freeze parameters that are never used.)";

extern const DiagnosisRow unused_parameters_row;
const DiagnosisRow unused_parameters_row{10, "unused-parameters",
                                         "a parameter got no gradient, so DDP never reduced its bucket",
                                         unused_parameters, unused_parameters_text};

}  // namespace pdsim::scenarios::diagnoses
