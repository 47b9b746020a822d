// The network: when a message that starts now arrives.
//
//   cost     overhead + latency + (bytes + header) / bandwidth + overhead, both ends busy for overhead and transfer (full duplex,
//            one port a rank)
//   sharing  none: messages never wait for each other; ports: one message at a time leaves, and one enters, a rank; links: a
//            node's up and down links to other nodes too, and the links of the topology
//   cores    where a node has a limited number: a message keeps one of the sender's node busy for as long as the sender's port, and
//            one of the receiver's node as long as the receiver's; of several the one with the earliest gap
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

// When a link is busy.
class Reservations {
 public:
  // The beginning of the first gap of `duration` from `ready` on, which is then taken. `now` never goes back.
  Time take(Time ready, Time duration, Time now);
  // The beginning of that gap, which stays free.
  Time gap(Time ready, Time duration) const;

 private:
  struct Busy {
    Time from, until;
  };
  Time take_among_many(Time ready, Time duration, Time now);

  Busy one_{};                              // for most: nothing after it
  std::unique_ptr<std::vector<Busy>> all_;  // in order, with gaps between them; null when there is at most one
};

class Network {
 public:
  explicit Network(const WorldSpec& spec);
  // `extra` is what a fault adds. nullopt: the link lost the message.
  std::optional<Transit> transmit(Rank from, Rank to, std::int64_t bytes, Time now, Time extra, Chooser& chooser);
  const Link& link(Rank from, Rank to) const;
  // How long the ports of both ends are busy with so many bytes, overheads aside.
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
  // The rank's node has a core busy for so long: the first that has time from `ready` on. Gives when it begins.
  Time take_core(Rank rank, Time ready, Time busy, Time now);

  const WorldSpec& spec_;
  Routes routes_;
  std::vector<Rate> ports_;                         // by rank, where ranks differ in speed; 0: the link's
  std::vector<Time> leaving_, entering_;            // when each rank's port is free
  std::vector<Time> node_leaving_, node_entering_;  // when each node's links are free
  std::vector<Reservations> cores_;                 // of each node, one after another
  std::vector<Reservations> links_;                 // of the topology
  std::vector<Route> known_routes_;                 // by sender: its last one
  std::vector<Rate> link_rates_;                    // of the topology
  // Where all ports are equal: durations of transfers, within a node and between nodes, each in the place of its size.
  mutable std::array<std::array<Known, 2>, known_sizes> known_{};
};

}  // namespace pdsim::sim
