// RpcAgent: one worker: its requests and their futures, the calls it serves, its references, and how all of them end.
//
//   order      messages of one pair arrive in order; the calls they request run on server threads, so they end in any order
//   limits     a request is over after its timeout, whatever happens to it at the callee, which continues
//   servers    take both requests and replies, as PyTorch's do: where all of them wait for replies, no reply is taken
//   threads    those of one rank (core/runtime/runtime.h)
#pragma once

#include "core/rpc/autograd/distributed.h"
#include "core/rpc/call_records.h"
#include "core/rpc/channel.h"
#include "core/rpc/functions.h"
#include "core/rpc/future.h"
#include "core/rpc/message.h"
#include "core/rpc/rref_table.h"
#include "core/rpc/server_pool.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pdsim {

struct WorkerInfo {
  std::string name;
  Rank id = no_rank;
};
std::string to_string(const WorkerInfo& worker);  // "WorkerInfo(id=1, name=worker1)"

struct RpcOptions {
  int server_threads = 16;
  Time timeout = Time{60'000'000'000'000};  // for a call that names none; zero: none
};

class RpcAgent {
 public:
  // Where a call is served: the server thread, and the record of the call.
  struct Served {
    int server = -1;
    std::int64_t call = -1;
  };
  // Runs a function of this worker for another one; `context` as in RpcMessage.
  using Serve = std::function<Result<RpcValue>(const RpcFunction&, Served, const RpcMessage&, const RpcList& arguments)>;

  RpcAgent(RankEnvironment& env, const RpcFunctions& functions, std::vector<WorkerInfo> workers, RpcOptions options,
           std::unique_ptr<RpcChannel> channel, Serve serve);
  ~RpcAgent();  // like leave()
  RpcAgent(const RpcAgent&) = delete;
  RpcAgent& operator=(const RpcAgent&) = delete;

  const WorkerInfo& self() const { return workers_[static_cast<std::size_t>(rank_)]; }
  const RpcOptions& options() const { return options_; }
  // Finds a worker by name. Error: invalid_argument, in PyTorch's words.
  Result<WorkerInfo> find(std::string_view name) const;
  Result<WorkerInfo> find(Rank id) const;
  RRefTable& rrefs() { return *rrefs_; }
  DistributedAutograd& autograd() { return autograd_; }
  Runtime& runtime() { return runtime_; }
  const ServerPool& servers() const { return servers_; }
  RpcRecords& records() { return records_; }

  // Sends the message; the future is its reply. `timeout` zero: no limit; nothing: the options'.
  RpcFuture request(Rank to, RpcMessage message, std::optional<Time> timeout, const RpcOrigin& origin);
  void send(Rank to, const RpcMessage& message);
  RpcFuture finished(Result<RpcValue> result);

  // Graceful: waits until every worker has called it and every call is over. Errors: timeout, or peer_closed where one never
  // does; RPC is over then too. Remaining references are deleted and returned.
  Result<std::vector<RpcLeak>> shutdown(Time timeout);
  // Leaves at once, and alone: peers are told, waiting calls are cancelled.
  void leave();

 private:
  struct Pending {
    RpcFuture future;
    Rank to = no_rank;
    bool is_fetch = false;
    std::int64_t call = -1;  // its record
  };
  Status try_send(Rank to, const RpcMessage& message);
  void take(Rank from, const std::string& bytes);
  void dispatch(Rank from, RpcMessage message);
  void fetch(Rank from, const RpcMessage& message);
  void serve_gradients(Rank from, const RpcMessage& message, Served where);
  void serve(Rank from, const RpcMessage& message, Served where);
  Result<RpcValue> run(Rank from, const RpcMessage& message, Served where);
  Result<RpcValue> run_method(Rank from, const RpcMessage& message, Served where);
  Result<RpcValue> object_of(const RpcMessage& message, Served where);
  Error without_function(Rank from, const RpcMessage& message, const std::string& name, Served where);
  void reply(Rank to, const RpcMessage& request, const Result<RpcValue>& result);
  void answer(const RpcMessage& reply);
  void closed(Rank peer, const Error& why);
  // Every call to the peer that is under way ends with this error, and so do later ones.
  void give_up(Rank peer, const Error& error);
  Error expired(Time timeout) const;
  Error raised(const Error& error) const;
  void changed();
  template <class Condition>
  bool wait_until(Condition condition, Time deadline);
  Status meet(std::int64_t phase, Time timeout);
  Status lead(std::int64_t phase, Time timeout);
  Error followers_missing(std::int64_t phase, Time timeout) const;
  Rank leader() const;
  void stop(bool says_bye);

  Rank rank_;
  Runtime& runtime_;
  const RpcFunctions& functions_;
  std::vector<WorkerInfo> workers_;
  RpcRecords records_;
  RpcOptions options_;
  Serve serve_;
  std::int64_t next_request_ = 0;
  bool over_ = false;
  std::map<std::int64_t, Pending> pending_;
  std::map<Rank, Error> closed_;                    // peers with a closed connection, and why it closed
  std::map<std::int64_t, std::set<Rank>> arrived_;  // by phase of a shutdown, at the leader
  std::set<std::int64_t> proceeded_;                // phases that the leader has released
  std::shared_ptr<Event> changed_;
  std::shared_ptr<RRefTable> rrefs_;
  DistributedAutograd autograd_;
  std::unique_ptr<RpcChannel> channel_;
  ServerPool servers_;
};

}  // namespace pdsim
