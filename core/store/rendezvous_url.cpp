#include "core/store/rendezvous_url.h"

#include "core/store/store_errors.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace pdsim {
namespace {

Error wrong(std::string message) { return {Code::invalid_argument, std::move(message), {}}; }

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<int> number_named(std::string_view name, std::string_view text) {
  if (const auto number = whole_number(text)) return *number;
  return wrong(fmt::format("{} is `{}`, and must be a whole number", name, shown(text)));
}

Result<int> port_of(std::string_view text, std::string_view where) {
  const auto port = whole_number(text);
  if (!port || *port < 0 || *port > 65535)
    return wrong(fmt::format("{}: the port is `{}`, and must be a number in 0..65535", where, shown(text)));
  return *port;
}

struct Url {
  std::string_view scheme, authority, path, query;
};

Result<Url> split(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || text.find('\0') != std::string_view::npos)
    return wrong(
        fmt::format("init method `{}` is not a URL; use env://, tcp://HOST:PORT or file:///PATH", shown(text, 80)));
  Url url{text.substr(0, colon), text.substr(colon + 3), {}, {}};
  if (const std::size_t mark = url.authority.find('?'); mark != std::string_view::npos) {
    url.query = url.authority.substr(mark + 1);
    url.authority = url.authority.substr(0, mark);
  }
  if (const std::size_t slash = url.authority.find('/'); slash != std::string_view::npos) {
    url.path = url.authority.substr(slash);
    url.authority = url.authority.substr(0, slash);
  }
  return url;
}

// The value of `name` in a=1&b=2.
std::optional<std::string_view> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('=')) return pair.substr(name.size() + 1);
  }
  return std::nullopt;
}

Result<std::string_view> variable(const Environment& environment, std::string_view name) {
  const auto it = environment.find(name);
  if (it != environment.end() && !it->second.empty()) return std::string_view(it->second);
  Error error = wrong(fmt::format("env:// rendezvous: the environment variable {} is expected, but not set", name));
  error.facts.push_back({"variable", std::string(name)});
  return error;
}

struct WantedNumber {
  std::string_view argument, variable, words;
};
constexpr std::array<WantedNumber, 2> wanted_numbers{
    {{"rank", "RANK", "rank"}, {"world_size", "WORLD_SIZE", "world size"}}};

Result<int> rank_or_size(const WantedNumber& name, std::optional<int> argument, const Url& url,
                         const Environment& environment) {
  const auto in_url = query_value(url.query, name.argument);
  if (argument && in_url)
    return wrong(fmt::format("the {} is given twice: as an argument and in the init method's URL", name.words));
  if (argument) return *argument;
  if (in_url) return number_named(name.argument, *in_url);
  if (url.scheme != "env") return wrong(fmt::format("{}:// rendezvous: the {} is missing", url.scheme, name.words));
  const auto text = variable(environment, name.variable);
  if (!text) return text.error();
  return number_named(name.variable, *text);
}

Status read_address(const Url& url, const Environment& environment, InitMethod& out) {
  if (url.scheme == "env") {
    const auto address = variable(environment, "MASTER_ADDR");
    if (!address) return address.error();
    const auto text = variable(environment, "MASTER_PORT");
    if (!text) return text.error();
    const auto port = port_of(*text, "env:// rendezvous: MASTER_PORT");
    if (!port) return port.error();
    out.host = *address;
    out.port = *port;
    return {};
  }
  const auto address = parse_host_port(url.authority, "tcp");
  if (!address) return address.error();
  out.host = address->host;
  out.port = address->port;
  return {};
}

Status read_path(const Url& url, InitMethod& out) {
  if (!url.authority.empty() && url.authority != "localhost")
    return wrong(
        fmt::format("file://{0}{1} names the machine `{0}`, and a store file must be on this one or on a shared "
                    "file system mounted here; an absolute path has three slashes: file:///{0}{1}",
                    shown(url.authority, 80), shown(url.path, 80)));
  if (url.path.size() < 2) return wrong("file:// rendezvous: the path is missing; write file:///PATH");
  if (url.path.ends_with('/')) return wrong(fmt::format("file:// rendezvous: `{}` is a folder, not a file", url.path));
  out.path = url.path;
  return {};
}

}  // namespace

Result<InitMethod> parse_init_method(const InitArguments& arguments, const Environment& environment) {
  const auto url = split(arguments.url);
  if (!url) return url.error();
  InitMethod method;
  if (url->scheme == "tcp")
    method.kind = InitMethod::Kind::tcp;
  else if (url->scheme == "file")
    method.kind = InitMethod::Kind::file;
  else if (url->scheme != "env")
    return wrong(
        fmt::format("no rendezvous handler for {}://; there are env://, tcp:// and file://", shown(url->scheme, 40)));
  if (method.kind == InitMethod::Kind::file) PDSIM_TRY(read_path(*url, method));
  if (method.kind == InitMethod::Kind::tcp) PDSIM_TRY(read_address(*url, environment, method));
  const auto rank = rank_or_size(wanted_numbers[0], arguments.rank, *url, environment);
  if (!rank) return rank.error();
  const auto size = rank_or_size(wanted_numbers[1], arguments.world_size, *url, environment);
  if (!size) return size.error();
  if (*size < 1) return wrong(fmt::format("the world size is {}, and must be at least 1", *size));
  if (*rank < 0 || *rank >= *size)
    return wrong(fmt::format("the rank is {}, and must be in 0..{} for a world size of {}", *rank, *size - 1, *size));
  method.rank = *rank;
  method.world_size = *size;
  if (method.kind == InitMethod::Kind::env) PDSIM_TRY(read_address(*url, environment, method));
  const auto agent = environment.find("TORCHELASTIC_USE_AGENT_STORE");
  const bool agent_serves =
      method.kind == InitMethod::Kind::env && agent != environment.end() && agent->second == "True";
  method.serves = method.kind != InitMethod::Kind::file && method.rank == 0 && !agent_serves;
  return method;
}

Result<HostPort> parse_host_port(std::string_view text, std::string_view scheme) {
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
    return wrong(fmt::format("{0}:// rendezvous: the port is missing; write {0}://HOST:PORT", scheme));
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return wrong(fmt::format("{0}:// rendezvous: the host is missing; write {0}://HOST:PORT", scheme));
  const auto port = port_of(text.substr(colon + 1), fmt::format("{}:// rendezvous", scheme));
  if (!port) return port.error();
  return HostPort{std::string(host), *port};
}

}  // namespace pdsim
