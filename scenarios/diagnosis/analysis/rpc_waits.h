// Where a remote call is blocked, and where the threads that it needs are blocked in turn, across workers to the end.
//
//   a call      waits for its record at the callee (core/record/rpc_details.h), for a server thread there, for whatever that
//               thread waits for inside the function, or for a server thread of its own worker to take the reply
//   a value     (to_here, local_value) waits for the call that creates it
//   end         a working thread, a worker that left or never joined, or a thread already in the chain: a circle
//   cost        linear in the records of the workers on the way
#pragma once

#include "core/base/enum_names.h"
#include "core/group/rank_program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {

enum class RpcWait : std::uint8_t {
  not_joined,     // the callee is not a worker yet
  left,           // it has shut RPC down
  ended,          // its rank has ended
  on_its_way,     // it has not received the request
  for_a_server,   // all of its server threads serve other calls
  in_function,    // a server thread runs the function, and waits in it for something else
  at_work,        // a server thread runs the function, and works
  for_the_value,  // to_here: the call that creates the value is not over
  for_own_server  // the reply has arrived, and all server threads of the caller are busy
};

struct RpcHop {
  Rank caller = 0, callee = 0;
  const Call* call = nullptr;       // at the caller
  const Call* served = nullptr;     // the same at the callee; null: not received
  RpcWait wait = RpcWait::on_its_way;
  std::vector<const Call*> busy{};  // for_a_server, for_own_server: the calls that the server threads serve
  int servers = 0;                  // that worker's number of server threads; 0: not recorded
};

struct RpcChain {
  std::vector<RpcHop> hops;
  std::optional<std::size_t> back_to;  // the hop whose thread the last one waits for: a circle
};

// Starts at a call of Layer::rpc with a peer that is open at `moment`.
RpcChain rpc_chain(const RunRecord& run, Rank rank, const Call& call, Time moment);

// The open calls that server threads of this rank serve, without those that wait for a thread; the oldest first.
std::vector<const Call*> served_at(const RankLog& log, Time moment);
// The number of its server threads; 0: not recorded.
int server_threads_of(const RankLog& log);
// Its name among the workers; "rank 3" where it has not joined.
std::string worker_name_of(const RunRecord& run, Rank rank);
// "worker1.add", "worker1's Counter.step"
std::string rpc_call_text(const RunRecord& run, const RpcHop& hop);

// "whose only server thread serves call of worker0, and waits in it for worker0, whose ...".
std::string why_of(const RunRecord& run, const RpcChain& chain);

}  // namespace pdsim::scenarios
