// The protocol between TcpStore's clients and server.
//
//   hello     both sides first send 8 bytes, in every version: "PDST" and the protocol's version; a side that sees another
//             version says so and closes
//   admission then the client sends its secret, a length of 32 bits and the bytes (none: length 0), and the server one byte
//   frames    a length of 32 bits, then that many bytes, at most max_frame. A client has one request outstanding
//   request   op, timeout in picoseconds (0: none), a number, a list of texts
//   response  ok or not, a number, a list of texts: the values, or an error as code, message, key, value, key, value ...
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tcp {

constexpr std::string_view magic = "PDST";
constexpr std::uint32_t protocol_version = 2;
constexpr std::size_t hello_size = 8;
constexpr std::size_t most_before_admission = 512;  // a hello and a secret
constexpr std::size_t max_frame = std::size_t{16} << 20;
constexpr std::size_t length_size = 4;
constexpr std::size_t max_value = max_frame - 1024;      // so that every value fits into an answer
constexpr std::size_t max_texts = std::size_t{1} << 16;  // per request: the keys of a wait or check
constexpr std::size_t max_wait = std::size_t{4}
                                 << 20;  // the most that waiting requests may take, with 32 bytes for each text

// The server's answer to the secret; all but welcome end the connection.
enum class Admission : std::uint8_t { welcome, wrong_secret, full, count_ };

// wait_count waits until the counter texts[0] is at least `number`.
enum class Op : std::uint8_t {
  set,
  get,
  add,
  compare_set,
  check,
  wait,
  wait_count,
  delete_key,
  num_keys,
  append,
  count_
};

struct Request {
  Op op = Op::num_keys;
  Time timeout{};
  std::int64_t number = 0;
  std::vector<std::string> texts;
};

struct Response {
  std::int64_t number = 0;
  std::vector<std::string> texts;
};

std::string hello(std::uint32_t version = protocol_version);
// Reads the version from a hello of hello_size bytes; nullopt: the other side is not pdsim.
std::optional<std::uint32_t> hello_version(std::string_view bytes);

// The client's secret as it is sent.
std::string offer(std::string_view secret);

// Encodes whole frames, with their length.
std::string encode(const Request& request);
std::string encode(const Result<Response>& response);

// The size of the frame at the front, without its length; nullopt while the length is incomplete.
std::optional<std::size_t> frame_size(std::string_view bytes);

// Decodes a frame without its length; nullopt when it is not valid.
std::optional<Request> decode_request(std::string_view frame);
std::optional<Result<Response>> decode_response(std::string_view frame);

}  // namespace pdsim::tcp
