#include "core/base/types.h"

namespace pdsim {

std::optional<DType> dtype_named(std::string_view name) {
  return value_named<DType>(name);
}

std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  return value_named<ReduceOp>(name);
}

}  // namespace pdsim
