#include "sim/world/printed_error.h"

#include <fmt/format.h>

#include <string_view>

namespace pdsim::sim {

// Both texts are of gloo/transport/tcp/pair.cc, whose receiver ends its process when a message is too long.
std::string printed_error(const LibrarySemantics& library, const Error& error) {
  if (library.on_long_message != OnLongMessage::receiver_aborts) return error.message;
  const auto of = [&error](std::string_view key) { return fact(error.facts, key); };
  if (error.code == Code::peer_closed && !of("peer").empty())
    return fmt::format("Connection closed by peer [address of rank {}]:port", of("peer"));
  if (error.code == Code::process_aborted && !of("received").empty())
    return fmt::format("op.preamble.length <= op.nbytes. {} vs {}", of("received"), of("expected"));
  return error.message;
}

}  // namespace pdsim::sim
