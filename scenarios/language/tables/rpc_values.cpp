// How arguments of remote functions are read from a file (bind.h).
#include "scenarios/language/document/scalars.h"
#include "scenarios/language/tables/bind.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::language::binding {
namespace {

RpcArgument scalar_argument(const Node& node) {
  RpcArgument value;
  const auto truth = read_boolean(node.text);
  const auto number = node.quoted ? std::nullopt : read_decimal(node.text);
  if (!node.quoted && truth) {
    value.kind = RpcArgument::Kind::boolean;
    value.boolean = *truth;
  } else if (number && node.text.find_first_of(".eE") == std::string::npos) {
    value.kind = RpcArgument::Kind::integer;
    value.integer = static_cast<std::int64_t>(*number);
  } else if (number) {
    value.kind = RpcArgument::Kind::decimal;
    value.decimal = *number;
  } else {
    value.kind = RpcArgument::Kind::text;
    value.text = node.text;
  }
  return value;
}

RpcArgument rpc_argument(const Node& node) {
  RpcArgument value;
  if (node.is_scalar()) value = scalar_argument(node);
  if (node.is_list()) value.kind = RpcArgument::Kind::list;
  for (const Node& item : node.items) value.items.push_back(rpc_argument(item));
  if (const Node* rref = node.find("rref")) {
    value.kind = RpcArgument::Kind::rref;
    value.text = rref->text;
  } else if (const Node* tensor = node.find("tensor")) {
    value.kind = RpcArgument::Kind::tensor;
    for (const Node& element : tensor->items) value.tensor.push_back(read_decimal(element.text).value_or(0));
  }
  value.mark = node.mark;
  return value;
}

}  // namespace

void assign(const Key&, const Node& value, std::vector<RpcArgument>& out) {
  out.clear();
  for (const Node& item : value.items) out.push_back(rpc_argument(item));
}

std::string written(const std::vector<RpcArgument>&) { return ""; }

}  // namespace pdsim::scenarios::language::binding
