#include "core/rpc/value.h"

#include <fmt/format.h>

#include <array>

namespace pdsim {

RpcValue::RpcValue() = default;
RpcValue::RpcValue(const RpcValue& other) = default;
RpcValue::RpcValue(RpcValue&& other) noexcept = default;
RpcValue& RpcValue::operator=(const RpcValue& other) = default;
RpcValue& RpcValue::operator=(RpcValue&& other) noexcept = default;
RpcValue::~RpcValue() = default;

Result<RpcValue> RpcObject::copy() const {
  return rpc_exception("TypeError", fmt::format("cannot pickle '{}' object", type()));
}

std::string type_name(const RpcValue& value) {
  constexpr std::array<std::string_view, 9> names{"None", "bool", "int", "float", "str", "Tensor", "RRef", "", "list"};
  if (value.is<std::shared_ptr<RpcObject>>()) return value.as<std::shared_ptr<RpcObject>>()->type();
  return std::string(names[value.body.index()]);
}

Error rpc_exception(std::string type, std::string text) {
  return {Code::program_raised, std::move(text), {{"exception", std::move(type)}}};
}

std::string exception_type(const Error& error) {
  const std::string_view type = fact(error.facts, "exception");
  return type.empty() ? "RuntimeError" : std::string(type);
}

std::string python_text(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string quoted(1, quote);
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == quote || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + quote;
}

}  // namespace pdsim
