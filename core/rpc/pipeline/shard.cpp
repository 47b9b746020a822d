#include "core/rpc/pipeline/shard.h"

#include <algorithm>
#include <utility>

namespace pdsim {

PipelineShard::PipelineShard(Runtime& runtime, nn::Module& module, std::vector<std::string> layers,
                             std::shared_ptr<DeviceTurns> device)
    : module_(module),
      layers_(std::move(layers)),
      device_(device != nullptr ? std::move(device) : std::make_shared<DeviceTurns>(runtime)) {
  module_.set_clock([&runtime](Time cost) { runtime.compute(cost); });
}

void DeviceTurns::take() {
  if (!std::exchange(busy_, true)) return;
  const std::shared_ptr<Event> mine = runtime_.make_event();
  waiting_.push_back(mine);
  mine->wait(Time::max());
}

// The next one keeps `busy_`, so nobody overtakes it.
void DeviceTurns::pass() {
  busy_ = !waiting_.empty();
  if (waiting_.empty()) return;
  const std::shared_ptr<Event> next = std::move(waiting_.front());
  waiting_.pop_front();
  next->set();
}

Result<RpcValue> PipelineShard::forward(Rpc& rpc, const RpcValue& x) {
  const Result<RpcValue> input = x.is<RRef>() ? rpc.to_here(x.as<RRef>()) : Result<RpcValue>(x);
  if (!input.ok()) return input.error();
  if (!input->is<nn::Tensor>())
    return rpc_exception("TypeError", "forward(): argument 'x' must be Tensor, not " + type_name(*input));
  device_->take();
  const Result<nn::Tensor> output = module_.forward_through(layers_, input->as<nn::Tensor>(), {});
  device_->pass();
  if (!output.ok()) return output.error();
  return RpcValue(*output);
}

std::vector<nn::Tensor> PipelineShard::parameters() const {
  std::vector<nn::Tensor> mine;
  for (const nn::Tensor& parameter : module_.parameters()) {
    const std::string layer = parameter.name().substr(0, parameter.name().find('.'));
    if (std::find(layers_.begin(), layers_.end(), layer) != layers_.end()) mine.push_back(parameter);
  }
  return mine;
}

Result<RpcValue> PipelineShard::parameter_rrefs(Rpc& rpc) {
  RpcList rrefs;
  for (const nn::Tensor& parameter : parameters()) {
    if (!parameter.requires_grad()) continue;
    Result<RRef> rref = rpc.make_rref(parameter);
    if (!rref.ok()) return rref.error();
    rrefs.push_back(std::move(*rref));
  }
  return RpcValue(std::move(rrefs));
}

void add_shard_functions(RpcFunctions& functions, ShardMaker make) {
  functions.add("PipelineShard(index)", [make = std::move(make)](std::int64_t index) -> Result<RpcValue> {
    Result<std::shared_ptr<PipelineShard>> shard = make(index);
    if (!shard.ok()) return shard.error();
    return RpcValue(std::move(*shard));
  });
  functions.add("PipelineShard.forward(self, x)",
                [](Rpc& rpc, PipelineShard& self, const RpcValue& x) { return self.forward(rpc, x); });
  functions.add("PipelineShard.parameter_rrefs(self)",
                [](Rpc& rpc, PipelineShard& self) { return self.parameter_rrefs(rpc); });
}

}  // namespace pdsim
