// Rules on the total weight of the losses in one optimizer step, over micro-batches and ranks, where it should be an average.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

constexpr double exact = 1e-9;

// By what each backward, by its call, multiplied its loss; those that are absent did not.
std::map<std::int64_t, double> factors_of(const RankLog& log) {
  std::map<std::int64_t, double> factors;
  for (const Note* note : notes_of<notes::LossScaled>(log)) {
    const auto& scaled = note->as<notes::LossScaled>();
    factors[note->call] = static_cast<double>(scaled.by) / static_cast<double>(scaled.divided_by);
  }
  return factors;
}

double factor_of(const std::map<std::int64_t, double>& factors, const Call& backward) {
  const auto found = factors.find(backward.id);
  return found == factors.end() ? 1.0 : found->second;
}

// The backwards whose gradients one optimizer step used.
struct Window {
  int batches = 0;
  double weight = 0.0;       // of their losses together; 1 is an average
  bool accumulates = false;  // the same line again, or inside no_sync: batches of one kind, and not several losses
  const Call* backward = nullptr;
  const Call* step = nullptr;
  std::vector<std::pair<int, int>> lines;

  void add(const RankLog& log, const Call& call, double factor) {
    const std::pair line{call.site.line, call.site.column};
    const Call* around = enclosing(log, call);
    accumulates = accumulates || std::find(lines.begin(), lines.end(), line) != lines.end() ||
                  (around != nullptr && around->name == "no_sync");
    lines.push_back(line);
    ++batches;
    weight += factor;
    backward = &call;
  }
  bool is_average() const { return std::abs(weight - 1.0) < exact; }
};

// In order. None where gradients outlive a step, or the record does not reach back to the beginning.
std::vector<Window> windows_of(const RankLog& log) {
  std::vector<Window> windows;
  if (log.dropped > 0) return windows;
  const auto factors = factors_of(log);
  Window open;
  for (const Call& call : log.calls) {
    if (call.layer != Layer::program || call.state != CallState::completed) continue;
    if (call.name == "zero_grad") open = {};
    if (call.name == "backward" && open.step != nullptr) return {};
    if (call.name == "backward") open.add(log, call, factor_of(factors, call));
    if (call.name != "optimizer_step" || open.batches == 0 || open.step != nullptr) continue;
    open.step = &call;
    windows.push_back(open);
  }
  return windows;
}

// Returns the setup of the first rank that trains; null if the record does not have it.
const notes::TrainingSetup* setup_of(const Report& report) {
  for (const RankResult& result : report.run.ranks)
    if (const Note* note = first_note<notes::TrainingSetup>(result.log)) return &note->as<notes::TrainingSetup>();
  return nullptr;
}

bool is_mean(const Report& report) {
  const notes::TrainingSetup* setup = setup_of(report);
  return report.outcome == Outcome::ok && setup != nullptr && setup->reduction == notes::LossReduction::mean;
}

struct Accumulation {
  int usual = 1;              // batches of a full window
  bool others_right = false;  // some window is an average
  Window wrong;
};

std::optional<Accumulation> accumulation(const RankLog& log) {
  const std::vector<Window> windows = windows_of(log);
  Accumulation found;
  bool accumulates = false;
  for (const Window& window : windows) {
    accumulates = accumulates || window.accumulates;
    found.usual = std::max(found.usual, window.batches);
    if (window.is_average()) found.others_right = true;
    if (!window.is_average() && found.wrong.step == nullptr) found.wrong = window;
  }
  if (!accumulates || found.wrong.step == nullptr) return std::nullopt;
  return found;
}

std::string batches_text(int batches) { return batches == 1 ? "1 batch" : fmt::format("{} batches", batches); }

void explain_short_window(Diagnosis& d, const Accumulation& found) {
  d.headline = fmt::format(
      "{} the gradient of {} by the {} of a full window: the update is {:.4g} of what it should be",
      who(d.ranks, "divides", "divide"), batches_text(found.wrong.batches), found.usual, found.wrong.weight);
  d.cause = fmt::format("the optimizer step {} has {}, and each was divided as if there were {}",
                        site_text(found.wrong.step->site), batches_text(found.wrong.batches), found.usual);
  d.why =
      "A full window is an average: its losses are divided by its number of batches. The window at the end of an epoch "
      "has fewer batches, but its losses were divided by the same number, so its step is too small. No call fails; "
      "with few batches per epoch such steps are frequent.";
  d.fix = {fmt::format("divide by the number of batches that the step really has:  backward: {{divided_by: {}}}", found.wrong.batches),
           fmt::format("divide by the number of batches that the step really has: (loss / {}).backward()", found.wrong.batches)};
  d.fix_lines = {alternative("drop the batches that do not fill a window")};
}

void explain_all_windows(Diagnosis& d, const Accumulation& found) {
  const Window& wrong = found.wrong;
  const bool undivided = std::abs(wrong.weight - wrong.batches) < exact;
  d.headline = fmt::format("{} up the gradients of {} for one step: the update is {:.4g} times that of their average",
                           who(d.ranks, "adds", "add"), batches_text(wrong.batches), wrong.weight);
  d.cause =
      undivided
          ? fmt::format("each backward of a mean loss adds to the gradients, and nothing divides by {}", wrong.batches)
          : fmt::format("the losses of a step have a total weight of {:.4g}, where an average has 1", wrong.weight);
  d.why =
      "backward() adds to .grad. The mean over several batches of equal size is the sum of their means divided by "
      "their number; DDP divides only by the number of ranks. The optimizer steps as if the learning rate were "
      "different, and no call fails: the ranks agree with each other, and gradient clipping hides the error.";
  d.fix = {fmt::format("backward: {{divided_by: {0}}}, that is, (loss / {0}).backward()", wrong.batches),
           fmt::format("(loss / {}).backward()", wrong.batches)};
  d.fix_lines = {"not by the number of ranks too: DDP has already divided by it",
                 alternative("scale the learning rate, if that is intended")};
}

}  // namespace

std::optional<Diagnosis> accumulation_not_divided(const Report& report) {
  if (!is_mean(report)) return std::nullopt;
  Diagnosis d;
  std::optional<Accumulation> first;
  for (const RankResult& result : report.run.ranks) {
    const std::optional<Accumulation> found = accumulation(result.log);
    if (!found) continue;
    // Of ranks with other windows the evidence tells their own numbers.
    if (!first || found->wrong.batches == first->wrong.batches) add_once(d.ranks, result.log.rank);
    d.evidence.push_back(evidence_of(result.log.rank, *found->wrong.step,
                              fmt::format("steps on {} with a total weight of {:.4g}", batches_text(found->wrong.batches),
                                          found->wrong.weight)));
    if (!first) first = found;
  }
  if (!first) return std::nullopt;
  const Window& wrong = first->wrong;
  if (first->others_right && wrong.batches < first->usual) {
    explain_short_window(d, *first);
  } else {
    explain_all_windows(d, *first);
  }
  add_span(d, report, wrong.backward->site.line, wrong.backward->site.column, "adds to the gradients", true);
  add_span(d, report, wrong.step->site.line, wrong.step->site.column,
           fmt::format("steps on {}", batches_text(wrong.batches)), false);
  d.inevitable_at = wrong.step->issued;
  d.inevitable =
      fmt::format("since {}: a step that is {:.4g} times the right one", to_string(d.inevitable_at), wrong.weight);
  return d;
}

namespace {

// A forward with gradients and the backward that follows it.
struct Share {
  std::int64_t rows = 0;
  double factor = 1.0;  // of its loss
  const Call* forward = nullptr;
};

std::vector<Share> shares_of(const RankLog& log, std::int64_t usual_rows) {
  std::map<std::int64_t, std::int64_t> told;
  for (const Note* note : notes_of<notes::RowsTaken>(log)) told[note->call] = note->as<notes::RowsTaken>().rows;
  std::vector<Share> shares;
  const auto factors = factors_of(log);
  std::size_t weighed = 0;
  for (const Call& call : log.calls) {
    if (call.layer != Layer::program || call.state != CallState::completed) continue;
    if (call.name == "forward" && call.site.op == "train") {
      const auto rows = told.find(call.id);
      shares.push_back({rows == told.end() ? usual_rows : rows->second, 1.0, &call});
    }
    for (; call.name == "backward" && weighed < shares.size(); ++weighed)
      shares[weighed].factor = factor_of(factors, call);
  }
  return shares;
}

struct Uneven {
  std::size_t light = 0, heavy = 0;  // ranks whose rows weigh least and most
  std::size_t at = 0;                // which of their forwards
};

double weight_of_a_row(const Share& share) { return share.factor / static_cast<double>(share.rows); }

// The first forward in which rows of two ranks do not weigh alike. A rank without rows adds zeros, and weighs nothing.
std::optional<Uneven> uneven(const std::vector<std::vector<Share>>& ranks) {
  std::size_t forwards = ranks.empty() ? 0 : ranks.front().size();
  for (const auto& shares : ranks) forwards = std::min(forwards, shares.size());
  for (std::size_t at = 0; at < forwards; ++at) {
    std::optional<Uneven> found;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (ranks[r][at].rows <= 0) continue;
      if (!found) found = Uneven{r, r, at};
      if (weight_of_a_row(ranks[r][at]) < weight_of_a_row(ranks[found->light][at])) found->light = r;
      if (weight_of_a_row(ranks[r][at]) > weight_of_a_row(ranks[found->heavy][at])) found->heavy = r;
    }
    if (!found) continue;
    const Share &light = ranks[found->light][at], &heavy = ranks[found->heavy][at];
    if (light.rows != heavy.rows && weight_of_a_row(heavy) > weight_of_a_row(light) * (1.0 + exact)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> batch_sizes_differ(const Report& report) {
  if (!is_mean(report) || setup_of(report)->sampled) return std::nullopt;
  Diagnosis d;
  std::vector<std::vector<Share>> ranks;
  bool told = false;
  for (const RankResult& result : report.run.ranks) {
    if (!has_note<notes::DdpOptions>(result.log) || result.log.dropped > 0) return std::nullopt;
    told = told || has_note<notes::RowsTaken>(result.log);
    ranks.push_back(shares_of(result.log, setup_of(report)->rows));
  }
  const std::optional<Uneven> found = told ? uneven(ranks) : std::nullopt;
  if (!found) return std::nullopt;
  const Share &large = ranks[found->light][found->at], &small = ranks[found->heavy][found->at];
  const auto few = static_cast<Rank>(found->heavy), many = static_cast<Rank>(found->light);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Share& share = ranks[r][found->at];
    d.ranks.push_back(static_cast<Rank>(r));
    d.evidence.push_back(
        evidence_of(static_cast<Rank>(r), *share.forward,
             fmt::format("takes {} rows, and its loss is their mean times {:.4g}", share.rows, share.factor)));
  }
  const double times = weight_of_a_row(small) / weight_of_a_row(large);
  d.headline = fmt::format("each row on rank {} has {:.4g} times the weight of a row on rank {} ({} rows against {})",
                           few, times, many, small.rows, large.rows);
  d.cause = fmt::format("each rank's loss is the mean over its own rows, {} on rank {} and {} on rank {}", small.rows,
                        few, large.rows, many);
  d.why =
      "DDP averages over ranks, whatever their numbers of rows. With means over different numbers of rows, or of "
      "tokens that are not padding, this is not the mean over all rows: a single row on one rank can weigh as much as "
      "all rows of another. No call fails, and replicas agree.";
  d.fix = "weight each rank's mean by its rows: loss * rows * world size / rows of all ranks, before backward";
  d.fix_lines = {"all_reduce the number of rows, or of tokens, first; padding and ignored labels do not count",
                 alternative("give every rank the same number")};
  add_span(d, report, small.forward->site.line, small.forward->site.column,
           fmt::format("rank {} takes {} rows", few, small.rows), true);
  add_span(d, report, large.forward->site.line, large.forward->site.column,
           fmt::format("rank {} takes {} rows", many, large.rows), false);
  d.inevitable_at = small.forward->issued;
  d.inevitable = fmt::format("since {}: rows do not have the same weight", to_string(d.inevitable_at));
  return d;
}

constexpr std::string_view accumulation_not_divided_text =
    R"(Gradients of several micro-batches were added up for one optimizer step, and the losses were not divided by their number, or
divided by a different number. backward() adds to .grad; DDP divides by the number of ranks and knows nothing of micro-batches.

How to recognise it: gradient norms grow with the number of accumulation steps; training with accumulation diverges, or behaves
as with a larger learning rate; the last step of an epoch is smaller than the others, if a partial window was divided by the
number of batches of a full one.

Fix: (loss / k).backward(), where k is the number of micro-batches of this step. With means over different numbers of tokens,
divide sums by the number of all tokens of the step.)";

constexpr std::string_view batch_sizes_differ_text =
    R"(Ranks have batches with different numbers of rows, or of tokens that count; each rank's loss is the mean over its own rows,
and DDP averages over ranks. A row on a rank with few rows weighs more than one on a rank with many.

How to recognise it: no error; training on several ranks and training on one, over the same data, have different losses; the
difference grows with the spread of lengths.

Fix: multiply each rank's mean by its rows times the world size, divided by the rows of all ranks; or equal batches.)";

extern const DiagnosisRow accumulation_not_divided_row;
const DiagnosisRow accumulation_not_divided_row{510, "accumulation-not-divided",
                                                "gradients of several batches were added up and not averaged over them",
                                                accumulation_not_divided, accumulation_not_divided_text};
extern const DiagnosisRow batch_sizes_differ_row;
const DiagnosisRow batch_sizes_differ_row{520, "batch-sizes-differ",
                                          "ranks have batches of different sizes, and DDP gives every rank the same weight",
                                          batch_sizes_differ, batch_sizes_differ_text};

}  // namespace pdsim::scenarios::diagnoses
