// Maps addresses to ranks: Gloo's errors contain only addresses, with their ports in the network's byte order. One end of a
// connection knows the other by its published address, the other end sees an anonymous port.
#pragma once

#include "core/base/result.h"
#include "core/base/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

class GlooPeers {
 public:
  // Adds the address that `rank` published for Gloo; ignored where it does not begin with a socket address (another Gloo).
  void add(Rank rank, std::string_view published);
  // For a group of two: the rank behind any address.
  void set_only(Rank rank) { only_ = rank; }
  // The error with the address as other programs write it, and with the rank where it is known; facts address and peer.
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
