// The table of operations, of the rows that the files here have; its order is that of docs/keys.md.
#include "scenarios/program/operations/table.h"

#include "scenarios/language/tables/operations_table.h"
#include "scenarios/program/operations/operation_row.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace pdsim::scenarios {
namespace operations {
namespace {

struct Table {
  std::vector<OperationRow> rows;
  std::vector<language::Group> groups;  // one a row: what stands behind its name
  std::vector<Key> keys;                // one a row: as the language knows it
};

Table make_table() {
  Table table;
  for (const Operations& family :
       {init_operations, loop_operations, training_operations, optimizer_operations, collective_operations,
        object_operations, uneven_operations, monitored_barrier_operations, message_operations, batch_operations,
        pipeline_operations, new_group_operations, asynchronous_operations, compute_operations, checkpoint_operations,
        relaunch_operations, device_operations, store_operations, destroy_operations, rpc_pipeline_operations,
        rpc_operations, rpc_autograd_operations, rpc_shutdown_operations})
    table.rows.insert(table.rows.end(), family.begin(), family.end());
  for (const OperationRow& row : table.rows)
    table.groups.push_back({.title = row.keys.empty() ? "" : row.name,
                            .help = row.keys.empty() ? "takes no options" : row.title_help,
                            .keys = row.keys,
                            .options = row.options});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const OperationRow& row = table.rows[i];
    table.keys.push_back({.name = row.name,
                          .type = Type::group,
                          .help = row.help,
                          .group = &table.groups[i],
                          .formerly = row.formerly,
                          .traits = row.traits});
  }
  return table;
}

const Table& whole_table() {
  static const Table table = make_table();
  return table;
}

const OperationRow* row_named(std::string_view name) {
  const auto& rows = whole_table().rows;
  const auto found = std::find_if(rows.begin(), rows.end(), [name](const OperationRow& row) { return row.name == name; });
  return found != rows.end() ? &*found : nullptr;
}

}  // namespace

OperationFunction function_of(std::string_view name) {
  const OperationRow* row = row_named(name);
  return row != nullptr ? row->run : nullptr;
}

Phase phase_of(std::string_view name) {
  const OperationRow* row = row_named(name);
  return row != nullptr ? row->phase : Phase::none;
}

}  // namespace operations

namespace language {

std::span<const Key> operation_table() { return operations::whole_table().keys; }

const Key* operation_named(std::string_view name) { return find(operation_table(), name); }

std::optional<CollectiveKind> collective_of(std::string_view operation, bool splits) {
  const operations::OperationRow* row = operations::row_named(operation);
  if (row == nullptr || row->collectives.size() != 1) return std::nullopt;
  return splits && row->with_splits ? *row->with_splits : row->collectives.front();
}

std::span<const CollectiveKind> collectives_of_objects(std::string_view operation) {
  const operations::OperationRow* row = operations::row_named(operation);
  if (row == nullptr || row->collectives.size() < 2) return {};
  return row->collectives;
}

}  // namespace language
}  // namespace pdsim::scenarios
