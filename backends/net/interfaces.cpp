#include "backends/net/interfaces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ifaddrs.h>
#include <memory>
#include <sys/socket.h>

namespace pdsim {

std::vector<std::string> network_interfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, &freeifaddrs);
  std::vector<std::string> names;
  for (const ifaddrs* i = first; i != nullptr; i = i->ifa_next) {
    const int family = i->ifa_addr == nullptr ? AF_UNSPEC : i->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    if (std::find(names.begin(), names.end(), i->ifa_name) == names.end()) names.emplace_back(i->ifa_name);
  }
  return names;
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end > 0) names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

bool nccl_takes_interface(std::string_view list, std::string_view name) {
  const bool all_but = list.starts_with('^');
  if (all_but) list.remove_prefix(1);
  const bool whole = list.starts_with('=');
  if (whole) list.remove_prefix(1);
  const std::vector<std::string> names = names_in(list);
  if (names.empty()) return true;
  const bool listed =
      std::any_of(names.begin(), names.end(), [&](const auto& n) { return whole ? name == n : name.starts_with(n); });
  return listed != all_but;
}

Error no_such_interface(std::string_view variable, std::string_view wanted) {
  return {Code::unavailable,
          fmt::format("this machine has no network interface `{}`, which {} names; its interfaces with an address are "
                      "{}", wanted,
                      variable, fmt::join(network_interfaces(), ", ")),
          {{"interface", std::string(wanted)}}};
}

}  // namespace pdsim
