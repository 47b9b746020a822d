// A store in the memory of one process, for ranks that are threads.
#pragma once

#include "core/store/store.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

namespace pdsim::testing {

struct SharedMap {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string, std::less<>> values;
};

class SharedMapStore final : public Store {
 public:
  explicit SharedMapStore(SharedMap& map) : map_(map) {}
  Status set(std::string_view key, std::string_view value) override;
  Result<std::string> get(std::string_view key) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override;
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override;
  Result<bool> check(std::span<const std::string> keys) override;
  Status wait(std::span<const std::string> keys, Time timeout) override;
  Result<bool> delete_key(std::string_view key) override;
  Result<std::int64_t> num_keys() override;
  Status append(std::string_view key, std::string_view value) override;

 private:
  SharedMap& map_;
};

}  // namespace pdsim::testing
