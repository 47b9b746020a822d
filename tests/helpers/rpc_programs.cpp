#include "tests/helpers/rpc_programs.h"

#include "core/base/fingerprint.h"
#include "core/nn/functional.h"
#include "core/rpc/pipeline/remote_pipeline.h"
#include "core/rpc/pipeline/shard.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <utility>

namespace pdsim {
namespace {

using namespace literals;
using nlohmann::json;
using nn::Tensor;

json nested_list(const Tensor& t, std::size_t dimension, std::int64_t& next) {
  if (dimension == t.shape().size()) return t.at(next++);
  json items = json::array();
  for (std::int64_t i = 0; i < t.shape()[dimension]; ++i) items.push_back(nested_list(t, dimension + 1, next));
  return items;
}

json in_json(const RpcValue& value) {
  if (value.is<bool>()) return value.as<bool>();
  if (value.is<std::int64_t>()) return value.as<std::int64_t>();
  if (value.is<double>()) return value.as<double>();
  if (value.is<std::string>()) return value.as<std::string>();
  if (value.is<RpcList>()) {
    json items = json::array();
    for (const RpcValue& item : value.as<RpcList>()) items.push_back(in_json(item));
    return items;
  }
  std::int64_t next = 0;
  if (value.is<Tensor>()) return nested_list(value.as<Tensor>(), 0, next);
  return nullptr;
}

class Counter final : public RpcObject {
 public:
  explicit Counter(std::int64_t start) : n_(start) {}
  std::string type() const override { return "Counter"; }
  Result<RpcValue> copy() const override { return RpcValue(n_); }
  std::int64_t step(std::int64_t by) { return n_ += by; }

 private:
  std::int64_t n_;
};

double sum_of(const Tensor& t) {
  double sum = 0;
  for (const double value : t.values()) sum += value;
  return sum;
}

template <class T>
Result<RpcValue> value_of(const Result<T>& result) {
  if (!result.ok()) return result.error();
  return RpcValue(*result);
}

class Recorder {
 public:
  explicit Recorder(RpcLog& log) : log_(log) {}
  void remark(const std::string& what) { log_.push_back({what, {}, {}, {}}); }
  void attempt(const std::string& what, const Result<RpcValue>& result) {
    if (result.ok())
      log_.push_back({what, json_of(*result), {}, {}});
    else
      log_.push_back({what, {}, exception_type(result.error()), result.error().message});
  }
  void attempt(const std::string& what, const Status& status) {
    attempt(what, status.ok() ? Result<RpcValue>(RpcValue()) : Result<RpcValue>(status.error()));
  }

 private:
  RpcLog& log_;
};

std::string worker(Rank rank) { return fmt::format("worker{}", rank); }

// One rank's part, with RPC as the recordings began it.
class RpcRank {
 public:
  RpcRank(RankEnvironment& e, RpcLog& into, Time one_second, RpcOptions options = {16, 8_s})
      : env(e),
        second(one_second),
        functions(rpc_program_functions(e, second)),
        rpc(e, functions),
        log(into),
        options_(options) {}
  Status start() { return rpc.init_rpc(worker(env.rank), options_); }
  void end() {
    if (rpc.shutdown().ok()) log.remark("shut down");
  }

  RankEnvironment& env;
  Time second;
  RpcFunctions functions;
  Rpc rpc;
  Recorder log;

 private:
  RpcOptions options_;
};

void try_calls(RpcRank& me) {
  Rpc& rpc = me.rpc;
  Recorder& log = me.log;
  log.attempt("sync", rpc.rpc_sync("worker1", "add", {2, 3}));
  log.attempt("by rank", rpc.rpc_sync(2, "who"));
  log.attempt("to self", rpc.rpc_sync("worker0", "who"));
  const auto tenfold = [](const RpcFuture& f) -> Result<RpcValue> {
    const Result<RpcValue> value = f.wait();
    if (!value.ok()) return value.error();
    return RpcValue(value->as<std::int64_t>() * 10);
  };
  log.attempt("async then", rpc.rpc_async("worker1", "add", {1, 1}).then(tenfold).wait());
  const std::array both{rpc.rpc_async("worker1", "add", {1, 1}), rpc.rpc_async("worker2", "add", {2, 2})};
  log.attempt("wait_all", value_of(wait_all(both)));
  const std::array one_fails{rpc.rpc_async("worker1", "add", {1, 1}), rpc.rpc_async("worker2", "fail", {"no luck"})};
  log.attempt("wait_all with a failure", value_of(wait_all(one_fails)));
  log.attempt("tensor", rpc.rpc_sync("worker1", "torch.add", {Tensor::from({1, 1}, {2}), 3}));
  log.attempt("nested", rpc.rpc_sync("worker1", "nested", {"worker2", 4, 5}));
  log.attempt("nested back", rpc.rpc_sync("worker1", "nested", {"worker0", 6, 7}));
  log.attempt("remote exception", rpc.rpc_sync("worker1", "fail", {"bad value 17"}));
  log.attempt("remote TypeError", rpc.rpc_sync("worker1", "add", {1}));
  log.attempt("unknown worker", rpc.rpc_sync("worker9", "who"));
  log.attempt("unknown rank", rpc.rpc_sync(7, "who"));
  log.attempt("timeout", rpc.rpc_sync("worker1", "slow", {3}, me.second));
  log.attempt("info", RpcValue(RpcList{rpc.worker_info("worker2")->id, rpc.worker_info()->name}));
  log.attempt("unknown info", rpc.worker_info("worker9").status());
  log.attempt("default timeout", RpcValue(rpc.rpc_timeout()->seconds()));
}

Status calls(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  PDSIM_TRY(me.start());
  if (env.rank == 0) try_calls(me);
  me.end();
  me.log.attempt("after shutdown", me.rpc.rpc_sync("worker1", "who"));
  return {};
}

void try_rrefs(RpcRank& me) {
  Rpc& rpc = me.rpc;
  Recorder& log = me.log;
  const RRef c = *rpc.remote("worker1", "Counter", {5});
  log.attempt("owner", RpcValue(c.owner_name()));
  log.attempt("is_owner", RpcValue(c.is_owner()));
  log.attempt("method sync", rpc.rpc_sync(c, "step", {2}));
  log.attempt("method async", rpc.rpc_async(c, "step", {1}).wait());
  log.attempt("method remote", rpc.to_here(*rpc.remote(c, "step", {10})));
  log.attempt("method fails", rpc.rpc_sync(c, "boom"));
  log.attempt("no such method", rpc.rpc_sync(c, "nothing"));
  log.attempt("local_value at user", rpc.local_value(c));
  log.attempt("to_here of an object", rpc.to_here(c));
  log.attempt("confirmed", RpcValue(c.confirmed_by_owner()));
  const RRef t = *rpc.remote("worker1", "ones", {2, 2});
  log.attempt("to_here", rpc.to_here(t));
  log.attempt("fork to a third", rpc.rpc_sync("worker2", "here_sum", {t}));
  log.attempt("back to its owner", rpc.rpc_sync("worker1", "local_sum", {t}));
  const RRef own = *rpc.make_rref(Tensor::from({0, 1, 2}, {3}));
  log.attempt("own: is_owner", RpcValue(own.is_owner()));
  log.attempt("own: local_value", rpc.local_value(own));
  log.attempt("own to a third", rpc.rpc_sync("worker2", "here_sum", {own}));
  const RRef e = *rpc.remote("worker1", "fail", {"in construction"});
  log.attempt("to_here of a failure", rpc.to_here(e));
  const RRef s = *rpc.remote("worker1", "slow", {3});
  log.attempt("to_here timeout", rpc.to_here(s, me.second));
  log.attempt("to_here later", rpc.to_here(s));
}

Status rrefs(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  PDSIM_TRY(me.start());
  if (env.rank == 0) try_rrefs(me);
  me.end();
  return {};
}

Status one_server_thread(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second, {1, 8_s});
  PDSIM_TRY(me.start());
  if (env.rank == 0) {
    me.log.attempt("nested back to the caller's only thread", me.rpc.rpc_sync("worker1", "nested", {"worker0", 1, 2}));
    me.log.attempt("nested to itself", me.rpc.rpc_sync("worker1", "nested", {"worker1", 1, 2}, 4_s));
  }
  me.end();
  return {};
}

Status to_here_in_server(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second, {1, 8_s});
  PDSIM_TRY(me.start());
  if (env.rank == 0) {
    const RRef s = *me.rpc.remote("worker1", "slow", {1});
    me.log.attempt("to_here inside the owner's only thread", me.rpc.rpc_sync("worker1", "here_len", {s}, 5_s));
  }
  me.end();
  return {};
}

Status not_graceful(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  PDSIM_TRY(me.start());
  if (env.rank == 1) {
    (void)me.rpc.shutdown(false);
    me.log.remark("gone");
    return {};
  }
  env.runtime.sleep_until(env.runtime.now() + second + Time{second.ps / 2});
  me.log.attempt("call to who shut down", me.rpc.rpc_sync("worker1", "who", {}, 3_s));
  me.log.attempt("shutdown", me.rpc.shutdown(false).status());
  return {};
}

// Rank 1 is to be killed by the world, after one second.
Status callee_killed(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second, {16, 5_s});
  PDSIM_TRY(me.start());
  if (env.rank == 0) {
    me.log.attempt("call into a dying worker", me.rpc.rpc_sync("worker1", "slow", {3}));
    me.log.attempt("call to a dead worker", me.rpc.rpc_sync("worker1", "who"));
  }
  me.log.attempt("shutdown", me.rpc.shutdown(true, 4_s).status());
  return {};
}

Status shutdown_by_some(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  PDSIM_TRY(me.start());
  if (env.rank == 2) {
    me.log.remark("busy");
    env.runtime.sleep_until(env.runtime.now() + second * 60);  // the recording ends before that
    return {};
  }
  me.log.attempt("graceful shutdown without worker2", me.rpc.shutdown(true, 4_s).status());
  return {};
}

Status same_name(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  me.log.attempt("init", me.rpc.init_rpc("twin"));
  me.log.remark("done");
  return {};
}

Status init_twice(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  PDSIM_TRY(me.start());
  me.log.attempt("second init", me.start());
  me.log.attempt("shutdown", me.rpc.shutdown().status());
  return {};
}

Status before_init(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  me.log.attempt("call", me.rpc.rpc_sync("worker0", "who"));
  me.log.attempt("rref", me.rpc.make_rref(1).status());
  me.log.attempt("context", DistributedContext::begin(me.rpc).status());
  me.log.attempt("shutdown", me.rpc.shutdown().status());
  return {};
}

Status leaked_rref(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  PDSIM_TRY(me.start());
  RRef kept;
  if (env.rank == 0) {
    kept = *me.rpc.remote("worker1", "vector_of_ones", {2});
    me.log.attempt("made", me.rpc.to_here(kept));
  }
  me.log.attempt("shutdown with a live user", me.rpc.shutdown().status());
  if (env.rank == 0) me.log.attempt("to_here after shutdown", me.rpc.to_here(kept));
  return {};
}

// A convolutional net of eight rows of images of 2 x 4 x 4, in two or three shards.
nn::ModuleSpec net_in_shards() {
  using nn::LayerKind;
  nn::LayerSpec conv{"conv", LayerKind::conv2d, 32, 48};
  conv.channels = 2;
  conv.height = conv.width = 4;
  conv.filters = conv.kernel = 3;
  conv.padding = 1;
  return {{conv, {"relu1", LayerKind::relu}, {"hidden", LayerKind::linear, 48, 6}, {"relu2", LayerKind::relu}, {"last", LayerKind::linear, 6, 4}},
          {{"0", {"conv", "relu1"}}, {"1", {"hidden", "relu2", "last"}}, {"2", {"hidden", "relu2"}}, {"3", {"last"}}},
          DType::f64};
}

struct OwnedShard {
  nn::Module module;
  PipelineShard shard;
  OwnedShard(Runtime& runtime, const std::string& path)
      : module(net_in_shards(), Random(3)), shard(runtime, module, module.path_named(path)->layers) {}
};

Tensor wave(std::int64_t rows, std::int64_t columns, double phase) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * columns; ++i) values.push_back(std::sin(0.37 * static_cast<double>(i) + phase));
  return Tensor::from(values, {rows, columns}, DType::f64);
}

// Micro-batches end in any order in a real world, and so gradients add up in any.
double rounded(double value) { return std::round(value * 1e9) / 1e9; }

Status train_shards(RpcRank& me, std::int64_t splits, const std::vector<std::string>& workers,
                    const std::vector<std::int64_t>& paths) {
  const Result<RemotePipeline> pipeline = RemotePipeline::make(me.rpc, workers, paths);
  if (!pipeline.ok()) return pipeline.error();
  const Result<std::vector<RRef>> parameters = pipeline->parameter_rrefs(me.rpc);
  if (!parameters.ok()) return parameters.error();
  auto optimizer = DistributedOptimizer::make(me.rpc, {nn::OptimizerSpec::Kind::sgd, 0.05, 0.9}, *parameters);
  if (!optimizer.ok()) return optimizer.error();
  for (int step = 0; step < 3; ++step) {
    const auto loss_of = [&](const Tensor& output) { return nn::mse_loss(output, wave(8, 4, 1.0 + step)); };
    const Result<Tensor> loss = pipeline->step(me.rpc, *optimizer, wave(8, 32, step), 8 / splits, loss_of);
    if (!loss.ok()) return loss.status();
    me.log.attempt(fmt::format("{} shards, {} micro-batches, loss {}", workers.size(), splits, step),
                   RpcValue(rounded(loss->at(0))));
  }
  for (const RRef& parameter : *parameters) {
    const Result<RpcValue> value = me.rpc.to_here(parameter);
    if (!value.ok()) return value.status();
    RpcList numbers;
    for (const double x : value->as<Tensor>().values()) numbers.emplace_back(rounded(x));
    me.log.attempt("parameter", RpcValue(numbers));
  }
  return {};
}

Status shards(RankEnvironment& env, RpcLog& log, Time second) {
  RpcRank me(env, log, second);
  PDSIM_TRY(me.start());
  if (env.rank == 0) {
    for (const std::int64_t splits : {1, 2, 4}) PDSIM_TRY(train_shards(me, splits, {"worker1", "worker2"}, {0, 1}));
    PDSIM_TRY(train_shards(me, 2, {"worker1", "worker2", "worker3"}, {0, 2, 3}));
    // 8 rows in micro-batches of 8 // 3
    PDSIM_TRY(train_shards(me, 3, {"worker3", "worker3"}, {0, 1}));
  }
  me.end();
  return {};
}

Result<RpcValue> ones(const RpcList& shape) {
  nn::Shape sizes;
  double count = 1;
  for (const RpcValue& size : shape) {
    sizes.push_back(size.as<std::int64_t>());
    count *= static_cast<double>(sizes.back());
  }
  return RpcValue(Tensor::from(std::vector<double>(static_cast<std::size_t>(count), 1.0), sizes));
}

void add_calls(RpcFunctions& functions, RankEnvironment& env, Time second) {
  functions.add("add(a, b)", [](std::int64_t a, std::int64_t b) { return a + b; });
  functions.add("torch.add(input, other)", [](const Tensor& a, double b) {
    std::vector<double> values = a.values();
    for (double& value : values) value += b;
    return Tensor::from(values, a.shape());
  });
  functions.add("fail(text)",
                [](const std::string& text) -> Result<RpcValue> { return rpc_exception("ValueError", text); });
  functions.add("slow(s)", [&env, second](std::int64_t s) {
    env.runtime.sleep_until(env.runtime.now() + second * s);
    return std::string("woke");
  });
  functions.add("who()", [](Rpc& rpc) { return rpc.worker_info()->name; });
  functions.add("nested(to, a, b)", [](Rpc& rpc, const std::string& to, std::int64_t a, std::int64_t b) {
    return rpc.rpc_sync(to, "add", {a, b});
  });
}

}  // namespace

std::vector<double> digests_of(const RpcLog& log) {
  std::vector<double> digests;
  for (const RpcLogEntry& entry : log) {
    const std::string message = entry.message.starts_with("eof") ? "eof" : entry.message;
    const std::uint64_t hash = digest(fmt::format("{}|{}|{}|{}", entry.what, entry.value, entry.error, message));
    digests.push_back(static_cast<double>(hash >> 32));
  }
  return digests;
}

std::string json_of(const RpcValue& value) { return in_json(value).dump(); }

RpcFunctions rpc_program_functions(RankEnvironment& env, Time second) {
  RpcFunctions functions;
  add_calls(functions, env, second);
  functions.add("ones(n, m)", [](std::int64_t n, std::int64_t m) { return ones({n, m}); });
  functions.add("vector_of_ones(n)", [](std::int64_t n) { return ones({n}); });
  functions.add("here_sum(r)", [](Rpc& rpc, const RRef& r) -> Result<RpcValue> {
    const Result<RpcValue> value = rpc.to_here(r);
    if (!value.ok()) return value.error();
    return RpcValue(sum_of(value->as<Tensor>()));
  });
  functions.add("local_sum(r)", [](Rpc& rpc, const RRef& r) -> Result<RpcValue> {
    const Result<RpcValue> value = rpc.local_value(r);
    if (!value.ok()) return value.error();
    return RpcValue(sum_of(value->as<Tensor>()));
  });
  functions.add("here_len(r)", [](Rpc& rpc, const RRef& r) -> Result<RpcValue> {
    const Result<RpcValue> value = rpc.to_here(r);
    if (!value.ok()) return value.error();
    return RpcValue(value->as<std::string>().size());
  });
  add_shard_functions(functions, [&env](std::int64_t path) -> Result<std::shared_ptr<PipelineShard>> {
    const auto owned = std::make_shared<OwnedShard>(env.runtime, std::to_string(path));
    return std::shared_ptr<PipelineShard>(owned, &owned->shard);
  });
  functions.add("Counter(start)", [](std::int64_t start) { return std::make_shared<Counter>(start); });
  functions.add("Counter.step(self, by)", [](Counter& self, std::int64_t by) { return self.step(by); });
  functions.add("Counter.boom(self)",
                [](Counter&) -> Status { return rpc_exception("RuntimeError", "counter is broken"); });
  return functions;
}

std::vector<RpcProgram> rpc_programs() {
  return {{"calls", 3, calls},
          {"rrefs", 3, rrefs},
          {"one_server_thread", 2, one_server_thread},
          {"to_here_in_server", 2, to_here_in_server},
          {"not_graceful", 2, not_graceful},
          {"callee_killed", 2, callee_killed},
          {"shutdown_by_some", 3, shutdown_by_some},
          {"same_name", 2, same_name},
          {"init_twice", 2, init_twice},
          {"before_init", 1, before_init},
          {"leaked_rref", 3, leaked_rref},
          {"shards", 4, shards}};
}

const RpcProgram* rpc_program(std::string_view name) {
  static const std::vector<RpcProgram> programs = rpc_programs();
  for (const RpcProgram& program : programs)
    if (program.name == name) return &program;
  return nullptr;
}

}  // namespace pdsim
