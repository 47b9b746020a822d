// Result and Status: an outcome that a scenario can cause is a value, never an exception.
//
//   Error    one code from the table in errors.h, one sentence, and facts as key-value pairs (rank, group, seq, peer ...)
//   Status   ok, or an Error
//   Result   a value, or an Error; value() on an error is a bug in pdsim and aborts
#pragma once

#include "core/base/check.h"
#include "core/base/errors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim {

struct Fact {
  std::string key;
  std::string value;
  bool operator==(const Fact&) const = default;
};
using Facts = std::vector<Fact>;

// The value of `key`, or an empty text.
std::string_view fact(const Facts& facts, std::string_view key);
// Parses a fact as a whole number; nothing when the fact is absent or is not a whole number.
std::optional<std::int64_t> fact_number(const Facts& facts, std::string_view key);
// The values of all facts with this key, in order.
std::vector<std::string> all_facts(const Facts& facts, std::string_view key);

struct Error {
  Code code = Code::internal;
  std::string message;
  Facts facts;
  bool operator==(const Error&) const = default;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: an error is a status
  static Status ok_status() { return {}; }
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    PDSIM_CHECK(error_.has_value(), "error() of a status that is ok");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place, std::move(value)) {}  // NOLINT
  Result(Error error) : status_(std::move(error)) {}            // NOLINT
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T& value() & {
    PDSIM_CHECK(ok(), error().message.c_str());
    return *value_;
  }
  const T& value() const& {
    PDSIM_CHECK(ok(), error().message.c_str());
    return *value_;
  }
  T&& value() && {
    PDSIM_CHECK(ok(), error().message.c_str());
    return *std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return status_.error(); }
  Status status() const { return status_; }

 private:
  std::optional<T> value_;
  Status status_;  // ok where there is a value
};

}  // namespace pdsim

// Returns from the enclosing function when `expression`, a Status, is an error.
#define PDSIM_TRY(expression)                                                                            \
  do {                                                                                                   \
    if (::pdsim::Status pdsim_status_ = (expression); !pdsim_status_.ok()) return pdsim_status_.error(); \
  } while (false)
