// RpcFunctions: the functions a worker offers to others: C++ functions with names, typed parameters and a result.
//
//   RpcFunctions functions;
//   functions.add("add(a, b)", [](std::int64_t a, std::int64_t b) { return a + b; });
//   functions.add("fail(text)", [](const std::string& text) -> Result<RpcValue> { return rpc_exception("ValueError", text); });
//   functions.add("Counter(start)", [](std::int64_t start) { return std::make_shared<Counter>(start); });
//   functions.add("Counter.step(self, by)", [](Counter& self, std::int64_t by) { return self.count += by; });
//
//   parameters  bool, whole numbers, double (takes whole numbers too), std::string, nn::Tensor, RRef, RpcList, RpcValue (takes
//               anything), or an object by reference. An Rpc& before them is the worker's own, for calls from within
//   result      one of these, void, Status or a Result
//   checks      number and types of the arguments, at the callee; a caller gets a TypeError with the parameter's name
//   errors      an Error returned by a function is an exception at its caller: of the type that rpc_exception() names, otherwise
//               RuntimeError
#pragma once

#include "core/base/check.h"
#include "core/rpc/value.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace pdsim {

class Rpc;

struct RpcFunction {
  std::string name;
  std::vector<std::string> parameters;
  std::function<Result<RpcValue>(const RpcFunction&, Rpc&, std::span<const RpcValue>)> run;
};

// Argument `place` of function `f` is not a `wanted`.
Error wrong_type(const RpcFunction& f, std::size_t place, std::string_view wanted, const RpcValue& given);
// Python's wording for too few and too many arguments; ok otherwise.
Status check_argument_count(const RpcFunction& f, std::size_t given);

// Converts a value to a parameter of type T: null where it does not fit. Objects are taken by reference.
template <class T>
struct RpcParameter;

template <class T>
struct HeldParameter {
  static const T* of(const RpcValue& value) { return std::get_if<T>(&value.body); }
};
template <>
struct RpcParameter<bool> : HeldParameter<bool> {
  static constexpr std::string_view name = "bool";
};
template <>
struct RpcParameter<std::string> : HeldParameter<std::string> {
  static constexpr std::string_view name = "str";
};
template <>
struct RpcParameter<nn::Tensor> : HeldParameter<nn::Tensor> {
  static constexpr std::string_view name = "Tensor";
};
template <>
struct RpcParameter<RRef> : HeldParameter<RRef> {
  static constexpr std::string_view name = "RRef";
};
template <>
struct RpcParameter<RpcList> : HeldParameter<RpcList> {
  static constexpr std::string_view name = "list";
};
template <>
struct RpcParameter<RpcValue> {
  static constexpr std::string_view name = "object";
  static const RpcValue* of(const RpcValue& value) { return &value; }
};
template <std::integral T>
requires(!std::same_as<T, bool>) struct RpcParameter<T> : HeldParameter<std::int64_t> {
  static constexpr std::string_view name = "int";
};
template <std::floating_point T>
struct RpcParameter<T> {
  static constexpr std::string_view name = "float";
  struct Number {
    bool given;
    double value;
    explicit operator bool() const { return given; }
    double operator*() const { return value; }
  };
  static Number of(const RpcValue& value) {
    if (value.is<double>()) return {true, value.as<double>()};
    return {value.is<std::int64_t>(), value.is<std::int64_t>() ? static_cast<double>(value.as<std::int64_t>()) : 0.0};
  }
};
template <std::derived_from<RpcObject> T>
struct RpcParameter<T> {
  static constexpr std::string_view name = "object";
  static T* of(const RpcValue& value) {
    const auto* held = std::get_if<std::shared_ptr<RpcObject>>(&value.body);
    return held != nullptr ? dynamic_cast<T*>(held->get()) : nullptr;
  }
};

template <class F>
struct RpcSignature : RpcSignature<decltype(&F::operator())> {};
template <class R, class... A>
struct RpcSignature<R (*)(A...)> {
  using Result = R;
  using Arguments = std::tuple<A...>;
};
template <class C, class R, class... A>
struct RpcSignature<R (C::*)(A...) const> : RpcSignature<R (*)(A...)> {};
template <class C, class R, class... A>
struct RpcSignature<R (C::*)(A...)> : RpcSignature<R (*)(A...)> {};

class RpcFunctions {
 public:
  // `signature` names the function and its parameters, without the Rpc&; their number must match `f` (a bug otherwise).
  template <class F>
  RpcFunctions& add(std::string_view signature, F f) {
    using Arguments = typename RpcSignature<F>::Arguments;
    constexpr bool takes_rpc = leads_with_rpc<Arguments>();
    constexpr std::size_t count = std::tuple_size_v<Arguments> - (takes_rpc ? 1 : 0);
    insert(signature, count).run = [f = std::move(f)](const RpcFunction& self, Rpc& rpc,
                                                      std::span<const RpcValue> given) mutable {
      return call<takes_rpc, Arguments>(f, self, rpc, given, std::make_index_sequence<count>());
    };
    return *this;
  }

  const RpcFunction* find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  RpcFunction& insert(std::string_view signature, std::size_t count);

  template <class Arguments>
  static constexpr bool leads_with_rpc() {
    if constexpr (std::tuple_size_v<Arguments> == 0)
      return false;
    else
      return std::is_same_v<std::tuple_element_t<0, Arguments>, Rpc&>;
  }

  template <bool takes_rpc, class Arguments, class F, std::size_t... i>
  static Result<RpcValue> call(F& f, const RpcFunction& function, Rpc& rpc, std::span<const RpcValue> given,
                               std::index_sequence<i...>) {
    PDSIM_TRY(check_argument_count(function, given.size()));
    constexpr std::size_t shift = takes_rpc ? 1 : 0;
    Status status;
    (void)(check<std::remove_cvref_t<std::tuple_element_t<i + shift, Arguments>>>(status, function, i, given[i]) &&
           ...);
    if (!status.ok()) return status.error();
    if constexpr (takes_rpc)
      return value_of(
          [&]() -> decltype(auto) { return f(rpc, cast<std::tuple_element_t<i + shift, Arguments>>(given[i])...); });
    else
      return value_of([&]() -> decltype(auto) { return f(cast<std::tuple_element_t<i, Arguments>>(given[i])...); });
  }

  template <class T>
  static bool check(Status& status, const RpcFunction& function, std::size_t place, const RpcValue& given) {
    if (RpcParameter<T>::of(given)) return true;
    status = wrong_type(function, place, RpcParameter<T>::name, given);
    return false;
  }

  template <class A>
  static A cast(const RpcValue& given) {
    return static_cast<A>(*RpcParameter<std::remove_cvref_t<A>>::of(given));
  }

  template <class Run>
  static Result<RpcValue> value_of(Run run) {
    using R = std::remove_cvref_t<decltype(run())>;
    if constexpr (std::is_void_v<R>) {
      run();
      return RpcValue();
    } else if constexpr (std::is_same_v<R, Status>) {
      PDSIM_TRY(run());
      return RpcValue();
    } else if constexpr (requires(R r) { r.ok(); }) {
      auto result = run();
      if (!result.ok()) return result.error();
      return RpcValue(std::move(*result));
    } else {
      return RpcValue(run());
    }
  }

  std::map<std::string, RpcFunction, std::less<>> functions_;
};

}  // namespace pdsim
