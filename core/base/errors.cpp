#include "core/base/errors.h"

namespace pdsim {
namespace {
constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < error_table.size(); ++i)
    if (static_cast<std::size_t>(error_table[i].code) != i) return false;
  return true;
}
static_assert(rows_are_in_order(), "error_table must list the codes in the order of the enumeration");
}  // namespace

std::optional<Code> code_named(std::string_view name) {
  for (const ErrorRow& r : error_table)
    if (r.name == name) return r.code;
  return std::nullopt;
}

}  // namespace pdsim
