#include "tools/gradients.h"

#include "core/nn/autograd.h"
#include "core/nn/functional.h"
#include "scenarios/engine/operations/operations.h"
#include "tools/load.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <utility>

namespace pdsim::tools {
namespace {

constexpr std::size_t most_bytes_of_file = 16 << 20;

Error wrong(std::string what) { return {Code::input_invalid, std::move(what), {}}; }

// Runs one backward of the default path; parameters that it does not reach come last.
Result<Gradients> of_scenario(const scenarios::Scenario& scenario) {
  if (!scenario.model.given) return wrong(fmt::format("{} has no model, so it has no buckets", scenario.file));
  Gradients g;
  g.title = scenario.name;
  g.options = scenarios::operations::ddp_options(scenario);
  nn::Module module(scenario.model.spec, Random(scenario.seed));
  for (std::size_t i = 0; i < module.parameters().size(); ++i) {
    nn::Tensor& parameter = module.parameters()[i];
    g.names.push_back(parameter.name());
    g.tensors.push_back({parameter.numel(), parameter.dtype()});
    nn::register_post_accumulate_hook(parameter, [&g, i](nn::Tensor&) {
      g.ready_order.push_back(i);
      return Status{};
    });
  }
  const std::string path = scenario.model.spec.paths.front().name;
  const nn::Tensor input = nn::Tensor::zeros({2, module.input_width(path)}, scenario.model.spec.dtype);
  const Result<nn::Tensor> output = module.forward(input, path, {});
  if (!output.ok()) return output.error();
  const Result<nn::Tensor> loss = nn::sum(*output);
  if (!loss.ok()) return loss.error();
  nn::BackwardPass pass;
  PDSIM_TRY(pass.run(std::span(&*loss, 1)));
  for (std::size_t i = 0; i < g.tensors.size(); ++i)
    if (std::find(g.ready_order.begin(), g.ready_order.end(), i) == g.ready_order.end()) g.ready_order.push_back(i);
  return g;
}

Result<std::int64_t> elements_of(const nlohmann::json& shape) {
  std::int64_t elements = 1;
  if (!shape.is_array()) return wrong("a shape is a list such as [4096, 25088]");
  for (const auto& width : shape) {
    if (!width.is_number_unsigned())
      return wrong(fmt::format("`{}` is no width; a shape holds whole numbers", width.dump()));
    if (__builtin_mul_overflow(elements, width.get<std::int64_t>(), &elements))
      return wrong(fmt::format("the shape {} has more elements than 64 bits count", shape.dump()));
  }
  return elements;
}

// {"dtype": "f32", "ready_order": [[4096], [4096, 25088]]}: shapes as their gradients become ready.
Result<Gradients> of_shapes(const std::string& file, const std::string& text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("ready_order") || !document["ready_order"].is_array())
    return wrong(fmt::format(R"({}: expected {{"dtype": "f32", "ready_order": [[4096], [4096, 25088]]}})", file));
  const nlohmann::json dtype = document.value("dtype", nlohmann::json("f32"));
  const auto known = dtype_named(dtype.is_string() ? dtype.get<std::string>() : "");
  if (!known)
    return wrong(fmt::format("{}: {} is no dtype; `pdsim list --what dtypes` shows them", file, dtype.dump()));
  Gradients g;
  g.title = file;
  const auto& shapes = document["ready_order"];
  for (auto shape = shapes.rbegin(); shape != shapes.rend(); ++shape) {
    const auto elements = elements_of(*shape);
    if (!elements.ok()) return wrong(fmt::format("{}: {}", file, elements.error().message));
    g.names.push_back(shape->dump());
    g.tensors.push_back({*elements, *known});
  }
  g.ready_order.resize(g.tensors.size());
  std::iota(g.ready_order.rbegin(), g.ready_order.rend(), std::size_t{0});
  return g;
}

}  // namespace

Result<Gradients> read_gradients(const std::string& file, const std::string& variant, Console& console) {
  if (!file.ends_with(".json")) {
    const auto files = load_all({file}, console);
    if (!files) return wrong("");
    const auto selected = select_variants(files->front(), variant, console);
    if (!selected) return wrong("");
    return of_scenario(*selected->front());
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return wrong(fmt::format("there is no file `{}`", file));
  std::string text;
  for (char c = 0; text.size() <= most_bytes_of_file && in.get(c);) text += c;
  if (text.size() > most_bytes_of_file)
    return wrong(fmt::format("{}: more than {}", file, to_string(Bytes{most_bytes_of_file})));
  return of_shapes(file, text);
}

}  // namespace pdsim::tools
