#include "scenarios/records/pytorch/forms/json.h"

#include "scenarios/records/pytorch/forms/pickle.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace pdsim::scenarios::pytorch {
namespace {

using PlainJson = nlohmann::json;

// Takes what the parser finds, one piece after the other.
class Builder final : public nlohmann::json_sax<PlainJson> {
 public:
  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(static_cast<std::int64_t>(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return add(static_cast<double>(value));
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add_text(value); }
  bool binary(binary_t&) override { return refuse("it holds binary data"); }
  bool start_object(std::size_t) override { return open(Dict{}); }
  bool key(string_t& value) override { return add_text(value); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(List{}); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return refuse(fmt::format("invalid JSON at byte {}", position));
  }

  Tree tree;
  std::string problem;

 private:
  static constexpr std::size_t most_levels = 64;

  bool refuse(std::string why) {
    problem = std::move(why);
    return false;
  }
  // Equal texts are one node: dumps name the same files and members again and again.
  bool add_text(const std::string& text) {
    if (const auto known = known_.find(text); known != known_.end()) return add_member(known->second);
    const std::string_view kept = tree.texts.emplace_back(text);
    known_.emplace(kept, static_cast<NodeId>(tree.nodes.size()));
    return add(kept);
  }
  bool add(Node node) {
    if (tree.nodes.size() >= Tree::most_nodes)
      return refuse(fmt::format("it holds more than {} values", Tree::most_nodes));
    tree.nodes.push_back(node);
    return add_member(static_cast<NodeId>(tree.nodes.size() - 1));
  }
  bool add_member(NodeId id) {
    if (tree.items.size() + members_.size() >= Tree::most_items)
      return refuse(fmt::format("its lists hold more than {} values", Tree::most_items));
    members_.push_back(id);
    return true;
  }
  bool open(Node node) {
    if (open_.size() >= most_levels) return refuse(fmt::format("it is nested deeper than {} levels", most_levels));
    if (!add(node)) return false;
    open_.push_back(members_.size());
    return true;
  }
  // The values added since it was opened are its members.
  bool close() {
    const std::size_t from = open_.back();
    open_.pop_back();
    Node& node = tree.nodes[members_[from - 1]];
    Items* items = std::get_if<List>(&node);
    if (items == nullptr) items = std::get_if<Dict>(&node);
    tree.append(*items, std::span(members_).subspan(from));
    members_.resize(from);
    return true;
  }

  std::vector<NodeId> members_;    // of the root and of all that is open, one behind the other
  std::vector<std::size_t> open_;  // where the members of each begin
  std::unordered_map<std::string_view, NodeId> known_;
};

}  // namespace

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

Result<Tree> read_json(std::string_view text) {
  if (text.size() > most_pickle_bytes)
    return Error{Code::input_invalid, fmt::format("a text of {} bytes is larger than 256MiB", text.size()), {}};
  Builder builder;
  if (!PlainJson::sax_parse(text.begin(), text.end(), &builder))
    return Error{Code::input_invalid, builder.problem.empty() ? "it is not JSON" : builder.problem, {}};
  return std::move(builder.tree);
}

}  // namespace pdsim::scenarios::pytorch
