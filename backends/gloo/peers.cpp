#include "backends/gloo/peers.h"

#include <fmt/format.h>
#include <gloo/transport/tcp/address.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

namespace pdsim {
namespace {

constexpr std::string_view other_rank = "the other rank";

void replace(std::string& text, std::string_view what, std::string_view with) {
  if (const std::size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), with);
}

// The port as Gloo printed it: 0.5 forgets to turn its bytes round.
std::string written(const std::string& host, int port) {
  sockaddr_in one{};
  one.sin_family = AF_INET;
  one.sin_port = htons(1);
  const bool is_turned =
      !::gloo::transport::tcp::Address(reinterpret_cast<sockaddr*>(&one), sizeof one).str().ends_with(":1");
  if (is_turned) port = ntohs(static_cast<std::uint16_t>(port));
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string address_of(const sockaddr_storage& ss) {
  char host[INET6_ADDRSTRLEN] = "";
  if (ss.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(ss);
    inet_ntop(AF_INET, &in.sin_addr, host, sizeof host);
    return fmt::format("{}:{}", host, ntohs(in.sin_port));
  }
  if (ss.ss_family != AF_INET6) return {};
  const auto& in = reinterpret_cast<const sockaddr_in6&>(ss);
  inet_ntop(AF_INET6, &in.sin6_addr, host, sizeof host);
  return fmt::format("[{}]:{}", host, ntohs(in.sin6_port));
}

}  // namespace

void GlooPeers::add(Rank rank, std::string_view published) {
  sockaddr_storage ss{};
  if (published.size() < sizeof ss) return;
  std::memcpy(&ss, published.data(), sizeof ss);
  const std::string address = address_of(ss);
  if (!address.empty()) peers_.push_back({rank, ::gloo::transport::tcp::Address(ss).str(), address});
}

Error GlooPeers::name_in(Error error) const {
  const std::size_t begin = error.message.find('['), end_of_host = error.message.find("]:", begin);
  if (begin == std::string::npos || end_of_host == std::string::npos) return error;
  const std::size_t end =
      std::min(error.message.find_first_not_of("0123456789", end_of_host + 2), error.message.size());
  const std::string printed = error.message.substr(begin, end - begin);
  const auto peer = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& p) { return p.printed == printed; });
  const Rank rank = peer != peers_.end() ? peer->rank : only_;
  const std::string host = printed.substr(1, end_of_host - begin - 1);
  const std::string address =
      peer != peers_.end() ? peer->address : written(host, std::atoi(error.message.c_str() + end_of_host + 2));
  error.message.replace(begin, printed.size(), address);
  error.facts.push_back({"address", address});
  if (rank == no_rank) return error;
  replace(error.message, other_rank, fmt::format("rank {}", rank));
  error.facts.push_back({"peer", std::to_string(rank)});
  return error;
}

}  // namespace pdsim
