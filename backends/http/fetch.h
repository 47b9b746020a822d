// Plain HTTP: several requests concurrently, each with limits on time and bytes. Replies are not trusted.
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
// Parses http://HOST:PORT; an IPv6 address is written in brackets, and the port defaults to 80. input_invalid for anything else.
Result<HttpAddress> http_address(std::string_view url);

struct HttpRequest {
  HttpAddress to;
  std::string target;  // /stacks
  bool is_post = false;
};

struct HttpReply {
  int status = 0;  // 0: no answer
  std::string body;
  std::string problem;  // why there is no answer
};

struct HttpLimits {
  Time each{10'000'000'000'000};  // per request, from the look-up of its name to its last byte
  std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::size_t at_once = 64;
};

// Returns one reply per request, in request order. Takes limits.each for every limits.at_once requests that do not answer.
std::vector<HttpReply> fetch_all(const std::vector<HttpRequest>& requests, const HttpLimits& limits = {});

}  // namespace pdsim
