// Store: the rendezvous key-value store, with c10d's semantics (get waits, add counts in decimal text).
//
//   get          waits until the key exists; store_timeout after timeout()
//   add          atomic counter kept as decimal text, a missing key counts from 0; returns the new value
//   compare_set  a missing key is set if `expected` is empty; returns the resulting value, or `expected` if nothing was
//                there
//   wait         until all keys exist
//   delete_key   true if it existed (FileStore always says true, as c10d's does)
//   threads      one thread per handle; open another handle for another thread
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pdsim {

class Store {
 public:
  virtual ~Store() = default;
  virtual Status set(std::string_view key, std::string_view value) = 0;
  virtual Result<std::string> get(std::string_view key) = 0;
  virtual Result<std::int64_t> add(std::string_view key, std::int64_t delta) = 0;
  virtual Result<std::string> compare_set(std::string_view key, std::string_view expected,
                                          std::string_view desired) = 0;
  virtual Result<bool> check(std::span<const std::string> keys) = 0;
  virtual Status wait(std::span<const std::string> keys, Time timeout) = 0;
  virtual Result<bool> delete_key(std::string_view key) = 0;
  virtual Result<std::int64_t> num_keys() = 0;
  virtual Status append(std::string_view key, std::string_view value) = 0;
  virtual Status close() { return {}; }

  virtual Time timeout() const { return timeout_; }
  virtual void set_timeout(Time t) { timeout_ = t; }

 private:
  Time timeout_{300'000'000'000'000};  // five minutes
};

}  // namespace pdsim
