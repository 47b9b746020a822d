#include "tests/helpers/capability_program.h"

#include "core/collectives/collective_shape.h"
#include "core/collectives/element.h"
#include "core/collectives/plan_runner.h"
#include "core/collectives/reduce.h"
#include "core/semantics/capabilities.h"

#include <fmt/format.h>

#include <vector>

namespace pdsim {
namespace {

CallOptions native() {
  CallOptions options;
  options.algorithm = "native";
  return options;
}

Status try_collective(const Capabilities& table, CollectiveKind kind, ProcessGroup& group) {
  Collective call;
  call.kind = kind;
  call.count = 2;
  const auto elements = [&](std::int64_t n) { return std::vector<float>(static_cast<std::size_t>(n), 1.0F); };
  std::vector<float> in = elements(input_elements(call, group.rank(), group.size()));
  std::vector<float> out = elements(output_elements(call, group.rank(), group.size()));
  call.input = {reinterpret_cast<std::byte*>(in.data()), DType::f32, static_cast<std::int64_t>(in.size())};
  call.output = {reinterpret_cast<std::byte*>(out.data()), DType::f32, static_cast<std::int64_t>(out.size())};
  const Status status = wait(group.start(call, native()));
  const bool refused = !status.ok() && status.error().code == Code::unsupported;
  if (table.has(kind) ? status.ok() : refused) return {};
  return Error{Code::internal,
               fmt::format("{} of {} is not as the table says: {}", name_of(kind), table.world,
                           status.ok() ? "it was done" : status.error().message),
               {}};
}

Status try_operation(ReduceOp op, DType dtype, ProcessGroup& group) {
  std::vector<std::byte> data(size_of(dtype)), want(size_of(dtype));
  write_element(data.data(), dtype, 1.0);
  const bool adds = (op == ReduceOp::sum || op == ReduceOp::premul_sum) && dtype != DType::boolean;
  const bool vanishes = op == ReduceOp::bxor && group.size() % 2 == 0;
  write_element(want.data(), dtype, adds ? group.size() : vanishes ? 0.0 : 1.0);
  Collective call{CollectiveKind::all_reduce, {data.data(), dtype, 1}, {data.data(), dtype, 1}, dtype, 1};
  call.op = op;
  const Status status = wait(group.start(call, native()));
  if (supports(op, dtype) ? status.ok() && data == want : !status.ok()) return {};
  return Error{Code::internal,
               fmt::format("{} of {}: {}", name_of(op), name_of(dtype),
                           status.ok() ? "the element is wrong" : status.error().message),
               {}};
}

}  // namespace

Status try_capabilities(std::string_view world, ProcessGroup& group) {
  const Capabilities& table = capabilities_of(world);
  for (const CollectiveRow& row : collective_table)
    if (row.planned) PDSIM_TRY(try_collective(table, row.kind, group));
  for (std::size_t op = 0; op < reduce_op_names.size(); ++op)
    for (const DTypeRow& row : dtypes) PDSIM_TRY(try_operation(static_cast<ReduceOp>(op), row.dtype, group));
  return {};
}

}  // namespace pdsim
