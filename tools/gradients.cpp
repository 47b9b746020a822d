#include "tools/gradients.h"

#include "core/nn/autograd.h"
#include "core/nn/functional.h"
#include "scenarios/engine/language/scalars.h"
#include "scenarios/engine/language/tree.h"
#include "scenarios/engine/limits.h"
#include "scenarios/engine/operations/operations.h"
#include "tools/load.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <optional>
#include <utility>

namespace pdsim::tools {
namespace {

Error wrong(std::string what) { return {Code::input_invalid, std::move(what), {}}; }

// Runs one backward of the default path; parameters that it does not reach come last.
Result<Gradients> of_scenario(const scenarios::Scenario& scenario) {
  if (!scenario.model.given) return wrong(fmt::format("{} has no model, so it has no buckets", scenario.file));
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
  if (g.tensors.empty()) return wrong(fmt::format("{}: no parameter of the model requires a gradient", scenario.file));
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

// FILE.json, every problem of which is told with its place.
class ShapesFile {
 public:
  ShapesFile(std::string file, std::string text) { loaded_.file = std::move(file), loaded_.text = std::move(text); }

  Result<Gradients> read(Console& console) {
    Gradients g;
    g.title = loaded_.file;
    if (const std::optional<Node> document = parse()) build(*document, g);
    for (const scenarios::Diagnostic& d : problems_.take()) console.say(scenarios::render(loaded_, d));
    if (problems_.any_error()) return wrong("");
    g.ready_order.resize(g.tensors.size());
    std::iota(g.ready_order.rbegin(), g.ready_order.rend(), std::size_t{0});
    return g;
  }

 private:
  using Node = scenarios::language::Node;

  // As JSON first: its reader knows where the syntax ends to be right, and the other one where each value stands.
  std::optional<Node> parse() {
    try {
      const nlohmann::json read = nlohmann::json::parse(loaded_.text);
      if (read.is_discarded()) return std::nullopt;
    } catch (const nlohmann::json::parse_error& error) {
      problems_.error(place_of(error.byte), "this is no JSON", std::string("expected ") + example);
      return std::nullopt;
    }
    std::string text = loaded_.text;
    std::replace(text.begin(), text.end(), '\t', ' ');  // which JSON allows between values
    return scenarios::language::parse(text, problems_);
  }

  // Of a byte, counted from 1; behind the last one the end of the file.
  scenarios::Mark place_of(std::size_t byte) const {
    scenarios::Mark mark{1, 1, 1};
    for (std::size_t i = 0; i + 1 < byte && i < loaded_.text.size(); ++i) {
      const bool ends = loaded_.text[i] == '\n' && i + 1 < loaded_.text.size();
      mark.line += ends ? 1 : 0;
      mark.column = ends ? 1 : mark.column + 1;
    }
    return mark;
  }

  void build(const Node& document, Gradients& g) {
    if (!document.is_map())
      return problems_.error(document.mark, "the file is no object", std::string("expected ") + example);
    DType dtype = DType::f32;
    for (const scenarios::language::Entry& entry : document.entries) {
      if (entry.key == "ready_order") continue;
      if (entry.key != "dtype") {
        problems_.error(entry.mark, fmt::format("unknown key `{}`", entry.key),
                        scenarios::language::suggestion(entry.key, {"dtype", "ready_order"}, "there are"));
        continue;
      }
      const auto known = dtype_named(entry.value.text);
      if (!known) problems_.error(entry.value.mark, "this is no dtype", "`pdsim list --what dtypes` shows them");
      dtype = known.value_or(dtype);
    }
    const Node* shapes = document.find("ready_order");
    if (shapes == nullptr)
      return problems_.error(document.mark, "`ready_order` is missing", std::string("expected ") + example);
    if (!shapes->is_list())
      return problems_.error(shapes->mark, "`ready_order` is no list", "shapes such as [[4096], [4096, 25088]]");
    if (shapes->items.empty()) problems_.error(shapes->mark, "no gradient becomes ready", "give a shape for each");
    for (auto shape = shapes->items.rbegin(); shape != shapes->items.rend(); ++shape) add(*shape, dtype, g);
  }

  void add(const Node& shape, DType dtype, Gradients& g) {
    if (!shape.is_list())
      return problems_.error(shape.mark, "this is no shape", "a shape is a list such as [4096, 25088]");
    std::string name;
    std::int64_t elements = 1, bytes = 0;
    for (const Node& side : shape.items) {
      const auto width = side.is_scalar() && !side.quoted ? scenarios::language::read_integer(side.text) : std::nullopt;
      if (!width) return problems_.error(side.mark, "this is no width", "a shape holds whole numbers from 0");
      name += fmt::format("{}{}", name.empty() ? "" : ",", *width);
      if (__builtin_mul_overflow(elements, *width, &elements) ||
          __builtin_mul_overflow(elements, static_cast<std::int64_t>(size_of(dtype)), &bytes) ||
          bytes > most_bytes - bytes_)
        return problems_.error(shape.mark, "a shape of too many bytes",
                               fmt::format("all together have at most {}", most_bytes));
    }
    bytes_ += elements * static_cast<std::int64_t>(size_of(dtype));
    g.names.push_back("[" + name + "]");
    g.tensors.push_back({elements, dtype});
  }

  static constexpr const char* example = R"({"dtype": "f32", "ready_order": [[4096], [4096, 25088]]})";
  static constexpr std::int64_t most_bytes = 1LL << 60;
  scenarios::LoadedFile loaded_;
  scenarios::language::Problems problems_;
  std::int64_t bytes_ = 0;
};

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
  for (char c = 0; text.size() <= scenarios::limits::file_bytes && in.get(c);) text += c;
  if (text.size() > scenarios::limits::file_bytes)
    return wrong(fmt::format("{}: more than {}", file, to_string(Bytes{scenarios::limits::file_bytes})));
  return ShapesFile(file, text).read(console);
}

}  // namespace pdsim::tools
