#include "tests/unit/parallel/ddp_world.h"

#include "core/group/init_process_group.h"
#include "sim/run.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

ProgramResult in_group(RankEnvironment& world, const std::function<Status(InGroup&)>& program) {
  auto group = init_process_group(world);
  if (!group.ok()) return {group.error(), {}};
  InGroup in{world, *group};
  return {program(in), {}};
}

}  // namespace

RunRecord run_ranks(int ranks, const std::function<Status(InGroup&)>& program) {
  sim::WorldSpec spec;
  spec.ranks_per_node = ranks;
  auto record = sim::run(spec, {}, [&program](RankEnvironment& world) { return in_group(world, program); });
  EXPECT_TRUE(record.ok()) << record.error().message;
  return record.ok() ? std::move(*record) : RunRecord{};
}

std::vector<std::string> collectives(const RankLog& log) {
  std::vector<std::string> texts;
  for (const Call& call : log.calls) {
    if (call.layer != Layer::collective) continue;
    texts.push_back(call.name + (call.purpose.empty() ? "" : " " + text_of(call.purpose)));
  }
  return texts;
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

int count(const RankLog& log, std::string_view purpose) {
  int n = 0;
  for (const Call& call : log.calls) n += text_of(call.purpose) == purpose ? 1 : 0;
  return n;
}

nn::ModuleSpec mlp() {
  nn::ModuleSpec spec;
  spec.layers = {
      {"fc1", nn::LayerKind::linear, 3, 5}, {"act", nn::LayerKind::relu}, {"fc2", nn::LayerKind::linear, 5, 2}};
  return spec;
}

nn::ModuleSpec with_batchnorm() {
  nn::ModuleSpec spec;
  spec.layers = {{"fc1", nn::LayerKind::linear, 3, 4},
                 {"norm", nn::LayerKind::batchnorm, 4},
                 {"fc2", nn::LayerKind::linear, 4, 2}};
  return spec;
}

nn::ModuleSpec branched() {
  nn::ModuleSpec spec;
  spec.layers = {{"trunk", nn::LayerKind::linear, 3, 4},
                 {"aux", nn::LayerKind::linear, 4, 4},
                 {"head", nn::LayerKind::linear, 4, 2}};
  spec.paths = {{"full", {"trunk", "aux", "head"}}, {"short", {"trunk", "head"}}};
  return spec;
}

void expect_near(const Values& a, const Values& b, double tolerance, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << what << i;
}

Result<nn::Tensor> Training::loss(int step, std::string_view path, nn::ForwardMode mode) {
  constexpr std::int64_t batch = 4;
  const std::int64_t width = module.input_width(path);
  std::vector<double> values;
  for (std::int64_t i = 0; i < batch * width; ++i)
    values.push_back(0.25 * static_cast<double>((i * 7 + rank * 5 + step * 3) % 11) - 1.0);
  auto output = ddp.forward(nn::Tensor::from(values, {batch, width}, module.spec().dtype), path, mode);
  if (!output.ok()) return output;
  return nn::mse_loss(*output, nn::Tensor::zeros(output->shape(), output->dtype()));
}

Status Training::step(int step, std::string_view path) {
  zero_grad();
  const auto value = loss(step, path);
  if (!value.ok()) return value.error();
  return ddp.backward(std::span(&*value, 1));
}

void Training::zero_grad() {
  for (nn::Tensor& p : module.parameters()) p.set_grad({});
}

Result<Wrapped> wrap(InGroup& in, const nn::ModuleSpec& spec, const DdpOptions& options) {
  Wrapped wrapped;
  wrapped.module = std::make_unique<nn::Module>(spec, Random(static_cast<std::uint64_t>(in.rank()) + 1));
  auto ddp = DistributedDataParallel::wrap(*wrapped.module, in.group, options);
  if (!ddp.ok()) return ddp.error();
  wrapped.ddp = std::move(*ddp);
  return wrapped;
}

nn::Tensor parameter(nn::Module& module, std::string_view name) {
  for (const auto* list : {&module.parameters(), &module.buffers()})
    for (const nn::Tensor& t : *list)
      if (t.name() == name) return t;
  return {};
}

}  // namespace pdsim
