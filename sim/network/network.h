// The network: computes when a message that starts now arrives.
//
//   cost     overhead + latency + (bytes + header) / bandwidth + overhead, both ends busy for overhead and transfer (full duplex,
//            one port a rank)
//   sharing  none: messages never wait for each other; ports: one message at a time leaves, and one enters, a rank; links: a
//            node's up and down links to other nodes too, and the links of the topology
//   cores    where a node has a limited number: a message keeps one core of the sender's node busy for as long as the sender's
//            port, and one of the receiver's node as long as the receiver's; of several, the one with the earliest gap
//   links of a topology  serve messages in the order in which they were sent, each in the first gap that is long enough;
//            their switches buffer without limit, so a message that waits for a link keeps no port busy
//   jitter   a sixteenth of the link's jitter, times a choice of 0..15; loss: a choice among 1,000,000
#pragma once

#include "sim/kernel/choose.h"
#include "sim/network/routes.h"
#include "sim/world_spec.h"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace pdsim::sim {

struct Transit {
  Time sent;     // the last byte has left the sender's port
  Time arrived;  // the last byte has arrived
};

// The busy intervals of a link.
class Reservations {
 public:
  // Takes the first gap of `duration` at or after `ready`, and returns its start. `now` never decreases.
  Time take(Time ready, Time duration, Time now);
  // Returns the start of that gap without taking it.
  Time gap(Time ready, Time duration) const;

 private:
  struct Busy {
    Time from, until;
  };
  Time take_among_many(Time ready, Time duration, Time now);

  Busy one_{};                              // usually the only one
  std::unique_ptr<std::vector<Busy>> all_;  // in order, with gaps between them; null when there is at most one
};

class Network {
 public:
  explicit Network(const WorldSpec& spec);
  // `extra` is the delay added by a fault. nullopt: the link lost the message.
  std::optional<Transit> transmit(Rank from, Rank to, std::int64_t bytes, Time now, Time extra, Chooser& chooser);
  const Link& link(Rank from, Rank to) const;
  // The time for which a transfer of this size keeps the ports of both ends busy, without overheads.
  Time transfer(Rank from, Rank to, std::int64_t bytes) const;

 private:
  struct Passage {
    Rank from, to;
    std::int64_t bytes;  // header included
    Time start, duration, late;
    bool lost;
  };
  struct Known {
    std::int64_t bytes = -1;
    Time duration{};
  };
  static constexpr std::size_t known_sizes = 32;
  Transit along_route(const Passage& p, Time now);
  const Route& route(Rank from, Rank to);
  // Keeps a core of the rank's node busy for that long: the first one that is free at or after `ready`. Returns the start.
  Time take_core(Rank rank, Time ready, Time busy, Time now);

  const WorldSpec& spec_;
  Routes routes_;
  std::vector<Rate> ports_;                         // by rank, where ranks differ in speed; 0: the link's
  std::vector<Time> leaving_, entering_;            // when each rank's port becomes free
  std::vector<Time> node_leaving_, node_entering_;  // when each node's links become free
  std::vector<Reservations> cores_;                 // of each node, one after another
  std::vector<Reservations> links_;                 // of the topology
  std::vector<Route> known_routes_;                 // by sender: the last one used
  std::vector<Rate> link_rates_;                    // of the topology
  // Where all ports are equal: cached durations of transfers, within a node and between nodes, indexed by size.
  mutable std::array<std::array<Known, 2>, known_sizes> known_{};
};

}  // namespace pdsim::sim
