#include "scenarios/language/tables/operations_table.h"
#include "scenarios/program/operations.h"

#include <array>

namespace pdsim::scenarios::operations {
namespace {

struct Row {
  std::string_view name;
  OperationFunction function;
};

// In the order of operation_table.
constexpr std::array rows{
    Row{"init_process_group", init},
    Row{"train", train},
    Row{"repeat", repeat},
    Row{"no_sync", no_sync},
    Row{"join", join},
    Row{"eval", eval},
    Row{"zero_grad", zero_grad},
    Row{"forward", forward},
    Row{"backward", backward},
    Row{"optimizer_step", optimizer_step},
    Row{"clip_grad_norm", clip_grad_norm},
    Row{"requires_grad", requires_grad},
    Row{"barrier", collective},
    Row{"all_reduce", collective},
    Row{"broadcast", collective},
    Row{"reduce", collective},
    Row{"all_gather", collective},
    Row{"all_gather_into_tensor", collective},
    Row{"gather", collective},
    Row{"scatter", collective},
    Row{"reduce_scatter", collective},
    Row{"reduce_scatter_tensor", collective},
    Row{"all_to_all", collective},
    Row{"all_to_all_single", collective},
    Row{"scan", collective},
    Row{"exscan", collective},
    Row{"broadcast_object_list", broadcast_object_list},
    Row{"all_gather_object", all_gather_object},
    Row{"gather_object", gather_object},
    Row{"scatter_object_list", scatter_object_list},
    Row{"all_gather_v", collective},
    Row{"reduce_scatter_v", collective},
    Row{"monitored_barrier", monitored_barrier},
    Row{"send", collective},
    Row{"recv", collective},
    Row{"isend", collective},
    Row{"irecv", collective},
    Row{"batch_isend_irecv", batch_isend_irecv},
    Row{"pipeline", pipeline},
    Row{"new_group", new_group},
    Row{"wait", wait},
    Row{"synchronize", synchronize},
    Row{"read", read},
    Row{"write", write},
    Row{"compute", compute},
    Row{"checkpoint", checkpoint},
    Row{"load_checkpoint", load_checkpoint},
    Row{"relaunch", relaunch},
    Row{"set_device", set_device},
    Row{"raise", raise},
    Row{"store_set", store_set},
    Row{"store_get", store_get},
    Row{"store_add", store_add},
    Row{"store_wait", store_wait},
    Row{"destroy_process_group", destroy},
    Row{"rpc_pipeline", rpc_pipeline},
    Row{"init_rpc", init_rpc},
    Row{"rpc_sync", rpc_sync},
    Row{"rpc_async", rpc_async},
    Row{"wait_all", wait_all},
    Row{"remote", remote},
    Row{"to_here", to_here},
    Row{"local_value", local_value},
    Row{"delete_rref", delete_rref},
    Row{"autograd_context", autograd_context},
    Row{"dist_backward", dist_backward},
    Row{"distributed_optimizer", distributed_optimizer},
    Row{"distributed_step", distributed_step},
    Row{"shutdown", rpc_shutdown},
};

constexpr bool every_operation_has_its_function() {
  if (rows.size() != language::operation_table.size()) return false;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name != language::operation_table[i].name) return false;
  return true;
}
static_assert(every_operation_has_its_function(),
              "operation_table and the rows here name the same operations in one order");

}  // namespace

OperationFunction function_of(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.function;
  return nullptr;
}

}  // namespace pdsim::scenarios::operations
