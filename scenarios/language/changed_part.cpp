#include "scenarios/language/changed_part.h"

#include "scenarios/language/document/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios {
namespace {

using language::Entry;
using language::Node;

class Comparison {
 public:
  explicit Comparison(const std::vector<std::string>& free) : free_(free) {}

  std::optional<ChangedPart> run(const Node& now, const Node& then) {
    compare(now, then, "", now.mark);
    return std::move(first_);
  }

 private:
  void compare(const Node& now, const Node& then, const std::string& path, const Mark& mark) {
    if (now.is_map() && then.is_map()) return maps(now, then, path, mark);
    if (now.is_list() && then.is_list()) return lists(now, then, path, mark);
    if (now.kind != then.kind || now.text != then.text) found({path, now.mark.line > 0 ? now.mark : mark, emit_inline(then)});
  }

  void maps(const Node& now, const Node& then, const std::string& path, const Mark& mark) {
    for (const Entry& entry : now.entries) {
      const std::string at = below(path, entry.key);
      if (is_free(at)) continue;
      const Node* before = then.find(entry.key);
      if (before != nullptr)
        compare(entry.value, *before, at, entry.mark);
      else if (holds_free(at) && entry.value.is_map())
        maps(entry.value, empty_map(), at, entry.mark);
      else
        found({at, entry.mark, {}, false, true});
    }
    for (const Entry& entry : then.entries) {
      const std::string at = below(path, entry.key);
      if (is_free(at) || now.find(entry.key) != nullptr) continue;
      if (holds_free(at) && entry.value.is_map())
        maps(empty_map(), entry.value, at, mark);
      else
        found({at, mark, emit_inline(entry.value), true});
    }
  }

  void lists(const Node& now, const Node& then, const std::string& path, const Mark& mark) {
    for (std::size_t i = 0; i < std::max(now.items.size(), then.items.size()); ++i) {
      const std::string at = fmt::format("{}[{}]", path, i);
      if (i >= then.items.size())
        found({at, now.items[i].mark, {}, false, true});
      else if (i >= now.items.size())
        found({at, mark, emit_inline(then.items[i]), true});
      else
        compare(now.items[i], then.items[i], at, mark);
    }
  }

  // By position; what is gone has none of its own, and comes last.
  void found(ChangedPart part) {
    const auto place = [](const ChangedPart& p) { return std::pair(p.is_gone ? 1 : 0, std::pair(p.mark.line, p.mark.column)); };
    if (!first_ || place(part) < place(*first_)) first_ = std::move(part);
  }

  static Node empty_map() {
    Node map;
    map.kind = Node::Kind::map;
    return map;
  }
  static std::string below(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }
  bool is_free(const std::string& path) const { return std::find(free_.begin(), free_.end(), path) != free_.end(); }
  bool holds_free(const std::string& path) const {
    return std::any_of(free_.begin(), free_.end(), [&](const std::string& one) { return one.starts_with(path + "."); });
  }

  const std::vector<std::string>& free_;
  std::optional<ChangedPart> first_;
};

}  // namespace

std::optional<ChangedPart> first_change(const std::string& text, const std::string& original,
                                        const std::vector<std::string>& free) {
  language::Problems problems;
  const std::optional<Node> now = language::parse(text, problems), then = language::parse(original, problems);
  if (!now || !then) return std::nullopt;
  return Comparison(free).run(*now, *then);
}

}  // namespace pdsim::scenarios
