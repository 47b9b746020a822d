#include "tools/scenarios/shapes_file.h"

#include "scenarios/language/document/problems.h"
#include "scenarios/language/document/scalars.h"
#include "scenarios/language/document/tree.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

namespace pdsim::tools {
namespace {

class ShapesFile {
 public:
  explicit ShapesFile(scenarios::LoadedFile& loaded) : loaded_(loaded) {}

  std::optional<Gradients> read() {
    Gradients g;
    g.title = loaded_.file;
    if (const std::optional<Node> document = parse()) build(*document, g);
    loaded_.diagnostics = problems_.take();
    loaded_.errors = problems_.seen();
    if (problems_.any_error()) return std::nullopt;
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
      problems_.error(place_of(error.byte), "this is not JSON", std::string("expected ") + example);
      return std::nullopt;
    } catch (const nlohmann::json::out_of_range&) {
      // A number too large for a double. It is not a valid value anywhere in this file, so the checks below report it with its place.
    }
    std::string text = loaded_.text;
    std::replace(text.begin(), text.end(), '\t', ' ');  // which JSON allows between values
    return scenarios::language::parse(text, problems_);
  }

  // Returns the place of a byte, counted from 1; past the last byte, the end of the file.
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
      return problems_.error(document.mark, "the file is not an object", std::string("expected ") + example);
    DType dtype = DType::f32;
    for (const scenarios::language::Entry& entry : document.entries) {
      if (entry.key == "ready_order") continue;
      if (entry.key != "dtype") {
        problems_.error(entry.mark, fmt::format("unknown key `{}`", entry.key),
                        scenarios::language::suggestion(entry.key, {"dtype", "ready_order"}, "there are"));
        continue;
      }
      const auto known = dtype_named(entry.value.text);
      if (!known) problems_.error(entry.value.mark, "this is not a dtype", "`pdsim list --what dtypes` shows them");
      dtype = known.value_or(dtype);
    }
    const Node* shapes = document.find("ready_order");
    if (shapes == nullptr)
      return problems_.error(document.mark, "`ready_order` is missing", std::string("expected ") + example);
    if (!shapes->is_list())
      return problems_.error(shapes->mark, "`ready_order` is not a list", "shapes such as [[4096], [4096, 25088]]");
    if (shapes->items.empty()) problems_.error(shapes->mark, "no gradient becomes ready", "give a shape for each");
    for (auto shape = shapes->items.rbegin(); shape != shapes->items.rend(); ++shape) add(*shape, dtype, g);
  }

  void add(const Node& shape, DType dtype, Gradients& g) {
    if (!shape.is_list())
      return problems_.error(shape.mark, "this is not a shape", "a shape is a list such as [4096, 25088]");
    std::string name;
    std::int64_t elements = 1, bytes = 0;
    for (const Node& side : shape.items) {
      const auto width = side.is_scalar() && !side.quoted ? scenarios::language::read_integer(side.text) : std::nullopt;
      if (!width) return problems_.error(side.mark, "this is not a width", "a shape holds whole numbers from 0");
      name += fmt::format("{}{}", name.empty() ? "" : ",", *width);
      if (__builtin_mul_overflow(elements, *width, &elements) ||
          __builtin_mul_overflow(elements, static_cast<std::int64_t>(size_of(dtype)), &bytes) ||
          bytes > most_bytes - bytes_)
        return problems_.error(shape.mark, "a shape of too many bytes",
                               fmt::format("together they may have at most {}", most_bytes));
    }
    bytes_ += elements * static_cast<std::int64_t>(size_of(dtype));
    g.names.push_back("[" + name + "]");
    g.tensors.push_back({elements, dtype});
  }

  static constexpr const char* example = R"({"dtype": "f32", "ready_order": [[4096], [4096, 25088]]})";
  static constexpr std::int64_t most_bytes = 1LL << 60;
  scenarios::LoadedFile& loaded_;
  scenarios::language::Problems problems_;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::optional<Gradients> gradients_of_shapes(scenarios::LoadedFile& file) { return ShapesFile(file).read(); }

}  // namespace pdsim::tools
