// KeyTable: the keys and values of a store that lives in one memory; the Store operations that never wait.
//
//   order    sorted by key, so that listing is the same everywhere
//   bytes    the size of all keys and values, with a node of the tree for each; append is linear in the bytes it adds
//   threads  none of its own: the owner locks
#pragma once

#include "core/base/result.h"
#include "core/store/log_records.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

class KeyTable {
 public:
  static constexpr std::size_t node_bytes = sizeof(KeyValues::value_type) + 4 * sizeof(void*);

  void set(std::string_view key, std::string_view value);
  const std::string* find(std::string_view key) const;  // null: not set
  Result<std::int64_t> add(std::string_view key, std::int64_t delta);
  std::string compare_set(std::string_view key, std::string_view expected, std::string_view desired);
  void append(std::string_view key, std::string_view value);
  bool erase(std::string_view key);
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  std::size_t bytes() const { return texts_ + values_.size() * node_bytes; }

  std::vector<std::string> missing(std::span<const std::string> keys) const;
  // The keys with `prefix`, without it; at most `most`, and none longer than `longest` bytes.
  std::vector<std::string> keys(std::string_view prefix, std::size_t most,
                                std::size_t longest = std::string::npos) const;

 private:
  KeyValues values_;
  std::size_t texts_ = 0;
};

}  // namespace pdsim
