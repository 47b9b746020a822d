#include "sim/choose.h"

#include <fmt/format.h>

#include <charconv>

namespace pdsim::sim {

Result<Chooser> Chooser::make(std::string_view strategy, std::uint64_t seed) {
  if (strategy == "fifo") return Chooser(Driver::fifo, seed);
  if (strategy == "random") return Chooser(Driver::random, seed);
  const Error wrong{Code::invalid_argument,
                    fmt::format("`{}` is not a strategy", strategy),
                    {{"help", "write fifo, random or replay:0.1.1"}}};
  constexpr std::string_view prefix = "replay:";
  if (strategy.substr(0, prefix.size()) != prefix) return wrong;
  Chooser chooser(Driver::replay, seed);
  std::string_view rest = strategy.substr(prefix.size());
  while (!rest.empty()) {
    std::uint32_t value = 0;
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (code != std::errc()) return wrong;
    chooser.list_.push_back(value);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty()) break;
    if (rest.front() != '.' || rest.size() == 1) return wrong;
    rest.remove_prefix(1);
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
