// Which rank an address belongs to: Gloo's errors name addresses only, with their ports in the network's byte order. Of the two ends
// of a connection one knows the other by the address that it has published, and the other end by a port of no name.
#pragma once

#include "core/base/result.h"
#include "core/base/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

class GlooPeers {
 public:
  // What `rank` has published of itself for Gloo; left out where it does not begin with a socket address (another Gloo).
  void add(Rank rank, std::string_view published);
  // Of a group of two: who is meant by any address.
  void set_only(Rank rank) { only_ = rank; }
  // The error with the address as other programs write it, and with the rank where that is known; facts address and peer.
  Error name_in(Error error) const;
  Status name_in(Status status) const { return status.ok() ? status : Status(name_in(status.error())); }

 private:
  struct Peer {
    Rank rank;
    std::string printed;  // by Gloo
    std::string address;  // host:port
  };
  std::vector<Peer> peers_;
  Rank only_ = no_rank;
};

}  // namespace pdsim
