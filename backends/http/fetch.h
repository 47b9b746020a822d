// Plain HTTP: several requests at once, each within a limit of time and of bytes. What answers is not trusted.
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

struct HttpAddress {
  std::string host, port;
};
// Of http://HOST:PORT, also with an address of IPv6 in brackets; the port is 80 when there is none. input_invalid for anything else.
Result<HttpAddress> http_address(std::string_view url);

struct HttpRequest {
  HttpAddress to;
  std::string target;  // /stacks
  bool is_post = false;
};

struct HttpReply {
  int status = 0;  // 0: no answer
  std::string body;
  std::string problem;  // why there is none
};

struct HttpLimits {
  Time each{10'000'000'000'000};  // of a request, from its name's look-up to its last byte
  std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::size_t at_once = 64;
};

// One reply per request, in their order. Takes limits.each for every limits.at_once requests that do not answer.
std::vector<HttpReply> fetch_all(const std::vector<HttpRequest>& requests, const HttpLimits& limits = {});

}  // namespace pdsim
