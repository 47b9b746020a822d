// Init methods as URLs (env://, tcp://host:port, file:///path) with PyTorch's rules; reads no environment itself.
//
//   rank, world size   arguments, else the URL's ?rank=0&world_size=2 (giving both is an error), else, for env:// only,
//   rank, world size   arguments, else the URL's ?rank=0&world_size=2 (giving both is an error), else, for env:// only,
//   env://             MASTER_ADDR and MASTER_PORT from the environment; an empty variable counts as missing, and the
//                      first missing one is named. TORCHELASTIC_USE_AGENT_STORE=True: rank 0 serves no store
//   file://            the path must be absolute and on this machine: file:///tmp/x or file://localhost/tmp/x, never
//                      file://tmp/x, which PyTorch silently reads as /x
//   errors             invalid_argument
#pragma once

#include "core/base/result.h"
#include "core/base/types.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pdsim {

struct InitMethod {
  enum class Kind : std::uint8_t { env, tcp, file };
  Kind kind = Kind::env;
  std::string host;  // env, tcp
  int port = 0;      // env, tcp; 0: the server chooses
  std::string path;  // file
  Rank rank = 0;
  int world_size = 1;
  bool serves = false;  // env, tcp: this rank's process holds the store's server
};

using Environment = std::map<std::string, std::string, std::less<>>;

struct InitArguments {
  std::string_view url = "env://";
  std::optional<int> rank;
  std::optional<int> world_size;
};

Result<InitMethod> parse_init_method(const InitArguments& arguments, const Environment& environment);

struct HostPort {
  std::string host;
  int port = 0;
};
// "host:port", "[::1]:port"; `scheme` is for messages.
Result<HostPort> parse_host_port(std::string_view text, std::string_view scheme);

}  // namespace pdsim
