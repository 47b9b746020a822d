#include "sim/network.h"

#include <algorithm>

namespace pdsim::sim {
namespace {
constexpr std::uint32_t jitter_steps = 16;
constexpr std::uint32_t loss_steps = 1'000'000;
}  // namespace

Network::Network(const WorldSpec& spec)
    : spec_(spec),
      leaving_(static_cast<std::size_t>(spec.ranks())),
      entering_(static_cast<std::size_t>(spec.ranks())),
      node_leaving_(static_cast<std::size_t>(spec.nodes)),
      node_entering_(static_cast<std::size_t>(spec.nodes)) {}

const Link& Network::link(Rank from, Rank to) const {
  return spec_.node_of(from) == spec_.node_of(to) ? spec_.intra : spec_.inter;
}

std::optional<Transit> Network::transmit(Rank from, Rank to, std::int64_t bytes, Time now, Time extra,
                                         Chooser& chooser) {
  const bool crosses = spec_.node_of(from) != spec_.node_of(to);
  const Link& l = crosses ? spec_.inter : spec_.intra;
  const Time duration = transfer_time(Bytes{bytes + l.header.count}, l.bandwidth);
  Time late = extra;
  if (l.jitter.ps > 0) late += Time{l.jitter.ps / jitter_steps * chooser.choose(jitter_steps, ChoiceTag::jitter)};
  const bool lost = l.loss > 0 && chooser.choose(loss_steps, ChoiceTag::loss) < l.loss * loss_steps;

  Time start = now;
  Time enters = start + l.latency + late;
  if (spec_.sharing != Sharing::none) {
    start = std::max(start, leaving_[static_cast<std::size_t>(from)]);
    const auto up = static_cast<std::size_t>(spec_.node_of(from));
    const auto down = static_cast<std::size_t>(spec_.node_of(to));
    const bool shares_links = crosses && spec_.sharing == Sharing::links;
    if (shares_links) start = std::max(start, node_leaving_[up]);
    leaving_[static_cast<std::size_t>(from)] = start + duration;
    if (shares_links) node_leaving_[up] = start + duration;
    enters = start + l.latency + late;
    if (!lost) {
      enters = std::max(enters, entering_[static_cast<std::size_t>(to)]);
      if (shares_links) enters = std::max(enters, node_entering_[down]);
      entering_[static_cast<std::size_t>(to)] = enters + duration;
      if (shares_links) node_entering_[down] = enters + duration;
    }
  }
  if (lost) return std::nullopt;
  return Transit{start + duration, enters + duration};
}

}  // namespace pdsim::sim
