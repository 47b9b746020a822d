#include "core/store/log_records.h"

#include "core/store/length_prefixed.h"
#include "core/store/store_errors.h"

#include <fmt/format.h>

#include <optional>

namespace pdsim {
namespace {

Error corrupt(std::int64_t at, std::string_view found, std::string_view why) {
  return {
      Code::store_corrupt,
      fmt::format("the store file holds no store record at byte {}: {}; it reads `{}` there. The file was cut short or "
                  "belongs to something else: give each job a fresh path",
                  at, why, shown(found)),
      {{"offset", std::to_string(at)}, {"found", shown(found)}}};
}

bool is_store_key(std::string_view key) {
  return key.starts_with("/") || key.starts_with("-/") || key == cleanup_key || key == refcount_key;
}

}  // namespace

std::string log_record(std::string_view key, std::string_view value) {
  std::string record;
  put_text(record, key);
  put_text(record, value);
  return record;
}

Status apply_records(std::string_view bytes, std::int64_t offset, KeyValues& into) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const std::string_view record = rest;
    const auto at = offset + static_cast<std::int64_t>(bytes.size() - rest.size());
    const auto key = take_text(rest);
    if (key && !is_store_key(*key))
      return corrupt(at, record, fmt::format("the key `{}` has none of a store's prefixes", shown(*key)));
    const auto value = key ? take_text(rest) : std::nullopt;
    if (!value)
      return corrupt(
          at, record,
          fmt::format("its {} is longer than the {} bytes that are left", key ? "value" : "key", record.size()));
    if (key->starts_with('-')) {
      const auto old = into.find(key->substr(1));
      if (old != into.end()) into.erase(old);
    } else {
      into.insert_or_assign(std::string(*key), std::string(*value));
    }
  }
  return {};
}

}  // namespace pdsim
