// PrefixStore: the keys "prefix/key" of another store; nests. Each process group sees the store through one of its own.
//
//   base     timeout(), set_timeout() and num_keys() are the base store's; closing it is left to the owner of the base
//   base     timeout(), set_timeout() and num_keys() are the base store's; the owner of the base closes it
#pragma once

#include "core/store/store.h"

namespace pdsim {

class PrefixStore final : public Store {
 public:
  PrefixStore(std::string_view prefix, Store& base) : prefix_(prefix), base_(base) { prefix_ += '/'; }

  Status set(std::string_view key, std::string_view value) override;
  Result<std::string> get(std::string_view key) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override;
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override;
  Result<bool> check(std::span<const std::string> keys) override;
  Status wait(std::span<const std::string> keys, Time timeout) override;
  Result<bool> delete_key(std::string_view key) override;
  Result<std::int64_t> num_keys() override;
  Status append(std::string_view key, std::string_view value) override;
  Time timeout() const override;
  void set_timeout(Time t) override;

 private:
  std::string prefix_;
  Store& base_;
};

}  // namespace pdsim
