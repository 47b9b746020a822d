// The description of a simulated world, as data: ranks and nodes, links, library, faults. Scenario files map onto it.
#pragma once

#include "core/base/enum_names.h"
#include "core/base/int_set.h"
#include "core/base/quantity.h"
#include "core/base/types.h"
#include "core/record/fault_kinds.h"
#include "core/semantics/library.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::sim {

enum class Sharing : std::uint8_t { none, ports, links };
enum class Buffering : std::uint8_t { backend, zero, unbounded };  // backend: as the library does

}  // namespace pdsim::sim

namespace pdsim {

template <>
inline constexpr auto enum_rows<sim::Sharing> = std::to_array<EnumRow<sim::Sharing>>({
    {sim::Sharing::none, "none"},
    {sim::Sharing::ports, "ports"},
    {sim::Sharing::links, "links"},
});
template <>
inline constexpr auto enum_rows<sim::Buffering> = std::to_array<EnumRow<sim::Buffering>>({
    {sim::Buffering::backend, "backend"},
    {sim::Buffering::zero, "zero"},
    {sim::Buffering::unbounded, "unbounded"},
});

}  // namespace pdsim

namespace pdsim::sim {

struct Link {
  Time latency{5'000'000};         // 5us
  Rate bandwidth{25'000'000'000};  // 25GB/s; 0: infinitely fast
  Time jitter{};                   // each message is late by a seeded part of this
  double loss = 0.0;               // probability that a message is lost
  Bytes header{};                  // added to every message
  bool first_byte_free = false;    // its time is part of the latency, as in LogGP
  Time overhead{};                 // per message at each end; the port is busy for it
  Time tick{};                     // transfers take whole numbers of these, any rest is dropped; 0: exact
  bool operator==(const Link&) const = default;
};

// The structure between the ends of the network, which are the nodes of a world of two levels, or otherwise the ranks.
struct Topology {
  // crossbar: nothing. fat_tree: leaf switches below a spine. rail: as fat_tree, with one leaf switch for each place in a
  // node, which connects the ranks of that place in all nodes. torus: up to three dimensions.
  enum class Kind : std::uint8_t { crossbar, fat_tree, rail, torus };
  Kind kind = Kind::crossbar;
  Time hop{};                     // of the spine and the second leaf switch, and of each link of a torus but the first
  int leaf = 1;                   // fat_tree: ends below a leaf switch
  double oversubscription = 1.0;  // fat_tree, rail: bandwidth below a leaf switch for one above it
  std::array<int, 3> sides{1, 1, 1};  // torus; the end at x, y, z is x + sides[0] * (y + sides[1] * z)
};

// Ranks that differ from the others. For a rank with several of these, work factors multiply, and the lowest bandwidth
// applies.
struct Speed {
  IntSet rank = IntSet::all();
  double work = 1.0;  // computing and combining take this many times as long
  Rate bandwidth{};   // of the rank's port at most; 0: the link's
};

// A fault: its kind, the messages or ranks it strikes, its start and duration.
struct FaultSpec {
  FaultKind kind = FaultKind::delay;
  Time by{};                             // delay
  double factor = 1.0;                   // slow
  Time offset{};                         // skew
  Ppm drift{};                           // skew
  std::vector<std::vector<int>> groups;  // partition
  struct Match {
    IntSet rank = IntSet::all(), from = IntSet::all(), to = IntSet::all(), nth = IntSet::all();
    std::string op;  // collective or program operation; empty: any
  } match;
  struct At {
    std::optional<std::int64_t> step;
    std::string before;  // program operation within the step; empty: its start
    std::optional<Time> time;
    std::optional<std::int64_t> launch;
  } at;
  std::optional<Time> duration;  // `for`; absent: to the end
};

struct WorldSpec {
  int nodes = 1;
  int ranks_per_node = 2;
  bool two_level = false;  // nodes x ranks_per_node was given
  Link intra{};            // flat worlds: both are the same
  Link inter{};
  Sharing sharing = Sharing::ports;
  Topology topology{};
  int cores = 0;  // per node, shared by its ranks for their messages; 0: never scarce
  std::vector<Speed> speeds;
  Rate reduce_bandwidth{};       // 0: combining is free
  std::string backend = "gloo";  // library: gloo | nccl | mpi | ideal
  std::string profile = "pytorch-2.6";
  std::optional<Time> timeout;  // operation timeout; absent: the library's
  bool streams = false;         // programs run ahead of their devices
  NcclVariables nccl;           // of backend nccl
  Buffering buffering = Buffering::backend;
  bool payload = true;  // payload: real | none
  std::vector<FaultSpec> faults;
  std::uint64_t seed = 0;

  int ranks() const { return nodes * ranks_per_node; }
  int node_of(int rank) const { return rank / ranks_per_node; }
  // Ends of the network (see Topology).
  int ends() const { return two_level ? nodes : ranks(); }
  int end_of(int rank) const { return two_level ? node_of(rank) : rank; }
  // Messages cost only latency, bandwidth and header, and all ranks are equal.
  bool is_uniform() const {
    const auto plain = [](const Link& l) { return !l.first_byte_free && l.overhead.ps == 0 && l.tick.ps == 0; };
    return topology.kind == Topology::Kind::crossbar && cores == 0 && speeds.empty() && plain(intra) && plain(inter);
  }
  // The factor by which a rank's work takes longer than usual.
  double work_of(int rank) const {
    double work = 1.0;
    for (const Speed& speed : speeds)
      if (speed.rank.contains(rank)) work *= speed.work;
    return work;
  }
  Time stretched(Time usual, int rank) const {
    const double work = work_of(rank);
    return work == 1.0 ? usual : Time{std::llround(static_cast<double>(usual.ps) * work)};
  }
};

}  // namespace pdsim::sim
