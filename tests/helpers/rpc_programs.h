// Rank programs over RPC, as those that were recorded from PyTorch (tests/oracle/rpc_1_13.json), by the same names, and `shards`, which
// trains a net in two and three shards; they run in every world. What a rank sees goes into a log, an entry per attempt, written as the recordings are.
#pragma once

#include "core/rpc/rpc.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

struct RpcLogEntry {
  std::string what;   // of an attempt, or a remark alone
  std::string value;  // in JSON
  std::string error, message;
  bool operator==(const RpcLogEntry&) const = default;
};
using RpcLog = std::vector<RpcLogEntry>;

struct RpcProgram {
  std::string_view name;
  int ranks = 0;
  // `second`: of the recorded programs' sleeps, and of the limits that they run into.
  Status (*run)(RankEnvironment& env, RpcLog& log, Time second) = nullptr;
};

std::vector<RpcProgram> rpc_programs();
const RpcProgram* rpc_program(std::string_view name);  // null: none of that name
// What the programs register, by the recordings' names; `env` outlives it.
RpcFunctions rpc_program_functions(RankEnvironment& env, Time second);
std::string json_of(const RpcValue& value);
// A number per entry, the same where the entries are; what follows "eof" in a message is left out.
std::vector<double> digests_of(const RpcLog& log);

}  // namespace pdsim
