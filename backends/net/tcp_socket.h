// TCP sockets for the store: non-blocking, with deadlines, never raising SIGPIPE.
#pragma once

#include "backends/net/receive_buffer.h"
#include "backends/os/posix.h"
#include "core/runtime/runtime.h"

#include <string>
#include <string_view>

namespace pdsim::tcp {

// Milliseconds for poll(2) until `deadline`, rounded up; -1: no deadline; 0: it has passed.
int poll_timeout(Time deadline, Time now);

// Listens on one address of `host`. io_error, with the fact `port`; the message says when the port is taken.
Result<Listener> listen_on(const std::string& host, int port);

// Takes over a socket that another process has made listen. invalid_argument if it does not listen.
Result<Listener> adopt_listener(int fd);

// Makes one attempt. io_error or timeout with the system's reason.
Result<Descriptor> connect_to(const std::string& host, int port, Time deadline, const Runtime& clock);

enum class Io : std::uint8_t { done, closed, late };
Io send_all(int fd, std::string_view bytes, Time deadline, const Runtime& clock);
// Reads until `in` holds `count` bytes; it may then hold more.
Io receive(int fd, ReceiveBuffer& in, std::size_t count, Time deadline, const Runtime& clock);

// "10.0.0.7:41234", for people; "this machine" where the socket has no address.
std::string address_of_peer(int fd);

// A peer that vanishes silently (its machine, or the network to it) ends the connection after half a minute.
void notice_lost_peer(int fd);

}  // namespace pdsim::tcp
