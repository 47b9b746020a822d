#include "sim/network/network.h"

#include <algorithm>
#include <span>

namespace pdsim::sim {
namespace {

constexpr std::uint32_t jitter_steps = 16;
constexpr std::uint32_t loss_steps = 1'000'000;

Time& of(std::vector<Time>& times, int place) { return times[static_cast<std::size_t>(place)]; }

void lower(Rate& rate, Rate limit) {
  if (limit.bytes_per_s > 0 && (rate.bytes_per_s == 0 || limit < rate)) rate = limit;
}

Time duration_of(std::int64_t bytes, Rate rate, const Link& link) {
  const std::int64_t free = link.first_byte_free && bytes > 0 ? 1 : 0;
  const Time exact = transfer_time(Bytes{bytes - free}, rate);
  return link.tick.ps > 0 ? Time{exact.ps - exact.ps % link.tick.ps} : exact;
}

}  // namespace

Time Reservations::take(Time ready, Time duration, Time now) {
  if (all_) return take_among_many(ready, duration, now);
  const bool free = one_.until <= now;
  if (!free && one_.from < ready + duration) ready = std::max(ready, one_.until);
  if (duration.ps == 0) return ready;
  if (free) {
    one_ = {ready, ready + duration};
  } else if (one_.until == ready) {
    one_.until = ready + duration;
  } else if (one_.from == ready + duration) {
    one_.from = ready;
  } else {
    all_ = std::make_unique<std::vector<Busy>>(1, one_);
    return take_among_many(ready, duration, now);
  }
  return ready;
}

Time Reservations::gap(Time ready, Time duration) const {
  const std::span<const Busy> busy = all_ ? std::span<const Busy>(*all_) : std::span(&one_, 1);
  for (const Busy& b : busy)
    if (b.until > ready && b.from < ready + duration) ready = b.until;
  return ready;
}

Time Reservations::take_among_many(Time ready, Time duration, Time now) {
  std::vector<Busy>& busy = *all_;
  auto at = std::find_if(busy.begin(), busy.end(), [now](const Busy& b) { return b.until > now; });
  at = busy.erase(busy.begin(), at);
  // A reservation that ends before `ready` does not delay this one.
  at = std::partition_point(at, busy.end(), [ready](const Busy& b) { return b.until < ready; });
  for (; at != busy.end() && at->from < ready + duration; ++at) ready = std::max(ready, at->until);
  if (duration.ps == 0) return ready;
  const bool joins_before = at != busy.begin() && std::prev(at)->until == ready;
  const bool joins_after = at != busy.end() && at->from == ready + duration;
  if (joins_before && joins_after) {
    std::prev(at)->until = at->until;
    busy.erase(at);
  } else if (joins_before) {
    std::prev(at)->until = ready + duration;
  } else if (joins_after) {
    at->from = ready;
  } else {
    busy.insert(at, {ready, ready + duration});
  }
  if (busy.size() == 1) {
    one_ = busy.front();
    all_.reset();
  }
  return ready;
}

Network::Network(const WorldSpec& spec)
    : spec_(spec),
      routes_(spec),
      leaving_(static_cast<std::size_t>(spec.ranks())),
      entering_(static_cast<std::size_t>(spec.ranks())),
      node_leaving_(static_cast<std::size_t>(spec.nodes)),
      node_entering_(static_cast<std::size_t>(spec.nodes)),
      cores_(static_cast<std::size_t>(spec.nodes) * static_cast<std::size_t>(spec.cores)) {
  if (spec.sharing == Sharing::links) links_.resize(routes_.links());
  if (routes_.any()) known_routes_.resize(static_cast<std::size_t>(spec.ranks()));
  for (std::size_t link = 0; link < links_.size(); ++link) link_rates_.push_back(routes_.bandwidth(link));
  if (spec.speeds.empty()) return;
  ports_.resize(static_cast<std::size_t>(spec.ranks()));
  for (Rank rank = 0; rank < spec.ranks(); ++rank)
    for (const Speed& speed : spec.speeds)
      if (speed.rank.contains(rank)) lower(ports_[static_cast<std::size_t>(rank)], speed.bandwidth);
}

const Link& Network::link(Rank from, Rank to) const {
  return spec_.nodes == 1 || spec_.node_of(from) == spec_.node_of(to) ? spec_.intra : spec_.inter;
}

Time Network::transfer(Rank from, Rank to, std::int64_t bytes) const {
  const Link& l = link(from, to);
  if (!ports_.empty()) {
    Rate rate = l.bandwidth;
    lower(rate, ports_[static_cast<std::size_t>(from)]);
    lower(rate, ports_[static_cast<std::size_t>(to)]);
    return duration_of(bytes + l.header.count, rate, l);
  }
  const auto place = static_cast<std::size_t>(bytes ^ (bytes >> 8)) % known_sizes;
  Known& known = known_[place][&l == &spec_.inter ? 1 : 0];
  if (known.bytes != bytes) known = {bytes, duration_of(bytes + l.header.count, l.bandwidth, l)};
  return known.duration;
}

std::optional<Transit> Network::transmit(Rank from, Rank to, std::int64_t bytes, Time now, Time extra,
                                         Chooser& chooser) {
  const bool crosses = spec_.nodes > 1 && spec_.node_of(from) != spec_.node_of(to);
  const Link& l = crosses ? spec_.inter : spec_.intra;
  const Time duration = transfer(from, to, bytes);
  Time late = extra;
  if (l.jitter.ps > 0) late += Time{l.jitter.ps / jitter_steps * chooser.choose(jitter_steps, ChoiceTag::jitter)};
  const bool lost = l.loss > 0 && chooser.choose(loss_steps, ChoiceTag::loss) < l.loss * loss_steps;

  Time start = now;
  if (spec_.sharing != Sharing::none) start = std::max(start, of(leaving_, from));
  const Time busy = duration + l.overhead;
  if (routes_.any() && spec_.end_of(from) != spec_.end_of(to)) {
    start = take_core(from, start, busy, now);
    const Transit transit = along_route({from, to, bytes + l.header.count, start, duration, late, lost}, now);
    return lost ? std::nullopt : std::optional(transit);
  }

  const bool shares_ports = spec_.sharing != Sharing::none;
  const bool shares_links = crosses && spec_.sharing == Sharing::links;
  const int up = shares_links ? spec_.node_of(from) : 0;
  const int down = shares_links ? spec_.node_of(to) : 0;
  if (shares_links) start = std::max(start, of(node_leaving_, up));
  start = take_core(from, start, busy, now);
  if (shares_ports) of(leaving_, from) = start + busy;
  if (shares_links) of(node_leaving_, up) = start + busy;
  if (lost) return std::nullopt;
  Time enters = start + l.overhead + l.latency + late;
  if (shares_ports) enters = std::max(enters, of(entering_, to));
  if (shares_links) enters = std::max(enters, of(node_entering_, down));
  enters = take_core(to, enters, busy, now);
  if (shares_ports) of(entering_, to) = enters + busy;
  if (shares_links) of(node_entering_, down) = enters + busy;
  return Transit{start + busy, enters + busy};
}

Time Network::take_core(Rank rank, Time ready, Time busy, Time now) {
  if (spec_.cores == 0) return ready;
  const auto many = static_cast<std::size_t>(spec_.cores);
  const std::span cores(&cores_[static_cast<std::size_t>(spec_.node_of(rank)) * many], many);
  Reservations* soonest = cores.data();
  Time begin = Time::max();
  for (Reservations& core : cores)
    if (const Time gap = core.gap(ready, busy); gap < begin) {
      soonest = &core;
      begin = gap;
    }
  return soonest->take(begin, busy, now);
}

const Route& Network::route(Rank from, Rank to) {
  Route& known = known_routes_[static_cast<std::size_t>(from)];
  if (known.to != to) {
    known.hops = routes_.find(from, to, known.links);
    known.to = to;
  }
  return known;
}

Transit Network::along_route(const Passage& p, Time now) {
  const Link& l = link(p.from, p.to);
  const Route& way = route(p.from, p.to);
  const Time latency = l.latency + spec_.topology.hop * way.hops + p.late;
  const Time head = p.start + l.overhead;
  const Time sent = head + p.duration;
  // A link takes messages by packets in turn: its share of one may come later, and only then is the end of it later.
  Time share = head;
  Time tail = sent;
  if (!links_.empty())
    for (const std::uint32_t link : way.links) {
      const bool alike = ports_.empty() && link_rates_[link] == l.bandwidth;
      const Time taken = alike ? p.duration : duration_of(p.bytes, link_rates_[link], l);
      share = links_[link].take(share, taken, now);
      tail = std::max(tail, share + taken);
    }
  if (spec_.sharing != Sharing::none) of(leaving_, p.from) = sent;
  Time enters = tail - p.duration + latency;  // the receiver's port is busy for the end of it
  if (p.lost) return {};
  if (spec_.sharing != Sharing::none) enters = std::max(enters, of(entering_, p.to));
  enters = take_core(p.to, enters, p.duration + l.overhead, now);
  if (spec_.sharing != Sharing::none) of(entering_, p.to) = enters + p.duration + l.overhead;
  return {sent, enters + p.duration + l.overhead};
}

}  // namespace pdsim::sim
