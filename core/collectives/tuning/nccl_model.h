// NCCL's own estimate of the time of an all-reduce, by algorithm and protocol, and hence the one it chooses.
//
//   time      latency + bytes / bandwidth, with the latencies of its table: a base, then one hop per step, the steps
//             that cross nodes at the network's latency
//   width     the bandwidth of one rank's links; the default is eight GPUs on NVLink and a 50 GB/s network per GPU
//   source    NCCL, src/graph/tuning.cc
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pdsim::nccl_model {

enum class Shape : std::uint8_t { tree, ring };
enum class Protocol : std::uint8_t { ll, ll128, simple };
enum class Link : std::uint8_t { nvlink, pci };

struct Machine {
  int nodes = 1;
  int ranks_per_node = 8;
  Link link = Link::nvlink;
  double inside_GBps = 360;  // of a rank, within its node
  double across_GBps = 48;   // of a rank, between nodes
};

double latency_us(const Machine& machine, Shape shape, Protocol protocol);
double bandwidth_GBps(const Machine& machine, Shape shape, Protocol protocol, std::int64_t bytes);
double time_us(const Machine& machine, Shape shape, Protocol protocol, std::int64_t bytes);

struct Choice {
  Shape shape = Shape::ring;
  Protocol protocol = Protocol::simple;
  double us = 0;
};
// Returns the choice with the least time; of equal ones, the first in the order tree, ring and LL, LL128, Simple.
Choice choose(const Machine& machine, std::int64_t bytes);

}  // namespace pdsim::nccl_model
