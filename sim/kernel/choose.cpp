#include "sim/kernel/choose.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>
#include <utility>

namespace pdsim::sim {
namespace {

Error not_a_strategy(std::string_view strategy, std::size_t at, std::string expected) {
  return {Code::invalid_argument,
          fmt::format("`{}` is not a strategy", strategy),
          {{"at", std::to_string(at)}, {"help", std::move(expected)}}};
}

}  // namespace

Result<Chooser> Chooser::make(std::string_view strategy, std::uint64_t seed) {
  if (strategy == "fifo") return Chooser(Driver::fifo, seed);
  if (strategy == "random") return Chooser(Driver::random, seed);
  constexpr std::string_view prefix = "replay:";
  if (strategy.substr(0, prefix.size()) != prefix)
    return not_a_strategy(strategy, 0, "expected fifo, random or replay:0.1.1");
  Chooser chooser(Driver::replay, seed);
  std::size_t at = prefix.size();
  while (at < strategy.size()) {
    std::uint32_t value = 0;
    const char* const first = strategy.data() + at;
    const auto [end, code] = std::from_chars(first, strategy.data() + strategy.size(), value);
    if (code == std::errc::result_out_of_range)
      return not_a_strategy(strategy, at,
                            fmt::format("expected a number up to {}", std::numeric_limits<std::uint32_t>::max()));
    if (code != std::errc()) return not_a_strategy(strategy, at, "expected a number, such as the 1 of replay:0.1.1");
    chooser.list_.push_back(value);
    at += static_cast<std::size_t>(end - first);
    if (at == strategy.size()) break;
    if (strategy[at] != '.') return not_a_strategy(strategy, at, "expected a dot between the numbers");
    if (++at == strategy.size()) return not_a_strategy(strategy, at, "expected a number after the dot");
  }
  return chooser;
}

std::uint32_t Chooser::choose(std::uint32_t n, ChoiceTag tag) {
  if (n <= 1) return 0;
  std::uint32_t answer = 0;
  const bool environment = tag == ChoiceTag::jitter || tag == ChoiceTag::loss;
  if (driver_ == Driver::replay) {
    if (made_.size() < list_.size()) answer = list_[made_.size()] % n;
  } else if (driver_ == Driver::random || environment) {
    answer = static_cast<std::uint32_t>(random_.below(n));
  }
  made_.push_back(answer);
  return answer;
}

}  // namespace pdsim::sim
