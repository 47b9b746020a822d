// RpcValue: an argument or result of a remote call: None, numbers, texts, tensors, references to remote values, objects, and
// lists of them.
//
//   names    types are named as in Python, since its users read the errors: int, float, str, Tensor, RRef, list
//   copies   share tensors and objects; values sent to another worker are copied, except objects, which stay with their owner
#pragma once

#include "core/base/result.h"
#include "core/nn/tensor.h"
#include "core/rpc/rref.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace pdsim {

struct RpcValue;
using RpcList = std::vector<RpcValue>;

// An object that lives at the worker that created it, and is reached by methods ("Counter.step" of RpcFunctions).
class RpcObject {
 public:
  virtual ~RpcObject() = default;
  virtual std::string type() const = 0;
  // The result of its to_here() on another worker. Error: program_raised, a TypeError, where it cannot be sent.
  virtual Result<RpcValue> copy() const;
};

struct RpcValue {
  using Body = std::variant<std::monostate, bool, std::int64_t, double, std::string, nn::Tensor, RRef,
                            std::shared_ptr<RpcObject>, RpcList>;
  Body body;

  // Compiled once, in value.cpp: lists of lists of every kind make them long.
  RpcValue();
  RpcValue(const RpcValue& other);
  RpcValue(RpcValue&& other) noexcept;
  RpcValue& operator=(const RpcValue& other);
  RpcValue& operator=(RpcValue&& other) noexcept;
  ~RpcValue();

  RpcValue(bool value) : body(value) {}  // NOLINT: each of these is a value
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) RpcValue(T value)
      : body(static_cast<std::int64_t>(value)) {}                         // NOLINT
  RpcValue(double value) : body(value) {}                                 // NOLINT
  RpcValue(std::string value) : body(std::move(value)) {}                 // NOLINT
  RpcValue(const char* value) : body(std::string(value)) {}               // NOLINT
  RpcValue(nn::Tensor value) : body(std::move(value)) {}                  // NOLINT
  RpcValue(RRef value) : body(std::move(value)) {}                        // NOLINT
  RpcValue(std::shared_ptr<RpcObject> value) : body(std::move(value)) {}  // NOLINT
  template <class T>
  requires std::is_base_of_v<RpcObject, T> RpcValue(std::shared_ptr<T> value)
      : body(std::shared_ptr<RpcObject>(std::move(value))) {}  // NOLINT
  RpcValue(RpcList value) : body(std::move(value)) {}          // NOLINT

  template <class T>
  bool is() const {
    return std::holds_alternative<T>(body);
  }
  // For a value that is a T.
  template <class T>
  const T& as() const {
    return std::get<T>(body);
  }
};

// "None", "bool", "int", "float", "str", "Tensor", "RRef", "list", or the object's own.
std::string type_name(const RpcValue& value);

// An exception of a remote function, with Python's name of its type, and its text.
Error rpc_exception(std::string type, std::string text);
// The type of such an error; RuntimeError for every other.
std::string exception_type(const Error& error);
// As Python's repr() writes a text.
std::string python_text(std::string_view text);

}  // namespace pdsim
