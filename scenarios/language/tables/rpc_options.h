// The options of the operations of RPC, as a loaded program has them. A member initialiser is the default of its key; the keys
// are in scenarios/program/operations.
#pragma once

#include "core/base/quantity.h"
#include "scenarios/text/located.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {

// A value as a file writes it, for a remote function.
struct RpcArgument {
  enum class Kind : std::uint8_t { none, boolean, integer, decimal, text, rref, tensor, list };
  Kind kind = Kind::none;
  bool boolean = false;
  std::int64_t integer = 0;
  double decimal = 0;
  std::string text;  // or the label of the operation that created the RRef
  std::vector<double> tensor;
  std::vector<RpcArgument> items;
  Mark mark{};
};

// Stands for the rank in the name of a worker.
inline constexpr std::string_view rank_in_name = "{rank}";

struct InitRpcOptions {
  std::string name = "worker{rank}";
  std::int64_t num_worker_threads = 16;
  Time rpc_timeout{60'000'000'000'000};
  std::vector<std::string> functions;  // registered by the worker; empty: all
};
// Options of rpc_sync, rpc_async and remote: a function of a worker, or a method of a reference's value.
struct RpcCallOptions {
  std::string to;
  std::string rref;
  std::string function;
  std::vector<RpcArgument> args;
  std::optional<Time> timeout;
  std::optional<Located<std::string>> returns;
};
// Options of to_here, local_value and delete_rref.
struct RRefOptions {
  std::string of;
  std::optional<Time> timeout;
  std::optional<Located<std::string>> returns;
};
struct RpcShutdownOptions {
  bool graceful = true;
  Time timeout{};
};

}  // namespace pdsim::scenarios
