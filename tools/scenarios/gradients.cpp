#include "tools/scenarios/gradients.h"

#include "core/nn/autograd.h"
#include "core/nn/functional.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/program/operations/lifetime.h"
#include "tools/scenarios/load.h"
#include "tools/scenarios/shapes_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <span>
#include <utility>

namespace pdsim::tools {
namespace {

Error input_error(std::string what) { return {Code::input_invalid, std::move(what), {}}; }

// Runs one backward of the default path; parameters that it does not reach come last.
Result<Gradients> of_scenario(const scenarios::Scenario& scenario) {
  if (!scenario.model.given) return input_error(fmt::format("{} has no model, so it has no buckets", scenario.file));
  Gradients g;
  g.title = scenario.name;
  g.options = scenarios::operations::ddp_options(scenario);
  nn::Module module(scenario.model.spec_of(0, 0), Random(scenario.seed));
  for (nn::Tensor& parameter : module.parameters()) {
    if (!parameter.requires_grad()) continue;  // DDP leaves those out
    const std::size_t i = g.tensors.size();
    g.names.push_back(parameter.name());
    g.tensors.push_back({parameter.numel(), parameter.dtype(), parameter.device()});
    nn::register_post_accumulate_hook(parameter, [&g, i](nn::Tensor&) {
      g.ready_order.push_back(i);
      return Status{};
    });
  }
  if (g.tensors.empty()) return input_error(fmt::format("{}: no parameter of the model requires a gradient", scenario.file));
  const std::string path = module.spec().paths.front().name;
  const nn::Tensor input =
      nn::Tensor::zeros({2, std::max<std::int64_t>(module.input_width(path), 1)}, scenario.model.spec.dtype);
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

}  // namespace

Result<Gradients> read_gradients(const std::string& file, const std::string& variant, Console& console) {
  if (!file.ends_with(".json")) {
    const auto files = load_all({file}, console);
    if (!files) return input_error("");
    const auto selected = select_variants(files->front(), variant, console);
    if (!selected) return input_error("");
    return of_scenario(*selected->front());
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return input_error(fmt::format("the file `{}` does not exist, or cannot be read", file));
  std::string text;
  for (char c = 0; text.size() <= scenarios::limits::file_bytes && in.get(c);) text += c;
  if (text.size() > scenarios::limits::file_bytes)
    return input_error(fmt::format("{}: more than {}", file, to_string(Bytes{scenarios::limits::file_bytes})));
  scenarios::LoadedFile shapes;
  shapes.file = file;
  shapes.text = std::move(text);
  std::optional<Gradients> gradients = gradients_of_shapes(shapes);
  for (const scenarios::Diagnostic& d : shapes.diagnostics) console.problem(shapes.file, shapes.text, d);
  if (!gradients) return input_error("");
  return std::move(*gradients);
}

}  // namespace pdsim::tools
