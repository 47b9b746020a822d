// The functions that workers of a scenario register (language/tables/rpc_functions.h), and the values that travel.
#include "scenarios/program/rpc_session.h"

#include "core/nn/functional.h"
#include "scenarios/language/tables/rpc_functions.h"
#include "scenarios/program/operations/lifetime.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace pdsim::scenarios::operations {
namespace {

using nn::Tensor;

class Counter final : public RpcObject {
 public:
  explicit Counter(std::int64_t start) : count_(start) {}
  std::string type() const override { return "Counter"; }
  Result<RpcValue> copy() const override { return RpcValue(count_); }
  std::int64_t step(std::int64_t by) { return count_ += by; }

 private:
  std::int64_t count_;
};

Result<RpcValue> add_numbers(const RpcValue& a, const RpcValue& b) {
  if (a.is<std::int64_t>() && b.is<std::int64_t>()) return RpcValue(a.as<std::int64_t>() + b.as<std::int64_t>());
  const auto number = [](const RpcValue& v) -> std::optional<double> {
    if (v.is<std::int64_t>()) return static_cast<double>(v.as<std::int64_t>());
    return v.is<double>() ? std::optional(v.as<double>()) : std::nullopt;
  };
  const auto x = number(a), y = number(b);
  if (!x || !y)
    return rpc_exception("TypeError",
                         fmt::format("unsupported operand type(s) for +: '{}' and '{}'", type_name(a), type_name(b)));
  return RpcValue(*x + *y);
}

Result<RpcValue> compute_for(Session& s, const std::string& text) {
  const Result<Time> time = parse_time(text);
  if (!time.ok()) return rpc_exception("ValueError", time.error().message);
  pass_time(s, *time);
  return RpcValue();
}

Result<RpcValue> forward_through(Rpc& rpc, const RRef& weight, const Tensor& input) {
  const Result<RpcValue> held = rpc.local_value(weight);
  if (!held.ok()) return held.error();
  if (!held->is<Tensor>())
    return rpc_exception("TypeError", fmt::format("forward(): weight must be Tensor, not {}", type_name(*held)));
  Result<Tensor> product = nn::mul(held->as<Tensor>(), input);
  if (!product.ok()) return rpc_exception("RuntimeError", product.error().message);
  return RpcValue(std::move(*product));
}

void add_row(RpcFunctions& functions, Session& s, const language::RpcFunctionRow& row) {
  const std::string_view name = row.name, signature = row.signature;
  if (name == "add") functions.add(signature, [](const RpcValue& a, const RpcValue& b) { return add_numbers(a, b); });
  if (name == "scale") functions.add(signature, [](const Tensor& tensor, double by) { return nn::scale(tensor, by); });
  if (name == "compute") functions.add(signature, [&s](const std::string& time) { return compute_for(s, time); });
  if (name == "fail")
    functions.add(signature,
                  [](const std::string& text) -> Result<RpcValue> { return rpc_exception("ValueError", text); });
  if (name == "call")
    functions.add(signature, [](Rpc& rpc, const std::string& worker, const std::string& function,
                                const RpcList& arguments) { return rpc.rpc_sync(worker, function, arguments); });
  if (name == "fetch") functions.add(signature, [](Rpc& rpc, const RRef& rref) { return rpc.to_here(rref); });
  if (name == "keep")
    functions.add(signature, [kept = std::make_shared<std::vector<RRef>>()](const RRef& rref) -> Result<RpcValue> {
      kept->push_back(rref);
      return RpcValue();
    });
  if (name == "Counter") functions.add(signature, [](std::int64_t start) { return std::make_shared<Counter>(start); });
  if (name == "Counter.step") functions.add(signature, [](Counter& self, std::int64_t by) { return self.step(by); });
  if (name == "parameter")
    functions.add(signature, [](const Tensor& tensor) { return tensor.clone().set_requires_grad(true); });
  if (name == "forward")
    functions.add(signature, [](Rpc& rpc, const RRef& weight, const Tensor& input) {
      return forward_through(rpc, weight, input);
    });
}

Result<RpcValue> rpc_value(const RpcSession& rpc, const RpcArgument& argument) {
  using Kind = RpcArgument::Kind;
  switch (argument.kind) {
    case Kind::none:
      return RpcValue();
    case Kind::boolean:
      return RpcValue(argument.boolean);
    case Kind::integer:
      return RpcValue(argument.integer);
    case Kind::decimal:
      return RpcValue(argument.decimal);
    case Kind::text:
      return RpcValue(argument.text);
    case Kind::tensor:
      return RpcValue(Tensor::from(argument.tensor, {static_cast<std::int64_t>(argument.tensor.size())}, DType::f64));
    case Kind::rref: {
      const auto found = rpc.rrefs.find(argument.text);
      if (found != rpc.rrefs.end()) return RpcValue(found->second);
      return Error{
          Code::invalid_argument, fmt::format("name '{}' is not defined", argument.text), {{"label", argument.text}}};
    }
    case Kind::list:
      break;
  }
  Result<RpcList> items = rpc_values(rpc, argument.items);
  if (!items.ok()) return items.error();
  return RpcValue(std::move(*items));
}

std::string number_text(double value) {
  std::string text = fmt::format("{:g}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

RpcFunctions rpc_functions_of(Session& s, std::span<const std::string> names) {
  RpcFunctions functions;
  for (const language::RpcFunctionRow& row : language::rpc_functions) {
    const std::string_view wanted = row.name.substr(0, row.name.find('.'));
    if (names.empty() || std::find(names.begin(), names.end(), wanted) != names.end()) add_row(functions, s, row);
  }
  return functions;
}

Result<RpcList> rpc_values(const RpcSession& rpc, std::span<const RpcArgument> arguments) {
  RpcList values;
  for (const RpcArgument& argument : arguments) {
    Result<RpcValue> value = rpc_value(rpc, argument);
    if (!value.ok()) return value.error();
    values.push_back(std::move(*value));
  }
  return values;
}

std::string rpc_text(const RpcValue& value) {
  if (value.is<bool>()) return value.as<bool>() ? "True" : "False";
  if (value.is<std::int64_t>()) return std::to_string(value.as<std::int64_t>());
  if (value.is<double>()) return number_text(value.as<double>());
  if (value.is<std::string>()) return value.as<std::string>();
  std::string items;
  const auto add = [&items](const std::string& item) { items += (items.empty() ? "" : ", ") + item; };
  if (value.is<Tensor>()) {
    for (const double element : value.as<Tensor>().values()) add(number_text(element));
    return fmt::format("[{}]", items);
  }
  if (value.is<RpcList>()) {
    for (const RpcValue& item : value.as<RpcList>()) add(rpc_text(item));
    return fmt::format("[{}]", items);
  }
  return type_name(value);
}

}  // namespace pdsim::scenarios::operations
