// THE table of functions that workers of a scenario register for RPC. Adding one: a row here, and its function of that name in
// scenarios/program/rpc_session.cpp. The checks of a file, `docs/keys.md` and the worker take names and parameters from here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace pdsim::scenarios::language {

enum class RpcType : std::uint8_t { number, integer, text, tensor, rref, duration, worker, function, list };

struct RpcParameterRow {
  std::string_view name;
  RpcType type;
};

struct RpcFunctionRow {
  std::string_view name;       // of a method: Type.name
  std::string_view signature;  // as RpcFunctions registers it
  std::string_view help;
  std::array<RpcParameterRow, 3> parameters{};
  std::size_t count = 0;

  constexpr std::span<const RpcParameterRow> takes() const { return std::span(parameters).first(count); }
};

inline constexpr std::array rpc_functions{
    RpcFunctionRow{"add", "add(a, b)", "the sum of two numbers", {{{"a", RpcType::number}, {"b", RpcType::number}}}, 2},
    RpcFunctionRow{"scale",
                   "scale(tensor, by)",
                   "every element of the tensor times a number",
                   {{{"tensor", RpcType::tensor}, {"by", RpcType::number}}},
                   2},
    RpcFunctionRow{
        "compute", "compute(time)", "occupies its server thread for this time; None", {{{"time", RpcType::duration}}}, 1},
    RpcFunctionRow{"fail", "fail(text)", "raises ValueError with this text", {{{"text", RpcType::text}}}, 1},
    RpcFunctionRow{"call",
                   "call(worker, function, arguments)",
                   "rpc_sync of a function on another worker, from inside this one; its result",
                   {{{"worker", RpcType::worker}, {"function", RpcType::function}, {"arguments", RpcType::list}}},
                   3},
    RpcFunctionRow{"fetch",
                   "fetch(rref)",
                   "to_here of the reference, from inside this function",
                   {{{"rref", RpcType::rref}}},
                   1},
    RpcFunctionRow{"keep",
                   "keep(rref)",
                   "puts the reference into a list of this worker, which is never cleared; None",
                   {{{"rref", RpcType::rref}}},
                   1},
    RpcFunctionRow{"Counter", "Counter(start)", "an object that counts", {{{"start", RpcType::integer}}}, 1},
    RpcFunctionRow{"Counter.step",
                   "Counter.step(self, by)",
                   "a method of Counter: adds to the count, and returns the new count",
                   {{{"by", RpcType::integer}}},
                   1},
    RpcFunctionRow{"parameter",
                   "parameter(tensor)",
                   "a tensor that requires a gradient, with these values",
                   {{{"tensor", RpcType::tensor}}},
                   1},
    RpcFunctionRow{"forward",
                   "forward(weight, input)",
                   "a parameter of this worker times the input, element by element",
                   {{{"weight", RpcType::rref}, {"input", RpcType::tensor}}},
                   2},
};

// The names that init_rpc may register: a type includes its methods.
inline constexpr std::array<std::string_view, 10> rpc_function_names{
    "add", "scale", "compute", "fail", "call", "fetch", "keep", "Counter", "parameter", "forward"};

constexpr const RpcFunctionRow* rpc_function_named(std::string_view name) {
  for (const RpcFunctionRow& row : rpc_functions)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace pdsim::scenarios::language
