// The simulated Backend: the library's rendezvous, pairing, timeouts and failures over the plan runner and the Exchange.
#pragma once

#include "core/group/backend.h"
#include "sim/world/world.h"

namespace pdsim::sim {

class SimBackend final : public Backend {
 public:
  SimBackend(World& world, Rank rank) : world_(world), rank_(rank) {}
  std::string_view name() const override { return world_.library().name; }
  Time default_timeout() const override;
  bool takes_sizes_alone() const override { return true; }

 private:
  // Publishes this rank's address in the store, reads the others', and connects. A rank that read the address of a process of an
  // earlier launch waits for it until the timeout. Nothing of this where a group of new_group connects in its first call.
  Result<std::unique_ptr<Communicator>> join_group(Store& store, const JoinOptions& options) override;
  Status read_address(Store& store, const std::string& key, const JoinOptions& options, Rank peer,
                      std::vector<Rank>& stale);
  Status exchange_addresses(Store& store, const JoinOptions& options, int channel, std::vector<Rank>& stale);
  Status connect(const JoinOptions& options, int channel, const std::vector<Rank>& stale, Time deadline);

  const LibrarySemantics& library_of(const JoinOptions& options) const;
  std::optional<Rank> first_ended(const std::vector<Rank>& ranks) const;

  World& world_;
  Rank rank_;
};

// This rank in one group, with the semantics of `library`; `ranks` are global.
std::unique_ptr<Communicator> make_communicator(World& world, const LibrarySemantics& library, FirstCalls::Group group, RankList ranks,
                                          Rank group_rank);

}  // namespace pdsim::sim
