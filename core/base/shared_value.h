// SharedValue: an immutable value with shared owners, or no value. Copies are cheap; comparison is by value.
#pragma once

#include <memory>
#include <utility>

namespace pdsim {

template <class T>
class SharedValue {
 public:
  SharedValue() = default;
  SharedValue(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  // Whether it holds a value.
  explicit operator bool() const { return value_ != nullptr; }
  // Returns a default-constructed value when it holds none.
  const T& operator*() const {
    static const T none{};
    return value_ != nullptr ? *value_ : none;
  }
  const T* operator->() const { return &**this; }
  bool operator==(const SharedValue& other) const { return value_ == other.value_ || **this == *other; }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace pdsim
