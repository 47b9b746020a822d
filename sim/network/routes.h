// Routes of a topology: the shared links that a message crosses from one rank to another.
//
//   within a node    none
//   fat_tree, rail   under one leaf switch: no link of the tree. Otherwise the leaf's uplink and the other leaf's downlink, whose
//                    bandwidth is that of all ends below it, divided by the oversubscription. A node's own links come before
//                    and after; in rail every rank has a port of its own instead
//   torus            along x, then y, then z, each the shorter way, of two equal ones upwards; a link for each direction
//   source           fat tree: Leiserson 1985; rail-optimised: NVIDIA's DGX SuperPOD reference architecture
#pragma once

#include "sim/world_spec.h"

#include <cstdint>
#include <vector>

namespace pdsim::sim {

struct Route {
  Rank to = no_rank;
  int hops = 0;                      // beyond the first
  std::vector<std::uint32_t> links;  // in order
};

class Routes {
 public:
  explicit Routes(const WorldSpec& spec) : spec_(spec) {}

  bool any() const { return spec_.topology.kind != Topology::Kind::crossbar; }
  std::size_t links() const;
  // 0: infinitely fast.
  Rate bandwidth(std::size_t link) const;
  // Fills `links` in order, and returns the route's number of hops beyond the first.
  int find(Rank from, Rank to, std::vector<std::uint32_t>& links) const;

 private:
  int leaf_of(Rank rank) const;
  int leaves() const;
  int along_torus(int from, int to, std::vector<std::uint32_t>& links) const;
  bool has_node_links() const { return spec_.two_level && spec_.topology.kind == Topology::Kind::fat_tree; }

  const WorldSpec& spec_;
};

}  // namespace pdsim::sim
