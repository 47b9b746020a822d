#include "tools/console/bench_raw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pdsim::tools {
namespace {

std::string half(const TimedRound* round, std::size_t form) {
  if (round == nullptr || form >= round->raw.size()) return fmt::format("{:>12} {:>6}", "-", "-");
  const RawTime& raw = round->raw[form];
  if (raw.wrong > 0) return fmt::format("{:>12.3f} {:>6}", raw.median.us(), "wrong");
  return fmt::format("{:>12.3f} {:>6.2f}", raw.median.us(), raw_ratio(round->average, raw.median));
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

double raw_ratio(Time ours, Time raw) { return raw > Time{} ? ours.us() / raw.us() : 0.0; }

RawHeads raw_heads(const RawFunctions& functions) {
  RawHeads heads;
  for (const std::string_view function : functions) {
    heads.functions += fmt::format(" {:^39}", function);
    heads.names += fmt::format(" {:>12} {:>6} {:>12} {:>6}", "out-of-place", "ours/", "in-place", "ours/");
    heads.units += fmt::format(" {:>12} {:>6} {:>12} {:>6}", "(us)", "raw", "(us)", "raw");
  }
  return heads;
}

std::string raw_columns(const RawFunctions& functions, const TimedRound& out_of_place, const TimedRound* in_place) {
  std::string text;
  for (std::size_t form = 0; form < functions.size(); ++form)
    text += fmt::format(" {} {}", half(&out_of_place, form), half(in_place, form));
  return text;
}

void RawRatios::add(const TimedRound& round) { rounds_.push_back(round); }

std::string RawRatios::footer(const RawFunctions& functions) const {
  std::string text;
  for (std::size_t form = 0; form < functions.size(); ++form) {
    std::vector<double> medians, least;
    for (const TimedRound& round : rounds_) {
      if (form >= round.raw.size() || round.raw[form].least <= Time{} || round.least <= Time{}) continue;
      medians.push_back(raw_ratio(round.average, round.raw[form].median));
      least.push_back(raw_ratio(round.least, round.raw[form].least));
    }
    if (medians.empty()) continue;
    const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
    text += fmt::format(
        "# ours / {}, geometric mean of {} rows: {:.3f} by median blocks ({:.2f} to {:.2f}), {:.3f} by best blocks\n",
        functions[form], medians.size(), geometric_mean(medians), *low, *high, geometric_mean(least));
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace pdsim::tools
