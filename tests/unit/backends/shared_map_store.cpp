#include "tests/unit/backends/shared_map_store.h"

#include <chrono>

namespace pdsim::testing {

Status SharedMapStore::set(std::string_view key, std::string_view value) {
  const std::lock_guard lock(map_.mutex);
  map_.values.insert_or_assign(std::string(key), std::string(value));
  map_.changed.notify_all();
  return {};
}

Result<std::string> SharedMapStore::get(std::string_view key) {
  const std::string keys[] = {std::string(key)};
  PDSIM_TRY(wait(keys, timeout()));
  const std::lock_guard lock(map_.mutex);
  return map_.values.find(key)->second;
}

Result<std::int64_t> SharedMapStore::add(std::string_view key, std::int64_t delta) {
  const std::lock_guard lock(map_.mutex);
  std::string& text = map_.values[std::string(key)];
  const std::int64_t sum = (text.empty() ? 0 : std::stoll(text)) + delta;
  text = std::to_string(sum);
  map_.changed.notify_all();
  return sum;
}

Result<std::string> SharedMapStore::compare_set(std::string_view key, std::string_view expected,
                                                std::string_view desired) {
  const std::lock_guard lock(map_.mutex);
  std::string& text = map_.values[std::string(key)];
  if (text == expected) text = desired;
  map_.changed.notify_all();
  return text;
}

Result<bool> SharedMapStore::check(std::span<const std::string> keys) {
  const std::lock_guard lock(map_.mutex);
  for (const std::string& key : keys)
    if (map_.values.find(key) == map_.values.end()) return false;
  return true;
}

Status SharedMapStore::wait(std::span<const std::string> keys, Time timeout) {
  std::unique_lock lock(map_.mutex);
  for (const std::string& key : keys)
    if (!map_.changed.wait_for(lock, std::chrono::nanoseconds(timeout.ns()),
                               [&] { return map_.values.find(key) != map_.values.end(); }))
      return Error{Code::store_timeout, "the key " + key + " was not set in time", {{"key", key}}};
  return {};
}

Result<bool> SharedMapStore::delete_key(std::string_view key) {
  const std::lock_guard lock(map_.mutex);
  return map_.values.erase(std::string(key)) > 0;
}

Result<std::int64_t> SharedMapStore::num_keys() {
  const std::lock_guard lock(map_.mutex);
  return static_cast<std::int64_t>(map_.values.size());
}

Status SharedMapStore::append(std::string_view key, std::string_view value) {
  const std::lock_guard lock(map_.mutex);
  map_.values[std::string(key)] += value;
  map_.changed.notify_all();
  return {};
}

}  // namespace pdsim::testing
