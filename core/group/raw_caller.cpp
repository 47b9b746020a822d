#include "core/group/raw_caller.h"

#include "core/base/enum_set.h"
#include "core/semantics/libraries.h"

#include <fmt/format.h>

namespace pdsim {
namespace {

std::string named(std::string_view form, std::string function) {
  std::string text(form);
  const std::size_t capital = text.find("Call");
  if (capital != std::string::npos && 'a' <= function[0] && function[0] <= 'z')
    function[0] = static_cast<char>(function[0] - 'a' + 'A');
  return text.replace(capital != std::string::npos ? capital : text.find("call"), 4, function);
}

// Operations and dtypes that every library's own kernels support; pdsim's kernels would be part of our core.
constexpr EnumSet<ReduceOp> ops{ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};
constexpr EnumSet<DType> dtypes_reduced{DType::f32, DType::f64, DType::i8, DType::u8, DType::i32, DType::i64};

}  // namespace

std::vector<std::string> raw_functions(std::string_view world, CollectiveKind kind) {
  std::vector<std::string> found;
  for (const Library& library : library_table) {
    if (library.semantics.name != world || library.native_names == nullptr || row(kind).shape.uneven) continue;
    const std::string_view function = row(kind).native.*library.native_names;
    if (function.empty()) continue;
    for (const std::string_view form : library.raw_forms)
      if (!form.empty()) found.push_back(named(form, std::string(function)));
  }
  return found;
}

std::string raw_problem(std::string_view world, CollectiveKind kind, DType dtype, ReduceOp op) {
  if (raw_functions(world, kind).empty())
    return fmt::format("{} has no {} that could be called directly", world, name_of(kind));
  if (row(kind).reduces && (!ops.has(op) || !dtypes_reduced.has(dtype)))
    return fmt::format("{} of {} is pdsim's own on {}, and is not called directly", name_of(op), name_of(dtype), world);
  return "";
}

}  // namespace pdsim
