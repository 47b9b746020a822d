// Where a remote call stands, and where the threads that it needs wait in turn, over the workers to the end.
//
//   a call      waits for its record at the callee (core/record/rpc_details.h), for a server thread there, for what that thread waits for
//               inside of the function, or for a server thread of its own worker that takes the reply
//   a value     (to_here, local_value) waits for the call that makes it
//   end         a thread that is at work, a worker that left or never came, or a thread that the chain has met before: a circle
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
  for_a_server,   // all of its server threads serve something else
  in_function,    // a server thread is in the function, and waits in it for something else
  at_work,        // and works
  for_the_value,  // of to_here: what makes it is not over
  for_own_server  // the reply is there, and all server threads of the caller serve something
};

struct RpcHop {
  Rank caller = 0, callee = 0;
  const Call* call = nullptr;       // at the caller
  const Call* served = nullptr;     // the same at the callee; null: not received
  RpcWait wait = RpcWait::on_its_way;
  std::vector<const Call*> busy{};  // for_a_server, for_own_server: what the server threads serve
  int servers = 0;                  // and how many that worker has; 0: not recorded
};

struct RpcChain {
  std::vector<RpcHop> hops;
  std::optional<std::size_t> back_to;  // the hop whose thread the last one waits for: a circle
};

// From a call of Layer::rpc with a peer that is open at `moment`.
RpcChain rpc_chain(const RunRecord& run, Rank rank, const Call& call, Time moment);

// The open calls that server threads of this rank serve, those that wait for a thread left out; the oldest first.
std::vector<const Call*> served_at(const RankLog& log, Time moment);
// How many server threads it has; 0: not recorded.
int server_threads_of(const RankLog& log);
// Its name among the workers; "rank 3" where it has not joined.
std::string worker_name_of(const RunRecord& run, Rank rank);
// "worker1.add", "worker1's Counter.step"
std::string rpc_call_text(const RunRecord& run, const RpcHop& hop);

// "whose only server thread serves call of worker0, and waits in it for worker0, whose ...".
std::string why_of(const RunRecord& run, const RpcChain& chain);

}  // namespace pdsim::scenarios
