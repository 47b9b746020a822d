// The network: when a message that starts now arrives.
//
//   cost     latency + (bytes + header) / bandwidth, both ends busy for the transfer (full duplex, one port a rank)
//   sharing  none: messages never wait for each other; ports: one message at a time leaves, and one enters, a rank; links: a
//            node's up and down links to other nodes too
//   jitter   a sixteenth of the link's jitter, times a choice of 0..15; loss: a choice among 1,000,000
#pragma once

#include "sim/choose.h"
#include "sim/world_spec.h"

#include <optional>
#include <vector>

namespace pdsim::sim {

struct Transit {
  Time sent;     // the last byte has left the sender's port
  Time arrived;  // the last byte has arrived
};

class Network {
 public:
  explicit Network(const WorldSpec& spec);
  // `extra` is what a fault adds. nullopt: the link lost the message.
  std::optional<Transit> transmit(Rank from, Rank to, std::int64_t bytes, Time now, Time extra, Chooser& chooser);
  const Link& link(Rank from, Rank to) const;

 private:
  const WorldSpec& spec_;
  std::vector<Time> leaving_, entering_;            // when each rank's port is free
  std::vector<Time> node_leaving_, node_entering_;  // when each node's links are free
};

}  // namespace pdsim::sim
