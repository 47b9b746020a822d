// What a simulated world is made of, as data: ranks and nodes, links, personality, faults. Scenario files map onto it.
#pragma once

#include "core/base/int_set.h"
#include "core/base/quantity.h"
#include "core/base/types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::sim {

enum class Sharing : std::uint8_t { none, ports, links };
enum class Buffering : std::uint8_t { backend, zero, unbounded };  // backend: as the personality has it

struct Link {
  Time latency{5'000'000};         // 5us
  Rate bandwidth{25'000'000'000};  // 25GB/s; 0: infinitely fast
  Time jitter{};                   // each message is late by a seeded part of this
  double loss = 0.0;               // probability that a message is lost
  Bytes header{};                  // added to every message
};

// What goes wrong: a kind, which messages or ranks, from when, for how long.
struct FaultSpec {
  std::string kind;                      // a row of the fault table (faults.h)
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
  Link intra{};            // flat worlds: the one kind of link, in both
  Link inter{};
  Sharing sharing = Sharing::ports;
  Rate reduce_bandwidth{};       // 0: combining is free
  std::string backend = "gloo";  // personality: gloo | nccl | mpi | ideal
  std::string profile = "pytorch-2.6";
  std::optional<Time> timeout;  // operation timeout; absent: the personality's
  Buffering buffering = Buffering::backend;
  bool payload = true;  // payload: real | none
  std::vector<FaultSpec> faults;
  std::uint64_t seed = 0;

  int ranks() const { return nodes * ranks_per_node; }
  int node_of(int rank) const { return rank / ranks_per_node; }
};

}  // namespace pdsim::sim
