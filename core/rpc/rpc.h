// Rpc: torch.distributed.rpc for one rank: call functions of other workers, keep values there, and refer to them.
//
//   RpcFunctions functions;
//   functions.add("add(a, b)", [](std::int64_t a, std::int64_t b) { return a + b; });
//   Rpc rpc(env, functions);                                    // env: what a world gives its rank program
//   if (Status s = rpc.init_rpc("worker0"); !s.ok()) return s;
//   const Result<RpcValue> five = rpc.rpc_sync("worker1", "add", {2, 3});
//   const Result<RRef> kept = rpc.remote("worker1", "Counter", {5});
//   const Result<RpcValue> seven = rpc.rpc_sync(*kept, "step", {2});  // a method of what it refers to
//   const Result<std::vector<RpcLeak>> left = rpc.shutdown();         // waits for all workers and all calls
//
//   worlds    the simulated one, Gloo and MPI: the messages have a communicator of their own over the world's backend
//   handlers  a registered function that takes an Rpc& gets one that calls from there: on a server thread, in the caller's
//             context of distributed autograd. They run on at most `server_threads` threads; a handler that waits keeps its
//             thread
//   errors    not_initialized, already_initialized; invalid_argument (unknown worker, a value on another worker); timeout;
//             peer_closed ("eof": the worker has ended); program_raised (an exception of the remote function, with its text);
//             wrong_data (a message that was changed on the way). Texts are PyTorch's (recorded from 1.13)
//   threads   those of the rank. The Rpc that called init_rpc must outlive everything created from it
#pragma once

#include "core/group/rank_program.h"
#include "core/nn/tensor.h"
#include "core/rpc/agent.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pdsim {

// A worker by name or by rank.
struct RpcTarget {
  std::variant<std::string, Rank> worker;
  RpcTarget(std::string name) : worker(std::move(name)) {}         // NOLINT: each is a target
  RpcTarget(std::string_view name) : worker(std::string(name)) {}  // NOLINT
  RpcTarget(const char* name) : worker(std::string(name)) {}       // NOLINT
  RpcTarget(Rank rank) : worker(rank) {}                           // NOLINT
  RpcTarget(const WorkerInfo& info) : worker(info.id) {}           // NOLINT
};

class Rpc {
 public:
  // `env` must outlive it; the functions are copied.
  Rpc(RankEnvironment& env, const RpcFunctions& functions);
  ~Rpc();  // without shutdown(): leaves alone, like a process that exits
  Rpc(const Rpc&) = delete;
  Rpc& operator=(const Rpc&) = delete;

  // Blocks until every rank has joined, within the options' timeout. Errors also: those of the rendezvous and of Backend::join; a
  // name that is not unique, is longer than 128 characters or has characters other than letters, digits and _ : -
  Status init_rpc(const std::string& name, RpcOptions options = {});
  // `timeout` of a call: zero for none, nothing for the options'.
  using Limit = std::optional<Time>;
  RpcFuture rpc_async(const RpcTarget& to, std::string_view function, RpcList arguments = {}, Limit timeout = {});
  Result<RpcValue> rpc_sync(const RpcTarget& to, std::string_view function, RpcList arguments = {}, Limit timeout = {});
  // Returns at once; a failure there is an error of to_here().
  Result<RRef> remote(const RpcTarget& to, std::string_view function, RpcList arguments = {}, Limit timeout = {});

  // Methods of the object that an RRef refers to, run by its owner: rref.rpc_sync().step(2) of PyTorch.
  RpcFuture rpc_async(const RRef& rref, std::string_view method, RpcList arguments = {}, Limit timeout = {});
  Result<RpcValue> rpc_sync(const RRef& rref, std::string_view method, RpcList arguments = {}, Limit timeout = {});
  Result<RRef> remote(const RRef& rref, std::string_view method, RpcList arguments = {}, Limit timeout = {});

  // A reference to a value of this worker.
  Result<RRef> make_rref(RpcValue value);
  // Waits until the value exists; returns a copy if it is on another worker.
  Result<RpcValue> to_here(const RRef& rref, Limit timeout = {});
  // For its owner only; waits until it exists.
  Result<RpcValue> local_value(const RRef& rref);

  Result<WorkerInfo> worker_info() const;  // its own
  Result<WorkerInfo> worker_info(std::string_view name) const;
  Result<Time> rpc_timeout() const;
  // Distributed autograd: calls through a DistributedContext's rpc() belong to its context, and so do calls of handlers for it.
  // The roots must be scalars of this worker. The context keeps the gradients, where the leaves are.
  Status backward(std::int64_t context, std::span<const nn::Tensor> roots);
  Result<Gradients> get_gradients(std::int64_t context) const;
  std::int64_t context() const { return place_.context; }  // -1: none
  FlightRecorder& recorder() const;
  // The number of this worker's next DistributedOptimizer, from 0.
  int next_optimizer();

  // Serves until every worker has called it and every call is over, then deletes the remaining references and returns them.
  // Errors also: timeout or peer_closed where a worker never does. Not graceful: leaves at once and alone; later calls to this
  // worker fail.
  Result<std::vector<RpcLeak>> shutdown(bool graceful = true, Time timeout = {});

 private:
  friend class DistributedContext;
  struct Module;
  // Where calls are made: their context, and for a handler the server thread and the record of the call that it serves.
  struct Place {
    std::int64_t context = -1;
    RpcAgent::Served served{};
  };
  Rpc(Module& module, const Place& place);
  RpcOrigin origin(std::string_view name, bool async) const {
    return {name, async, place_.served.server, place_.served.call};
  }
  RpcFuture call(const RpcTarget& to, std::string_view function, RpcList arguments, Limit timeout,
                 const RpcOrigin& origin);
  RpcFuture call(const RRef& rref, std::string_view method, RpcList arguments, Limit timeout, const RpcOrigin& origin);
  Result<RpcValue> value_here(const RRef& rref, std::string_view name);
  void note_unknown(std::int64_t context) const;
  Status check_name(const std::string& name) const;
  Result<std::vector<WorkerInfo>> meet(Store& store, const std::string& name);
  Result<RpcAgent*> agent() const;
  Result<WorkerInfo> find(const RpcTarget& to) const;
  RpcFuture failed(const Error& error) const;
  RpcFuture refused(const RpcOrigin& origin, std::string_view function, const RpcTarget& to, const Error& why) const;
  RpcFuture start(Rank to, RpcMessage message, Limit timeout, const RpcOrigin& origin);
  Result<RRef> start_remote(Rank to, RpcMessage message, Limit timeout);
  Result<RpcMessage> method_call(const RRef& rref, std::string_view method, RpcList arguments) const;

  std::unique_ptr<Module> owned_;  // null in a handler
  Module& module_;
  Place place_;
};

// A context of distributed autograd, for the object's lifetime: `with dist_autograd.context() as context_id`.
//
//   const auto context = DistributedContext::begin(rpc);
//   const Result<RpcValue> y = context->rpc().rpc_sync("worker1", "layer", {x});
//   ...                                                     // a scalar loss of y
//   PDSIM_TRY(rpc.backward(context->id(), losses));
class DistributedContext {
 public:
  // Errors: not_initialized; already_initialized inside a context. `rpc` must outlive it.
  static Result<std::unique_ptr<DistributedContext>> begin(Rpc& rpc);
  ~DistributedContext();  // leaves it, here and at every worker that it has reached
  DistributedContext(const DistributedContext&) = delete;
  DistributedContext& operator=(const DistributedContext&) = delete;
  std::int64_t id() const { return rpc_.place_.context; }
  Rpc& rpc() { return rpc_; }

 private:
  DistributedContext(Rpc::Module& module, const Rpc::Place& place) : rpc_(module, place) {}
  Rpc rpc_;
};

}  // namespace pdsim
