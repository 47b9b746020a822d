#include "core/store/log_records.h"

#include "core/store/store_errors.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace pdsim {
namespace {

void put_text(std::string& out, std::string_view text) {
  PDSIM_CHECK(text.size() <= std::numeric_limits<std::uint32_t>::max(), "a record's text has a length of 32 bits");
  const auto size = static_cast<std::uint32_t>(text.size());
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((size >> shift) & 0xff);
  out += text;
}

// Takes a length and that many bytes off the front; nullopt, and nothing taken, if they are not all there.
std::optional<std::string_view> take_text(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  std::uint32_t size = 0;
  for (unsigned i = 0; i < 4; ++i) size |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  if (bytes.size() - 4 < size) return std::nullopt;
  const std::string_view text = bytes.substr(4, size);
  bytes.remove_prefix(4 + std::size_t{size});
  return text;
}

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
