#include "sim/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace pdsim::sim {
namespace {

std::string address_of(int launch, Rank rank) { return fmt::format("sim://launch-{}/rank-{}", launch, rank); }

int launch_in(std::string_view address) {
  constexpr std::string_view prefix = "sim://launch-";
  int launch = 0;
  if (address.substr(0, prefix.size()) != prefix) return 0;
  std::from_chars(address.data() + prefix.size(), address.data() + address.size(), launch);
  return launch;
}

std::int64_t milliseconds(Time t) { return t.ns() / 1'000'000; }

}  // namespace

Time SimBackend::default_timeout() const { return sim::default_timeout(world_.personality, world_.profile); }

Status SimBackend::exchange_addresses(Store& store, const JoinOptions& options, int, std::vector<Rank>& ghosts) {
  const std::string prefix = options.group + "/";
  const auto read = [&](const std::string& key, Rank peer) -> Status {
    const Result<std::string> address = store.get(key);
    if (!address.ok()) return address.error();
    if (launch_in(*address) != world_.launch) ghosts.push_back(peer);
    return {};
  };
  if (world_.personality.address_exchange == AddressExchange::root_publishes) {
    const std::string key = prefix + "0";
    if (options.rank == 0) return store.set(key, address_of(world_.launch, rank_));
    return read(key, 0);
  }
  PDSIM_TRY(store.set(fmt::format("{}rank_{}", prefix, options.rank), address_of(world_.launch, rank_)));
  for (Rank peer = 0; peer < options.size; ++peer)
    if (peer != options.rank) PDSIM_TRY(read(fmt::format("{}rank_{}", prefix, peer), peer));
  return {};
}

Status SimBackend::connect(const JoinOptions& options, int channel, const std::vector<Rank>& ghosts, Time deadline) {
  SimRuntime& runtime = *world_.seat(rank_).runtime;
  for (Rank peer = 0; peer < options.size; ++peer) {
    if (peer == options.rank || std::find(ghosts.begin(), ghosts.end(), peer) != ghosts.end()) continue;
    world_.connected.insert({channel, options.rank, peer});
    if (++world_.inbound[{channel, peer}] == options.size - 1) world_.wake_joining(peer);
  }
  while (true) {
    std::vector<Rank> missing = ghosts;
    const bool complete = world_.inbound[{channel, options.rank}] == options.size - 1;
    for (Rank peer = 0; peer < options.size && !complete; ++peer) {
      if (peer == options.rank || world_.connected.count({channel, peer, options.rank}) != 0) continue;
      missing.push_back(peer);
      const bool fails = world_.personality.on_peer_end == OnPeerEnd::peers_fail;
      if (fails && ghosts.empty() && peer < world_.spec.ranks() && world_.seat(peer).ended)
        return Error{Code::peer_closed,
                     fmt::format("Connection closed by peer: rank {} has ended", peer),
                     {{"peer", std::to_string(peer)}}};
    }
    if (missing.empty()) return {};
    const std::unique_ptr<Event> event = runtime.make_event();
    struct Registration {
      World& world;
      Event* event;
      ~Registration() {
        auto& j = world.joining;
        j.erase(std::remove_if(j.begin(), j.end(), [this](const auto& e) { return e.second == event; }), j.end());
      }
    } registration{world_, event.get()};
    world_.joining.emplace_back(rank_, event.get());
    if (event->wait(deadline)) continue;
    return Error{Code::timeout,
                 fmt::format("Timed out waiting {}ms to connect to rank {}", milliseconds(options.timeout), missing[0]),
                 {{"peer", std::to_string(missing[0])}}};
  }
}

Result<std::unique_ptr<Member>> SimBackend::join(Store& store, const JoinOptions& options) {
  SimRuntime& runtime = *world_.seat(rank_).runtime;
  const int channel = world_.channel(options.group);
  const Time deadline = options.timeout == Time::max() ? Time::max() : runtime.now() + options.timeout;
  std::vector<Rank> ghosts;
  PDSIM_TRY(exchange_addresses(store, options, channel, ghosts));
  PDSIM_TRY(connect(options, channel, ghosts, deadline));
  runtime.sleep_until(runtime.now() + world_.spec.intra.latency);
  // Sub-groups translate ranks above this seam; the world's group ranks are the global ones.
  std::vector<Rank> ranks(static_cast<std::size_t>(options.size));
  for (Rank r = 0; r < options.size; ++r) ranks[static_cast<std::size_t>(r)] = r;
  return make_member(world_, channel, std::move(ranks), options.rank);
}

}  // namespace pdsim::sim
