#include "scenarios/diagnosis/fix_proof.h"

#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace pdsim::scenarios {
namespace {

struct Step {
  int collectives = 0;
  Time begin = Time::max();
  Time end{};
  bool whole = true;  // every call of it finished
  bool once = false;  // DDP rebuilt its buckets in it, which it does once in a training
};

std::map<int, Step> steps_of(const Report& report) {
  std::map<int, Step> steps;
  if (report.run.ranks.empty()) return steps;
  for (const Call& call : log_of(report.run, 0).calls) {
    if (call.site.step < 0) continue;
    Step& step = steps[call.site.step];
    step.begin = std::min(step.begin, call.issued);
    if (call.state == CallState::completed) {
      step.end = std::max(step.end, call.finished);
    } else {
      step.whole = false;
    }
    if (call.layer == Layer::collective) ++step.collectives;
    const PurposeKind purpose = call.purpose.kind;
    if (purpose == PurposeKind::rebuild_order || purpose == PurposeKind::rebuild_sizes) step.once = true;
  }
  return steps;
}

// The first step that is not healthy.
int first_bad_step(const Report& broken) {
  int bad = 1 << 30;
  for (const RankResult& result : broken.run.ranks) {
    for (const Note* note : notes_of<notes::BucketUnfilled>(result.log)) bad = std::min(bad, note->site.step);
    if (result.log.end != RankEnd::returned && result.log.error_site.step >= 0)
      bad = std::min(bad, result.log.error_site.step);
  }
  for (const BlockedRank& b : broken.blocked)
    if (b.step >= 0) bad = std::min(bad, b.step);
  return bad;
}

bool is_without_ddp(const Scenario& scenario) {
  return std::any_of(scenario.settings.begin(), scenario.settings.end(),
                     [](const Setting& s) { return s.path == "ddp" && *s.value == "none"; });
}

// A variant that ends well may show the pitfall all the same, as one that pays for it: it says so, or its name does.
bool shows_the_pitfall(const Scenario& scenario) {
  return scenario.role() == VariantRole::pitfall || scenario.variant.starts_with("broken");
}

// Where and by what a program runs. A variant that changes this alone shows that the program is well elsewhere, which is a cure only of these.
struct Circumstance {
  std::string_view path;
  std::array<std::string_view, 4> cures{};
};
constexpr std::array circumstances{
    Circumstance{"world.backend", {"device-without-backend", "call-not-offered"}},
    Circumstance{"world.timeout", {"delayed-enter", "timeout-too-short"}},
    Circumstance{"world.link", {"timeout-too-short", "missing-exit", "message-lost", "message-corrupted"}},
    Circumstance{"world.speeds", {"delayed-enter", "timeout-too-short", "straggler"}},
    Circumstance{"world.debug", {}},
    Circumstance{"seed", {}},
};

bool is_of(std::string_view path, std::string_view whole) {
  return path.starts_with(whole) && (path.size() == whole.size() || path[whole.size()] == '.');
}

// The settings that only one of the two has.
std::vector<std::string> changed_paths(const Scenario& a, const Scenario& b) {
  std::vector<std::string> paths;
  for (const auto& [mine, theirs] : {std::pair{&a.settings, &b.settings}, std::pair{&b.settings, &a.settings}})
    for (const Setting& s : *mine)
      if (std::none_of(theirs->begin(), theirs->end(),
                       [&s = s](const Setting& t) { return t.path == s.path && *t.value == *s.value; }))
        paths.push_back(s.path);
  return paths;
}

// Whether the variant changes something that may be the cure of this finding, and not only what surrounds the program.
bool changes_the_cause(const Report& broken, const Scenario& variant) {
  if (broken.scenario == nullptr || broken.diagnosis() == nullptr) return true;
  const std::vector<std::string> paths = changed_paths(*broken.scenario, variant);
  const auto counts = [&](const std::string& path) {
    const auto row = std::find_if(circumstances.begin(), circumstances.end(),
                                  [&](const Circumstance& c) { return is_of(path, c.path); });
    return row == circumstances.end() ||
           std::find(row->cures.begin(), row->cures.end(), broken.diagnosis()->id) != row->cures.end();
  };
  return paths.empty() || std::any_of(paths.begin(), paths.end(), counts);
}

bool is_comparable(const Step& a, const Step& b) { return a.whole && b.whole && !a.once && !b.once; }

}  // namespace

std::vector<FixProof> fix_proofs(const Report& broken, const std::vector<Report>& reports) {
  std::vector<FixProof> proofs;
  const std::map<int, Step> before = steps_of(broken);
  const int bad = first_bad_step(broken);
  for (const Report& report : reports) {
    if (&report == &broken || report.outcome != Outcome::ok || report.verdict != Verdict::pass || report.diagnosis())
      continue;
    if (report.scenario == nullptr || shows_the_pitfall(*report.scenario) || is_without_ddp(*report.scenario)) continue;
    if (!changes_the_cause(broken, *report.scenario)) continue;
    FixProof proof;
    proof.report = &report;
    for (const Setting& s : report.scenario->settings)
      proof.settings += fmt::format("{}{}: {}", proof.settings.empty() ? "" : ", ", s.path, *s.value);
    Time was{}, is{};
    for (const auto& [number, step] : steps_of(report)) {
      const auto other = before.find(number);
      if (number >= bad || other == before.end() || !is_comparable(step, other->second)) continue;
      ++proof.steps;
      proof.collectives += step.collectives - other->second.collectives;
      was += other->second.end - other->second.begin;
      is += step.end - step.begin;
    }
    if (proof.steps > 0) {
      proof.collectives /= proof.steps;
      proof.time = {(is.ps - was.ps) / proof.steps};
      proof.percent = was.ps > 0 ? 100.0 * static_cast<double>(is.ps - was.ps) / static_cast<double>(was.ps) : 0.0;
    }
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

std::string cost_text(const FixProof& proof) {
  if (proof.steps == 0) return {};
  constexpr double little = 0.05;  // percent: noise of rounding, not a price
  const bool is_timed = proof.report->world.is_simulated();
  const bool same_calls = std::abs(proof.collectives) < 1e-9;
  const bool same_time = !is_timed || std::abs(proof.percent) < little;
  if (same_calls && same_time) return is_timed ? "adds nothing per step" : "adds no collective per step";
  const bool adds_calls = proof.collectives > 0, adds_time = proof.time.ps > 0;
  std::string text;
  if (!same_calls) {
    const double count = std::abs(proof.collectives);
    text = fmt::format("{} {} collective{}", adds_calls ? "adds" : "saves", count == 1.0 ? "one" : fmt::format("{:.3g}", count), count == 1.0 ? "" : "s");
    if (!is_timed) return text + " per step";
    text += " and ";
  }
  if (same_time) return text + "no time per step";
  if (same_calls || adds_calls != adds_time) text += adds_time ? "adds " : "saves ";
  return text + fmt::format("{} ({:+.1f}%) per step", to_string(Time{std::abs(proof.time.ps)}), proof.percent);
}

}  // namespace pdsim::scenarios
