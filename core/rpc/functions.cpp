#include "core/rpc/functions.h"

#include <fmt/format.h>

namespace pdsim {

Error wrong_type(const RpcFunction& f, std::size_t place, std::string_view wanted, const RpcValue& given) {
  return rpc_exception("TypeError", fmt::format("{}() argument '{}' must be {}, not {}", f.name, f.parameters[place],
                                                wanted, type_name(given)));
}

Status check_argument_count(const RpcFunction& f, std::size_t given) {
  const std::size_t wanted = f.parameters.size();
  if (given == wanted) return {};
  if (given > wanted)
    return rpc_exception("TypeError", fmt::format("{}() takes {} positional argument{} but {} {} given", f.name, wanted,
                                                  wanted == 1 ? "" : "s", given, given == 1 ? "was" : "were"));
  std::string missing;
  for (std::size_t i = given; i < wanted; ++i) {
    const bool is_last = i + 1 == wanted;
    missing += i == given ? "" : is_last ? (wanted - given > 2 ? ", and " : " and ") : ", ";
    missing += fmt::format("'{}'", f.parameters[i]);
  }
  return rpc_exception("TypeError", fmt::format("{}() missing {} required positional argument{}: {}", f.name,
                                                wanted - given, wanted - given == 1 ? "" : "s", missing));
}

const RpcFunction* RpcFunctions::find(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

std::vector<std::string> RpcFunctions::names() const {
  std::vector<std::string> list;
  for (const auto& [name, function] : functions_) list.push_back(name);
  return list;
}

RpcFunction& RpcFunctions::insert(std::string_view signature, std::size_t count) {
  const std::size_t opening = signature.find('(');
  PDSIM_CHECK(opening != std::string_view::npos && signature.ends_with(')'), "a signature is written name(a, b)");
  RpcFunction function;
  function.name = std::string(signature.substr(0, opening));
  std::string_view rest = signature.substr(opening + 1, signature.size() - opening - 2);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(", ");
    function.parameters.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
  }
  PDSIM_CHECK(function.parameters.size() == count, "a signature names every parameter");
  const auto [place, is_new] = functions_.try_emplace(function.name, function);
  PDSIM_CHECK(is_new, "a function is registered once");
  return place->second;
}

}  // namespace pdsim
