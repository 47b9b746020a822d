// What a dump of PyTorch holds, whether it came as a pickle or as JSON: numbers, texts, lists and dictionaries.
//
//   nodes    lie in one list and name each other by number: lists may share parts, as pickles do, and nothing recurses
//   cycles   can be there (a hostile pickle); readers go down by a fixed number of levels
//   limits   at most most_nodes of them, about 160 MiB
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pdsim::scenarios::pytorch {

using NodeId = std::uint32_t;

struct List {  // tuples too
  std::vector<NodeId> items;
};
struct Dict {
  std::vector<NodeId> items;  // key, value, key, value ...
};
// Nothing, a truth value, an integer, a real number, a text (bytes too), a list, a dictionary.
using Node = std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Dict>;

struct Tree {
  static constexpr std::size_t most_nodes = std::size_t{1} << 22;
  std::vector<Node> nodes;
  NodeId root = 0;
};

// One node of a tree that outlives it.
class Value {
 public:
  explicit Value(const Tree& tree) : Value(tree, tree.root) {}
  Value(const Tree& tree, NodeId id) : tree_(&tree), id_(id) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(node()); }
  const std::string* text() const { return std::get_if<std::string>(&node()); }
  std::optional<bool> truth() const;
  std::optional<std::int64_t> integer() const;  // a truth value counts as none
  const List* list() const { return std::get_if<List>(&node()); }
  const Dict* dict() const { return std::get_if<Dict>(&node()); }
  Value at(NodeId id) const { return {*tree_, id}; }
  // Of a dictionary: the value of this key; the last one, as Python has it, where a key stands twice. Cost: its length.
  std::optional<Value> find(std::string_view key) const;
  // "a list", "the text `x`": for error messages.
  std::string kind() const;

 private:
  const Node& node() const { return tree_->nodes[id_]; }
  const Tree* tree_;
  NodeId id_;
};

}  // namespace pdsim::scenarios::pytorch
