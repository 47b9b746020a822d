#include "backends/net/reserved_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace pdsim {
namespace {

// On IPv6 and IPv4 at once where the machine has both.
Result<Listener> reserve(int family, const sockaddr* any, socklen_t length) {
  Listener held{Descriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
  const int on = 1, off = 0;
  sockaddr_storage got{};
  socklen_t got_length = sizeof got;
  if (held.fd && family == AF_INET6) setsockopt(held.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (!held.fd || setsockopt(held.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(held.fd.get(), any, length) != 0 ||
      getsockname(held.fd.get(), reinterpret_cast<sockaddr*>(&got), &got_length) != 0)
    return system_error("cannot reserve a port");
  held.port = ntohs(family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&got)->sin6_port
                                       : reinterpret_cast<sockaddr_in*>(&got)->sin_port);
  return held;
}

}  // namespace

Result<Listener> reserve_port() {
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  auto both = reserve(AF_INET6, reinterpret_cast<const sockaddr*>(&any6), sizeof any6);
  if (both.ok()) return both;
  sockaddr_in any{};
  any.sin_family = AF_INET;
  return reserve(AF_INET, reinterpret_cast<const sockaddr*>(&any), sizeof any);
}

}  // namespace pdsim
