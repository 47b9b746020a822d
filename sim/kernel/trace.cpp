#include "sim/kernel/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pdsim::sim {
namespace {

std::string text_of(const RunEvent& e) {
  switch (e.kind) {
    case RunEvent::Kind::sent:
      return fmt::format("rank {} sent {} B to rank {} at {} ps", e.rank, e.value, e.peer, e.at.ps);
    case RunEvent::Kind::received:
      return fmt::format("rank {} received {} B from rank {} at {} ps", e.rank, e.value, e.peer, e.at.ps);
    case RunEvent::Kind::ended:
      break;
  }
  constexpr std::array<std::string_view, 4> ends{"was running", "returned", "raised", "died"};
  return fmt::format("rank {} {} at {} ps", e.rank, ends[static_cast<std::size_t>(e.value)], e.at.ps);
}

std::string text_at(const std::vector<RunEvent>& events, std::size_t i) {
  return i < events.size() ? text_of(events[i]) : "nothing more";
}

}  // namespace

void Trace::add_choices(std::span<const std::uint32_t> choices) {
  for (const std::uint32_t choice : choices) fingerprint_.add(choice);
}

std::string first_difference(const RunRecord& one, const RunRecord& two) {
  if (one.fingerprint == two.fingerprint && one.events == two.events) return "";
  for (std::size_t i = 0; i < std::max(one.trace.size(), two.trace.size()); ++i) {
    if (i < one.trace.size() && i < two.trace.size() && one.trace[i] == two.trace[i]) continue;
    const std::string first = text_at(one.trace, i);
    const std::string second = text_at(two.trace, i);
    if (first != second) return fmt::format("event {}: {} in run 1, {} in run 2", i, first, second);
    return fmt::format("event {}: {} in both runs, but with different content", i, first);
  }
  for (std::size_t i = 0; i < std::min(one.choices.size(), two.choices.size()); ++i)
    if (one.choices[i] != two.choices[i])
      return fmt::format("choice {}: {} in run 1, {} in run 2", i, one.choices[i], two.choices[i]);
  return fmt::format("the traces agree, but the fingerprints are {} and {}, the events {} and {}",
                     fingerprint_text(one.fingerprint.value_or(0)), fingerprint_text(two.fingerprint.value_or(0)),
                     one.events, two.events);
}

}  // namespace pdsim::sim
