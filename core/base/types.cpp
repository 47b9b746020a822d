#include "core/base/types.h"

namespace pdsim {

std::optional<DType> dtype_named(std::string_view name) {
  for (const DTypeRow& r : dtypes)
    if (r.name == name) return r.dtype;
  return std::nullopt;
}

std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  for (std::size_t i = 0; i < reduce_op_names.size(); ++i)
    if (reduce_op_names[i] == name) return static_cast<ReduceOp>(i);
  return std::nullopt;
}

}  // namespace pdsim
