// THE table of the functions of each real library that `pdsim bench --raw` calls directly, beside ours. The callers are in
// backends/<library>/raw.cpp; the first function of a row is the one that the library's `native` takes.
#pragma once

#include "core/collectives/collective.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

struct RawCall {
  std::string_view world;
  CollectiveKind kind;
  std::string_view function;
};
std::span<const RawCall> raw_calls();

// By form, from 0. Empty: the library has none.
std::vector<std::string_view> raw_functions(std::string_view world, CollectiveKind kind);

// Why this cannot be called directly; empty: it can.
std::string raw_problem(std::string_view world, CollectiveKind kind, DType dtype, ReduceOp op);

}  // namespace pdsim
