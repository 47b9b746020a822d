#include "core/collectives/tuning/nccl_model.h"

#include <algorithm>
#include <bit>

namespace pdsim::nccl_model {
namespace {

using ByProtocol = std::array<double, 3>;   // LL, LL128, Simple
using ByShape = std::array<ByProtocol, 2>;  // tree, ring

// Microseconds.
constexpr ByShape base{{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}}};
constexpr std::array<ByShape, 2> hop_inside{{
    {{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}}},  // NVLink
    {{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}}},   // PCI
}};
constexpr ByShape hop_across{{{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}}};
constexpr ByProtocol overhead{1.0, 1.0, 3.0};  // of posting to the network

// The usable fraction of a link's bandwidth: LL sends a flag with every four bytes, LL128 eight bytes of flags in 128,
// and a tree keeps its links less busy than a ring.
constexpr ByShape efficiency{{{0.9 / 3.8, 0.9 * 0.915, 0.9}, {0.25, 0.92, 1.0}}};
constexpr double ll128_tree_in_one_node = 7.0 / 9.0 / 0.915;

// How far trees stay behind the model, by powers of two from 64 B.
constexpr std::array<std::array<double, 22>, 3> tree_correction{{
    {1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1.0, 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7, .6, .6, .6, .5, .6, .6, .7, .7, .8, .9, .9, 1.0},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .5, .5, .6, .6, .7, .8, .9},
}};

std::size_t index(Shape s) { return static_cast<std::size_t>(s); }
std::size_t index(Protocol p) { return static_cast<std::size_t>(p); }

}  // namespace

double latency_us(const Machine& m, Shape shape, Protocol protocol) {
  const std::size_t s = index(shape), p = index(protocol);
  double inside = hop_inside[static_cast<std::size_t>(m.link)][s][p];
  const double across = hop_across[s][p];
  if (shape == Shape::tree) {
    const int levels = static_cast<int>(std::bit_width(static_cast<unsigned>(m.nodes))) - 1;
    return base[s][p] + 2 * ((m.ranks_per_node - 1) * inside + levels * across);
  }
  if (m.nodes > 1) inside = std::max(inside, overhead[p]);
  const int steps = 2 * (m.nodes * m.ranks_per_node - 1), crossing = 2 * (m.nodes - 1);
  return base[s][p] + (steps - crossing) * inside + crossing * across;
}

double bandwidth_GBps(const Machine& m, Shape shape, Protocol protocol, std::int64_t bytes) {
  const int ranks = m.nodes * m.ranks_per_node;
  double bus = (m.nodes == 1 ? m.inside_GBps : m.across_GBps) * efficiency[index(shape)][index(protocol)];
  if (shape == Shape::ring) return bus * ranks / std::max(1, 2 * (ranks - 1));
  if (protocol == Protocol::ll128 && m.nodes == 1) bus *= ll128_tree_in_one_node;
  const std::size_t blocks = static_cast<std::size_t>(std::max<std::int64_t>(bytes / 64, 1));
  const auto power = static_cast<std::size_t>(std::bit_width(blocks)) - 1;
  if (power < tree_correction[0].size()) bus *= tree_correction[index(protocol)][power];
  return bus / 2;
}

double time_us(const Machine& m, Shape shape, Protocol protocol, std::int64_t bytes) {
  return latency_us(m, shape, protocol) +
         static_cast<double>(bytes) / (1000 * bandwidth_GBps(m, shape, protocol, bytes));
}

Choice choose(const Machine& m, std::int64_t bytes) {
  Choice best{Shape::tree, Protocol::ll, time_us(m, Shape::tree, Protocol::ll, bytes)};
  for (const Shape shape : {Shape::tree, Shape::ring})
    for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple})
      if (const double us = time_us(m, shape, protocol, bytes); us < best.us) best = {shape, protocol, us};
  return best;
}

}  // namespace pdsim::nccl_model
