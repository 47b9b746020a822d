#include "core/store/prefix_store.h"

#include <vector>

namespace pdsim {
namespace {
std::vector<std::string> joined(const std::string& prefix, std::span<const std::string> keys) {
  std::vector<std::string> whole;
  whole.reserve(keys.size());
  for (const std::string& key : keys) whole.push_back(prefix + key);
  return whole;
}
}  // namespace

Status PrefixStore::set(std::string_view key, std::string_view value) {
  return base_.set(std::string(prefix_).append(key), value);
}
Result<std::string> PrefixStore::get(std::string_view key) { return base_.get(std::string(prefix_).append(key)); }
Result<std::int64_t> PrefixStore::add(std::string_view key, std::int64_t delta) {
  return base_.add(std::string(prefix_).append(key), delta);
}
Result<std::string> PrefixStore::compare_set(std::string_view key, std::string_view expected,
                                             std::string_view desired) {
  return base_.compare_set(std::string(prefix_).append(key), expected, desired);
}
Result<bool> PrefixStore::check(std::span<const std::string> keys) { return base_.check(joined(prefix_, keys)); }
Status PrefixStore::wait(std::span<const std::string> keys, Time timeout) {
  return base_.wait(joined(prefix_, keys), timeout);
}
Result<bool> PrefixStore::delete_key(std::string_view key) {
  return base_.delete_key(std::string(prefix_).append(key));
}
Result<std::int64_t> PrefixStore::num_keys() { return base_.num_keys(); }
Status PrefixStore::append(std::string_view key, std::string_view value) {
  return base_.append(std::string(prefix_).append(key), value);
}
Time PrefixStore::timeout() const { return base_.timeout(); }
void PrefixStore::set_timeout(Time t) { base_.set_timeout(t); }

}  // namespace pdsim
