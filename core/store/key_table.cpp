#include "core/store/key_table.h"

#include "core/store/store_errors.h"

namespace pdsim {

void KeyTable::set(std::string_view key, std::string_view value) {
  const auto it = values_.find(key);
  if (it == values_.end()) {
    values_.emplace(key, value);
    texts_ += key.size() + value.size();
  } else {
    texts_ = texts_ - it->second.size() + value.size();
    it->second = value;
  }
}

const std::string* KeyTable::find(std::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

Result<std::int64_t> KeyTable::add(std::string_view key, std::int64_t delta) {
  const std::string* now = find(key);
  auto sum = add_to_decimal(key, now ? *now : "", delta);
  if (sum) set(key, std::to_string(*sum));
  return sum;
}

std::string KeyTable::compare_set(std::string_view key, std::string_view expected, std::string_view desired) {
  const std::string* now = find(key);
  if (now ? *now != expected : !expected.empty()) return now ? *now : std::string(expected);
  set(key, desired);
  return std::string(desired);
}

void KeyTable::append(std::string_view key, std::string_view value) {
  const auto it = values_.find(key);
  if (it == values_.end()) return set(key, value);
  it->second += value;
  texts_ += value.size();
}

bool KeyTable::erase(std::string_view key) {
  const auto it = values_.find(key);
  if (it == values_.end()) return false;
  texts_ -= it->first.size() + it->second.size();
  values_.erase(it);
  return true;
}

std::vector<std::string> KeyTable::missing(std::span<const std::string> keys) const {
  std::vector<std::string> absent;
  for (const std::string& key : keys)
    if (!find(key)) absent.push_back(key);
  return absent;
}

std::vector<std::string> KeyTable::keys(std::string_view prefix, std::size_t most, std::size_t longest) const {
  std::vector<std::string> found;
  for (auto it = values_.lower_bound(prefix); it != values_.end() && found.size() < most; ++it) {
    if (!it->first.starts_with(prefix)) break;
    if (it->first.size() <= longest) found.push_back(it->first.substr(prefix.size()));
  }
  return found;
}

}  // namespace pdsim
