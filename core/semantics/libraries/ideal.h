// A library without limits, which exists only in simulation.
#pragma once

#include "core/semantics/library_row.h"

namespace pdsim::libraries {

inline constexpr Library ideal{
    .semantics = {.name = "ideal",
                  .explanation = "unbounded buffering, calls pair by kind, no timeout; a closed connection is an error",
                  .timeout = Time::max(),
                  .eager_limit = Bytes{-1},
                  .pairing = Pairing::by_kind,
                  .tags = true,
                  .barrier_waits_for_earlier = false,
                  .on_timeout = OnTimeout::nothing,
                  .on_peer_end = OnPeerEnd::peers_fail,
                  .on_long_message = OnLongMessage::receiver_fails,
                  .address_exchange = AddressExchange::root_publishes,
                  .executors = 0,
                  .algorithm = "auto",
                  .tensors = {DeviceType::cpu, DeviceType::cuda},
                  .on_strided = OnStrided::copied,
                  .watchdog_silent = "nothing, ever: the ideal backend has no timeout"},
};

}  // namespace pdsim::libraries
