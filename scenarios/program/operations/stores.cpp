// store_set, store_get, store_add, store_wait: the store that init opened.
#include "scenarios/program/operations/operation_row.h"

#include <fmt/format.h>

#include <span>
#include <string>

namespace pdsim::scenarios::operations {
namespace {

struct StoreSetOptions {
  std::string key, value;
};

struct StoreGetOptions {
  std::string key;
  std::optional<Time> timeout;
};

struct StoreAddOptions {
  std::string key;
  std::int64_t by = 1;
};

Status needs_store(const Session& s, const Operation& op) {
  if (s.store != nullptr) return {};
  if (s.group_destroyed)
    return Error{Code::group_destroyed,
                 fmt::format("{}: the store was released when the process group was destroyed", op.name),
                 {{"in", op.name}}};
  return Error{
      Code::not_initialized,
      fmt::format("{} needs the store of init_process_group, and this rank has called no init_process_group before it",
                  op.name),
      {{"in", op.name}}};
}

Status store_set(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const auto& options = op.as<StoreSetOptions>();
  return s.store->set(options.key, options.value);
}

Status store_add(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const auto& options = op.as<StoreAddOptions>();
  return s.store->add(options.key, options.by).status();
}

Status store_get(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const auto& options = op.as<StoreGetOptions>();
  const Time before = s.store->timeout();
  s.store->set_timeout(options.timeout.value_or(before));
  const Status status = s.store->get(options.key).status();
  s.store->set_timeout(before);
  return status;
}

Status store_wait(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const auto& options = op.as<StoreGetOptions>();
  return s.store->wait(std::span(&options.key, 1), options.timeout.value_or(s.store->timeout()));
}

constexpr Key store_key{
    .name = "key", .type = Type::text, .help = "the key, as the program writes it", .required = true};

constexpr std::array store_set_keys{
    bound(store_key, to<&StoreSetOptions::key>),
    Key{.name = "value",
        .type = Type::text,
        .help = "the value",
        .required = true,
        .bind = to<&StoreSetOptions::value>},
};

constexpr std::array store_get_keys{
    bound(store_key, to<&StoreGetOptions::key>),
    Key{.name = "timeout",
        .type = Type::duration,
        .help = "how long it waits; default: the store's",
        .bind = to<&StoreGetOptions::timeout>},
};

constexpr std::array store_add_keys{
    bound(store_key, to<&StoreAddOptions::key>),
    Key{.name = "by", .type = Type::integer, .help = "how much", .bind = to<&StoreAddOptions::by>},
};

constexpr std::array store_rows{
    OperationRow{.name = "store_set",
                 .help = "sets a key of the store that init_process_group opened",
                 .title_help = "store.set",
                 .keys = store_set_keys,
                 .options = options_of<StoreSetOptions>,
                 .traits = language::in_train,
                 .run = store_set},
    OperationRow{.name = "store_get",
                 .help = "reads a key of the store, and waits until some rank has set it",
                 .title_help = "store.get",
                 .keys = store_get_keys,
                 .options = options_of<StoreGetOptions>,
                 .traits = language::in_train,
                 .run = store_get},
    OperationRow{.name = "store_add",
                 .help = "adds to a counter of the store",
                 .title_help = "store.add",
                 .keys = store_add_keys,
                 .options = options_of<StoreAddOptions>,
                 .traits = language::in_train,
                 .run = store_add},
    OperationRow{.name = "store_wait",
                 .help = "waits until some rank has set a key of the store",
                 .title_help = "store.wait",
                 .keys = store_get_keys,
                 .options = options_of<StoreGetOptions>,
                 .traits = language::in_train,
                 .run = store_wait},
};

}  // namespace

const Operations store_operations{store_rows};

}  // namespace pdsim::scenarios::operations
