// The contents of a dump of PyTorch, from a pickle or from JSON: numbers, texts, lists and dictionaries.
//
//   nodes    are in one list and refer to each other by number: lists may share parts, as in pickles, and nothing recurses
//   texts    are parts of the source, which the tree owns, or of its `texts`
//   cycles   are possible (a hostile pickle); readers descend a fixed number of levels
//   limits   at most most_nodes nodes of 24 bytes and most_items members of lists and dictionaries of 4
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pdsim::scenarios::pytorch {

using NodeId = std::uint32_t;

// A part of Tree::items.
struct Items {
  std::uint32_t begin = 0, size = 0, capacity = 0;
};
struct List : Items {};  // tuples too
struct Dict : Items {};  // key, value, key, value ...

// Nothing, a truth value, an integer, a real number, a text (bytes too), a list, a dictionary.
using Node = std::variant<std::monostate, bool, std::int64_t, double, std::string_view, List, Dict>;

struct Tree {
  static constexpr std::size_t most_nodes = std::size_t{1} << 23, most_items = std::size_t{1} << 26;

  std::unique_ptr<const std::string> source;
  std::deque<std::string> texts;  // those not contained verbatim in the source
  std::vector<Node> nodes;
  std::vector<NodeId> items;
  NodeId root = 0;

  // Cost: amortised, one step for each of `more`.
  void append(Items& to, std::span<const NodeId> more);
  std::span<const NodeId> of(const Items& all) const { return std::span(items).subspan(all.begin, all.size); }
};

// One node of a tree that outlives it.
class Value {
 public:
  explicit Value(const Tree& tree) : Value(tree, tree.root) {}
  Value(const Tree& tree, NodeId id) : tree_(&tree), id_(id) {}

  NodeId id() const { return id_; }
  bool is_none() const { return std::holds_alternative<std::monostate>(node()); }
  std::optional<std::string_view> text() const;
  std::optional<bool> truth() const;
  std::optional<std::int64_t> integer() const;  // a truth value does not count as one
  std::optional<std::span<const NodeId>> list() const;
  std::optional<std::span<const NodeId>> dict() const;
  Value at(NodeId id) const { return {*tree_, id}; }
  // For a dictionary: the value of this key; the last one, as in Python, where a key occurs twice. Cost: its length.
  std::optional<Value> find(std::string_view key) const;
  // "a list", "the text `x`": for error messages.
  std::string kind() const;

 private:
  const Node& node() const { return tree_->nodes[id_]; }
  const Tree* tree_;
  NodeId id_;
};

}  // namespace pdsim::scenarios::pytorch
