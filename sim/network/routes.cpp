#include "sim/network/routes.h"

#include <cmath>

namespace pdsim::sim {
namespace {

constexpr std::uint32_t dimensions = 3;
constexpr std::uint32_t links_of_an_end = 2 * dimensions;  // of a torus: up and down each dimension

std::uint32_t up(int place) { return 2 * static_cast<std::uint32_t>(place); }
std::uint32_t down(int place) { return up(place) + 1; }

}  // namespace

int Routes::leaf_of(Rank rank) const {
  return spec_.topology.kind == Topology::Kind::rail ? rank % spec_.ranks_per_node
                                                     : spec_.end_of(rank) / spec_.topology.leaf;
}

int Routes::leaves() const {
  if (spec_.topology.kind == Topology::Kind::rail) return spec_.ranks_per_node;
  return (spec_.ends() + spec_.topology.leaf - 1) / spec_.topology.leaf;
}

std::size_t Routes::links() const {
  const auto ends = static_cast<std::size_t>(spec_.ends());
  if (spec_.topology.kind == Topology::Kind::crossbar) return 0;
  if (spec_.topology.kind == Topology::Kind::torus) return ends * links_of_an_end;
  return 2 * static_cast<std::size_t>(leaves()) + (has_node_links() ? 2 * ends : 0);
}

Rate Routes::bandwidth(std::size_t link) const {
  const Topology& t = spec_.topology;
  const bool of_leaf = t.kind != Topology::Kind::torus && link < 2 * static_cast<std::size_t>(leaves());
  if (!of_leaf) return spec_.inter.bandwidth;
  const int below = t.kind == Topology::Kind::rail ? spec_.nodes : t.leaf;
  const double above = static_cast<double>(spec_.inter.bandwidth.bytes_per_s) * below / t.oversubscription;
  return above < 1e18 ? Rate{std::llround(above)} : Rate{};
}

int Routes::find(Rank from, Rank to, std::vector<std::uint32_t>& links) const {
  links.clear();
  const int source = spec_.end_of(from);
  const int target = spec_.end_of(to);
  if (source == target || !any()) return 0;
  if (spec_.topology.kind == Topology::Kind::torus) return along_torus(source, target, links) - 1;
  const int leaf_up = leaf_of(from);
  const int leaf_down = leaf_of(to);
  const std::uint32_t nodes_begin = up(leaves());
  if (has_node_links()) links.push_back(nodes_begin + up(source));
  if (leaf_up != leaf_down) {
    links.push_back(up(leaf_up));
    links.push_back(down(leaf_down));
  }
  if (has_node_links()) links.push_back(nodes_begin + down(target));
  return leaf_up == leaf_down ? 0 : 2;
}

int Routes::along_torus(int from, int to, std::vector<std::uint32_t>& links) const {
  const std::array<int, dimensions>& sides = spec_.topology.sides;
  int stride = 1;
  int at = from;
  for (std::uint32_t d = 0; d < dimensions; ++d) {
    const int side = sides[d];
    int here = from / stride % side;
    const int there = to / stride % side;
    const int upwards = (there - here + side) % side;
    const bool goes_up = 2 * upwards <= side;
    for (int left = goes_up ? upwards : side - upwards; left > 0; --left) {
      links.push_back(static_cast<std::uint32_t>(at) * links_of_an_end + 2 * d + (goes_up ? 0 : 1));
      const int next = goes_up ? (here + 1) % side : (here + side - 1) % side;
      at += (next - here) * stride;
      here = next;
    }
    stride *= side;
  }
  return static_cast<int>(links.size());
}

}  // namespace pdsim::sim
