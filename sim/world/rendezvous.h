// The simulated Rendezvous: tcp and env share one store in the memory of rank 0 of this launch; file is a FileStore and
// folder a GlooFileStore on the simulated disk. All handles are recorded, with the launch that wrote each value read.
#pragma once

#include "core/store/rendezvous.h"
#include "sim/world/world.h"

namespace pdsim::sim {

class SimRendezvous final : public Rendezvous {
 public:
  SimRendezvous(World& world, Rank rank) : world_(world), rank_(rank) {}
  Result<std::unique_ptr<Store>> tcp(std::string_view address, Time timeout) override;
  Result<std::unique_ptr<Store>> env(Time timeout) override;
  Result<std::unique_ptr<Store>> file(std::string_view path, Time timeout) override;
  Result<std::unique_ptr<Store>> folder(std::string_view path, Time timeout) override;

 private:
  std::unique_ptr<Store> recorded(std::unique_ptr<Store> store, Time timeout);
  World& world_;
  Rank rank_;
};

}  // namespace pdsim::sim
