#include "core/rpc/call_records.h"

#include <utility>

namespace pdsim {
namespace {

std::string function_of(const RpcMessage& message) {
  if (message.kind == RpcMessageKind::fetch) return "to_here";
  if (message.kind == RpcMessageKind::gradients) return "backward";
  return message.function;
}

void set_origin(Call& call, CallDetails details, const RpcOrigin& origin) {
  call.name = std::string(origin.name);
  call.async = origin.async;
  call.parent = origin.served_call;
  details.rpc.side = RpcSide::caller;
  details.rpc.server = origin.server;
  call.details = std::move(details);
}

}  // namespace

RecordedContext recorded_context(std::int64_t context) {
  constexpr int number_bits = 48;  // DistributedAutograd::begin()
  if (context < 0) return {};
  return {static_cast<int>(context >> number_bits), context & ((std::int64_t{1} << number_bits) - 1)};
}

Call RpcRecords::call_of(const RpcMessage& message, Rank peer, Time limit) const {
  Call call;
  call.layer = Layer::rpc;
  call.peer = peer;
  CallDetails details;
  RpcDetails& rpc = details.rpc;
  rpc.function = function_of(message);
  rpc.worker = names_[static_cast<std::size_t>(peer)];
  rpc.request = message.id;
  const RecordedContext context = recorded_context(message.context);
  rpc.context_on = context.begun_on;
  rpc.context = context.number;
  const bool is_method = message.object != RpcId{} && message.kind != RpcMessageKind::fetch;
  const RpcId rref = message.kind == RpcMessageKind::fetch ? message.object : message.rref;
  rpc.rref_on = static_cast<int>(rref.created_on);
  rpc.rref = rref.local_id;
  if (is_method) {
    rpc.object_on = static_cast<int>(message.object.created_on);
    rpc.object = message.object.local_id;
  }
  rpc.timeout = limit;
  call.details = std::move(details);
  return call;
}

std::shared_ptr<const Call> RpcRecords::wait_for(const RpcMessage& message, Rank to, Time limit,
                                                 const RpcOrigin& origin) const {
  auto call = std::make_shared<Call>(call_of(message, to, limit));
  set_origin(*call, *call->details, {"wait", false, origin.server, origin.served_call});
  return call;
}

std::int64_t RpcRecords::asked(const RpcMessage& message, Rank to, Time limit, const RpcOrigin& origin) {
  Call call = call_of(message, to, limit);
  set_origin(call, *call.details, origin);
  return recorder_.begin(std::move(call));
}

std::int64_t RpcRecords::waits_here(RpcId rref, Rank self, const RpcOrigin& origin) {
  RpcMessage message;
  message.kind = RpcMessageKind::fetch;
  message.object = rref;
  Call call = call_of(message, self, {});
  set_origin(call, *call.details, origin);
  return recorder_.begin(std::move(call));
}

std::int64_t RpcRecords::received(const RpcMessage& message, Rank from) {
  Call call = call_of(message, from, {});
  call.name = "serve";
  call.site.op = "serve";  // it is not the program that runs it
  CallDetails details = *call.details;
  details.rpc.side = RpcSide::callee;
  call.details = std::move(details);
  return recorder_.begin(std::move(call));
}

void record_refused_call(FlightRecorder& recorder, const RpcOrigin& origin, std::string_view function,
                         std::string worker, const Status& why) {
  Call call;
  call.layer = Layer::rpc;
  CallDetails details;
  details.rpc.function = std::string(function);
  details.rpc.worker = std::move(worker);
  set_origin(call, std::move(details), origin);
  recorder.finish(recorder.begin(std::move(call)), why);
}

}  // namespace pdsim
