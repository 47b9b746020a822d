#include "scenarios/language/check/whole_parts.h"

#include "core/base/nearest.h"
#include "scenarios/language/build.h"
#include "scenarios/language/check/shape_check.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/sections.h"

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

// Facts stated by sections, against which others are checked.
struct Stated {
  std::string_view section;
  Fact fact;
};
constexpr std::array<Stated, 7> stated_facts{{{"world", Fact::world},
                                              {"world", Fact::ranks},
                                              {"model", Fact::model},
                                              {"data_parallel", Fact::data_parallel},
                                              {"program", Fact::names},
                                              {"program", Fact::calls},
                                              {"program", Fact::steps}}};

Node alone(const Node& item) {
  Node list;
  list.kind = Node::Kind::list;
  list.mark = item.mark;
  list.items.push_back(item);
  return list;
}

class Sieve {
 public:
  Sieve(const Node& document, Problems& problems) : document_(document), problems_(problems) {}

  WholeParts run() {
    out_.document.kind = Node::Kind::map;
    out_.document.mark = document_.mark;
    for (const Entry& entry : document_.entries) section(entry);
    for (const std::string_view required : {"world", "program"})
      if (document_.find(required) == nullptr) doubt(required);
    return std::move(out_);
  }

 private:
  void doubt(std::string_view section) {
    for (const Stated& row : stated_facts)
      if (row.section == section) problems_.doubt(row.fact);
  }

  void section(const Entry& entry) {
    const Key* key = find(document_group.keys, entry.key);
    if (key != nullptr && fits(entry.value, *key)) {
      out_.document.entries.push_back(entry);
      return;
    }
    out_.complete = false;
    if (key == nullptr) return doubt(meant_by(entry.key));
    Entry kept{entry.key, entry.mark, {}};
    kept.value.mark = entry.value.mark;
    if (entry.key == "program" && entry.value.is_list()) {
      problems_.doubt(Fact::calls);
      kept.value.kind = Node::Kind::list;
      operations(entry.value, *key, kept.value.items);
    } else if (entry.key == "expect" && entry.value.is_map()) {
      expectations(entry.value, *key, kept.value);
    } else if (entry.key == "world" && size_of_world(entry.value, *key, kept.value)) {
      problems_.doubt(Fact::world);
    } else {
      return doubt(entry.key);
    }
    out_.document.entries.push_back(std::move(kept));
  }

  static std::string_view meant_by(std::string_view unknown) {
    std::vector<std::string_view> names;
    for (const Key& key : document_group.keys) names.push_back(key.name);
    return nearest(unknown, std::span<const std::string_view>(names)).value_or("");
  }

  void operations(const Node& list, const Key& key, std::vector<Node>& out) {
    for (const Node& item : list.items) {
      if (fits(alone(item), key)) {
        out.push_back(item);
        continue;
      }
      const auto [entry, row] = chosen(item, operation_table());
      if (row == nullptr || states_name(item, row->name)) problems_.doubt(Fact::names);
      if (row == nullptr && operation_named(item.text) == nullptr) problems_.doubt(Fact::steps);
      if (row == nullptr || row->group == nullptr) continue;
      for (const Key& option : row->group->keys) {
        if (option.type != Type::operations) continue;
        problems_.doubt(Fact::steps);
        if (const Node* inner = entry->value.find(option.name))
          operations(*inner, option.has(as_around) ? key : option, out);
      }
    }
  }

  // Whether others may refer to what this operation names.
  static bool states_name(const Node& item, std::string_view operation) {
    const bool names = operation == "new_group" || operation == "forward";
    return names || !item.is_map() || entry_of(item, "label") != nullptr;
  }

  // Each expectation stands for itself, but for those that say more of the outcome or of the diagnosis.
  void expectations(const Node& map, const Key& key, Node& kept) {
    kept.kind = Node::Kind::map;
    for (const Entry& entry : map.entries) {
      const Key* row = find(key.group->keys, entry.key);
      if (row != nullptr && fits(entry.value, *row))
        kept.entries.push_back(entry);
      else if (row == nullptr || row->name == "diagnosis")
        problems_.doubt(Fact::diagnosis);
    }
    if (kept.find("outcome") == nullptr) problems_.doubt(Fact::outcome);
  }

  // A world whose size is stated once, completely and in shape keeps it, whatever else is wrong.
  static bool size_of_world(const Node& map, const Key& key, Node& kept) {
    kept.kind = Node::Kind::map;
    for (const std::string_view name : {"ranks", "nodes", "ranks_per_node"}) {
      const Entry* entry = entry_of(map, name);
      if (entry == nullptr) continue;
      if (!fits(entry->value, *find(key.group->keys, name))) return false;
      kept.entries.push_back(*entry);
    }
    const bool flat = kept.find("ranks") != nullptr;
    const bool nodes = kept.find("nodes") != nullptr && kept.find("ranks_per_node") != nullptr;
    return flat ? kept.entries.size() == 1 : nodes;
  }

  const Node& document_;
  Problems& problems_;
  WholeParts out_;
};

}  // namespace

WholeParts whole_parts(const Node& document, Problems& problems) { return Sieve(document, problems).run(); }

}  // namespace pdsim::scenarios::language
