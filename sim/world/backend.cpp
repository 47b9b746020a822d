#include "sim/world/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

// Also ends when the rank's fiber unwinds.
class Waiting {
 public:
  Waiting(Meeting& meeting, Rank rank, Event& event) : meeting_(meeting), rank_(rank) { meeting.wait(rank, event); }
  ~Waiting() { meeting_.leave(rank_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Meeting& meeting_;
  Rank rank_;
};

Error closed_by(Rank rank) {
  return {Code::peer_closed,
          fmt::format("Connection closed by peer: rank {} has ended", rank),
          {{"peer", std::to_string(rank)}}};
}

std::vector<Rank> global(const JoinOptions& options, std::vector<Rank> group_ranks) {
  if (!options.global_ranks.empty())
    for (Rank& r : group_ranks) r = options.global_ranks[static_cast<std::size_t>(r)];
  return group_ranks;
}

std::int64_t milliseconds(Time t) { return t.ns() / 1'000'000; }

}  // namespace

Time SimBackend::default_timeout() const { return pdsim::default_timeout(world_.library(), world_.profile()); }

// A world's own may follow variables of its environment too.
const LibrarySemantics& SimBackend::library_of(const JoinOptions& options) const {
  const LibrarySemantics* named = options.library == name() ? nullptr : library_named(options.library);
  return named == nullptr ? world_.library() : *named;
}

// The address of a group's peer. One of an earlier launch, or of a rank that the store has under the same key because it calls another list of
// ranks its n-th group, leads to nobody who answers.
Status SimBackend::read_address(Store& store, const std::string& key, const JoinOptions& options, Rank peer,
                                std::vector<Rank>& stale) {
  const Result<std::string> address = store.get(key);
  if (!address.ok()) return address.error();
  const bool is_foreign = !options.global_ranks.empty() &&
                          *address != address_of(world_.launch(), options.global_ranks[static_cast<std::size_t>(peer)]);
  if (is_foreign || launch_in(*address) != world_.launch()) stale.push_back(peer);
  return {};
}

Status SimBackend::exchange_addresses(Store& store, const JoinOptions& options, int, std::vector<Rank>& stale) {
  if (library_of(options).address_exchange == AddressExchange::root_publishes) {
    if (options.rank == 0) return store.set(options.group + "/0", address_of(world_.launch(), rank_));
    return read_address(store, options.group + "/0", options, 0, stale);
  }
  const auto key_of = [&options](Rank rank) { return fmt::format("{}/rank_{}", options.group, rank); };
  PDSIM_TRY(store.set(key_of(options.rank), address_of(world_.launch(), rank_)));
  for (Rank peer = 0; peer < options.size; ++peer)
    if (peer != options.rank) PDSIM_TRY(read_address(store, key_of(peer), options, peer, stale));
  return {};
}

Status SimBackend::connect(const JoinOptions& options, int channel, const std::vector<Rank>& stale, Time deadline) {
  Meeting& meeting = world_.meeting(channel, options.size);
  meeting.arrive(options.rank, stale);
  const bool peers_fail = library_of(options).on_peer_end == OnPeerEnd::peers_fail;
  while (!stale.empty() || !meeting.complete_for(options.rank)) {
    if (peers_fail && stale.empty() && world_.any_has_ended())
      if (const auto gone = first_ended(global(options, meeting.missing_for(options.rank)))) return closed_by(*gone);
    const std::unique_ptr<Event> event = world_.slot(rank_).runtime->make_event();
    const Waiting waiting(meeting, options.rank, *event);
    if (event->wait(deadline)) continue;
    const Rank missing =
        global(options, stale.empty() ? meeting.missing_for(options.rank) : std::vector<Rank>{stale.front()}).front();
    return Error{Code::timeout,
                 fmt::format("Timed out waiting {}ms to connect to rank {}", milliseconds(options.timeout), missing),
                 {{"peer", std::to_string(missing)}}};
  }
  return {};
}

std::optional<Rank> SimBackend::first_ended(const std::vector<Rank>& ranks) const {
  for (const Rank rank : ranks)
    if (rank < world_.spec().ranks() && world_.has_ended(rank)) return rank;
  return std::nullopt;
}

Result<std::unique_ptr<Communicator>> SimBackend::join_group(Store& store, const JoinOptions& options) {
  SimRuntime& runtime = *world_.slot(rank_).runtime;
  // Ranks that disagree about the members never meet.
  std::string meeting = fmt::format("{}/{}", options.group, options.size);
  if (!options.global_ranks.empty()) meeting += fmt::format("/{}", fmt::join(options.global_ranks, ","));
  const int channel = world_.channel(meeting);
  const Time deadline = options.timeout == Time::max() ? Time::max() : runtime.now() + options.timeout;
  const bool is_world = options.global_ranks.empty();
  FirstCalls::Group group{channel, options.size, is_world ? "" : options.group};
  if (is_world || !library_of(options).communicator_at_first_call) {
    std::vector<Rank> stale;
    PDSIM_TRY(exchange_addresses(store, options, channel, stale));
    PDSIM_TRY(connect(options, channel, stale, deadline));
    runtime.sleep_until(runtime.now() + world_.spec().intra.latency);
  }
  return make_communicator(world_, library_of(options), std::move(group), options.members(), options.rank);
}

}  // namespace pdsim::sim
