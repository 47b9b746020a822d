#include "scenarios/language/document/settings.h"

#include "scenarios/language/check/shape_check.h"
#include "scenarios/language/document/scalars.h"
#include "scenarios/language/tables/key.h"
#include "scenarios/language/tables/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

constexpr std::array<std::string_view, 14> settable{
    "seed",          "world",     "mesh", "model", "ddp",  "fully_shard", "tensor_parallel",
    "data_parallel", "optimizer", "data", "batch", "loss", "program",     "faults"};

// Where a path has come to: a value, and what may stand there.
struct Place {
  Node* node = nullptr;
  const Key* key = nullptr;
};

class Walk {
 public:
  Walk(const Entry& setting, Problems& problems) : setting_(setting), problems_(problems) {}

  void apply(Node& root) {
    std::vector<std::string> segments(1);
    for (const char c : setting_.key) {
      if (c == '.') {
        segments.emplace_back();
      } else {
        segments.back() += c;
      }
    }
    const bool known = std::find(settable.begin(), settable.end(), segments[0]) != settable.end();
    if (!known) {
      fail(segments[0], "of the file", {settable.begin(), settable.end()});
      return;
    }
    Place place = child(root, document_group.keys, segments[0]);
    for (std::size_t i = 1; i < segments.size() && place.node != nullptr; ++i) {
      begin_ += segments[i - 1].size() + 1;
      place = step(place, segments[i]);
    }
    if (place.node != nullptr) *place.node = setting_.value;
  }

 private:
  Mark mark_of(const std::string& segment) const {
    Mark mark = setting_.mark;
    if (mark.width != static_cast<int>(setting_.key.size())) return mark;  // quoted: no guessing
    mark.column += static_cast<int>(begin_);
    mark.width = std::max(1, static_cast<int>(segment.size()));
    return mark;
  }

  Place fail(const std::string& segment, std::string_view where, const std::vector<std::string_view>& there,
             const Key* now = nullptr) {
    problems_.error(mark_of(segment), fmt::format("`{}` does not exist: no `{}` {}", setting_.key, segment, where),
                    now != nullptr ? renamed(*now) : suggestion(segment, there, "there are"));
    return {};
  }

  // A key of a section, made when it is not there yet.
  Place child(Node& map, std::span<const Key> keys, const std::string& segment) {
    const Key* key = find(keys, segment);
    for (Entry& entry : map.entries) {
      if (entry.key != segment) continue;
      entry.mark = mark_of(segment);
      return {&entry.value, key};
    }
    Entry entry{segment, mark_of(segment), {}};
    entry.value.kind = Node::Kind::map;
    entry.value.mark = entry.mark;
    map.entries.push_back(std::move(entry));
    return {&map.entries.back().value, key};
  }

  Place step(const Place& place, const std::string& segment) {
    switch (place.key->type) {
      case Type::group:
        return place.key->group->one_of.empty() ? in_section(place, segment)
                                                : in_choice(place, *place.key->group, segment);
      case Type::operations:
        return in_list(*place.node, operation_entry(), segment, "in the program");
      case Type::groups:
        if (!place.key->group->one_of.empty())
          return in_list(*place.node, *place.key->group, segment, fmt::format("in `{}`", place.key->name));
        break;
      case Type::named:
        return in_named(place, segment);
      default:
        break;
    }
    problems_.error(mark_of(segment),
                    fmt::format("`{}` does not exist: no `{}` below `{}`", setting_.key, segment, place.key->name),
                    fmt::format("set `{}` as a whole", place.key->name));
    return {};
  }

  Place in_section(const Place& place, const std::string& segment) {
    const Group& group = *place.key->group;
    if (place.node->is_scalar()) {
      problems_.error(
          mark_of(segment),
          fmt::format("`{}` does not exist: `{}` is `{}` here", setting_.key, place.key->name, place.node->text),
          fmt::format("set `{}` as a whole", place.key->name));
      return {};
    }
    if (find(group.keys, segment) == nullptr) {
      std::vector<std::string_view> names;
      for (const Key& key : group.keys) names.push_back(key.name);
      return fail(segment, fmt::format("in {}", group.title), names);
    }
    place.node->kind = Node::Kind::map;
    return child(*place.node, group.keys, segment);
  }

  Place in_named(const Place& place, const std::string& segment) {
    std::vector<std::string_view> names;
    for (Entry& entry : place.node->entries) {
      if (entry.key == segment) return entry.mark = mark_of(segment), Place{&entry.value, place.key->element};
      names.push_back(entry.key);
    }
    return fail(segment, fmt::format("in `{}`", place.key->name), names);
  }

  // An entry of a list, by its label, or by its operation where that is unique.
  Place in_list(Node& list, const Group& group, const std::string& segment, const std::string& where) {
    std::vector<std::string_view> names;
    std::vector<Node*> found;
    bool all_known = true;
    for (Node& item : list.items) {
      const Node* label = item.find("label");
      const std::string_view name = name_of(item, group);
      if (label != nullptr && label->is_scalar()) names.push_back(label->text);
      names.push_back(name);
      all_known = all_known && find(group.one_of, name) != nullptr;
      if (label != nullptr && label->text == segment) return entry_of(item, group, segment);
      if (name == segment) found.push_back(&item);
    }
    if (found.size() == 1) return entry_of(*found.front(), group, segment);
    if (found.empty() && !all_known) return {};  // the entry may be the one that the check of shapes reports
    if (found.empty()) return fail(segment, where, names, find_former(group.one_of, segment));
    problems_.error(mark_of(segment), fmt::format("`{}` names {} entries", setting_.key, found.size()),
                    fmt::format("give the intended `{}` a label, and use that label", segment));
    return {};
  }

  static std::string_view name_of(const Node& item, const Group& group) {
    if (item.is_scalar()) return item.text;
    for (const Entry& entry : item.entries)
      if (find(group.one_of, entry.key) != nullptr) return entry.key;
    return "";
  }

  // The entry itself; what follows is one of its options, or a key beside them.
  Place entry_of(Node& item, const Group& group, const std::string& segment) {
    entry_key_ = Key{.name = segment, .type = Type::group, .help = group.help, .group = &group};
    return {&item, &entry_key_};
  }

  Place in_choice(const Place& place, const Group& group, const std::string& segment) {
    Node& item = *place.node;
    if (item.is_scalar()) {
      Entry entry{item.text, item.mark, {}};
      entry.value.kind = Node::Kind::map;
      entry.value.mark = item.mark;
      Node map;
      map.kind = Node::Kind::map;
      map.mark = item.mark;
      map.entries.push_back(std::move(entry));
      item = std::move(map);
    }
    if (find(group.keys, segment) != nullptr) return child(item, group.keys, segment);
    const std::string name(name_of(item, group));
    const Key* row = find(group.one_of, name);
    Node* options = item.find(name);
    if (row == nullptr || options == nullptr) return {};  // told by the check of shapes
    if (segment == name) return {options, row};
    if (row->type != Type::group) return fail(segment, fmt::format("in `{}`", name), {});
    if (find(row->group->keys, segment) != nullptr) {
      if (options->is_null()) options->kind = Node::Kind::map;
      return child(*options, row->group->keys, segment);
    }
    Node* inner = options->find("do");
    if (inner != nullptr && inner->is_list())
      return in_list(*inner, operation_entry(), segment, fmt::format("in `{}`", name));
    std::vector<std::string_view> names;
    for (const Key& key : row->group->keys) names.push_back(key.name);
    for (const Key& key : group.keys) names.push_back(key.name);
    return fail(segment, fmt::format("in `{}`", name), names, find_former(row->group->keys, segment));
  }

  const Entry& setting_;
  Problems& problems_;
  std::size_t begin_ = 0;  // of the segment, within the path
  Key entry_key_{};
};

void replace(Node& root, const Node& with, std::string_view key) {
  for (const Entry& entry : with.entries)
    if (entry.key == key) root.entries.push_back(entry);
}

}  // namespace

Node base_of(const Node& root) {
  Node out;
  out.kind = Node::Kind::map;
  out.mark = root.mark;
  for (const Entry& entry : root.entries)
    if (entry.key != "variants") out.entries.push_back(entry);
  return out;
}

Node effective(const Node& root, const Entry& variant, Problems& problems) {
  Node out = base_of(root);
  if (const Node* settings = variant.value.find("set"); settings != nullptr)
    for (const Entry& setting : settings->entries) Walk(setting, problems).apply(out);
  replace(out, variant.value, "expect");
  replace(out, variant.value, "real");
  return out;
}

}  // namespace pdsim::scenarios::language
