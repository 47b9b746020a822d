// KeyTable: the keys and values of a store that lives in one memory; what never waits of the Store operations.
//
//   order    sorted by key, so that listing is the same everywhere
//   threads  none of its own: the owner locks
#pragma once

#include "core/base/result.h"
#include "core/store/log_records.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

class KeyTable {
 public:
  void set(std::string_view key, std::string_view value);
  const std::string* find(std::string_view key) const;  // null: not set
  Result<std::int64_t> add(std::string_view key, std::int64_t delta);
  std::string compare_set(std::string_view key, std::string_view expected, std::string_view desired);
  void append(std::string_view key, std::string_view value);
  bool erase(std::string_view key);
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }

  std::vector<std::string> missing(std::span<const std::string> keys) const;
  // The keys with `prefix`, without it; at most `most`.
  std::vector<std::string> keys(std::string_view prefix, std::size_t most) const;

 private:
  KeyValues values_;
};

}  // namespace pdsim
