#include "scenarios/engine/language/shape_check.h"

#include "core/base/flops.h"
#include "scenarios/engine/language/scalars.h"
#include "scenarios/engine/language/sections.h"
#include "scenarios/engine/limits.h"
#include "scenarios/engine/operations_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

std::string_view kind_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return "a plain value";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a mapping";
  }
  return "";
}

std::string shown(const Node& node) {
  if (!node.is_scalar()) return std::string(kind_text(node));
  constexpr std::size_t most = 60;
  const std::size_t end = node.text.find('\n');
  std::string text = node.text.substr(0, std::min(end, most));
  while (!text.empty() && text.size() < node.text.size() && (static_cast<unsigned char>(text.back()) & 0x80) != 0)
    text.pop_back();
  return fmt::format("`{}`", text.size() < node.text.size() ? text + "..." : text);
}

std::vector<std::string_view> names_of(const Group& group) {
  std::vector<std::string_view> names;
  for (const Key& key : group.one_of) names.push_back(key.name);
  for (const Key& key : group.keys) names.push_back(key.name);
  return names;
}

class ShapeCheck {
 public:
  explicit ShapeCheck(Problems& problems) : problems_(problems) {}

  void entries(const Node& node, const Group& group) {
    for (const Entry& entry : node.entries) {
      const Key* key = find(group.one_of, entry.key);
      if (key == nullptr) key = find(group.keys, entry.key);
      if (key != nullptr) {
        value(entry.value, *key, entry.mark);
      } else {
        unknown(entry, group);
      }
    }
  }

  void group(const Node& node, const Group& group, const Mark& key_mark) {
    if (!group.one_of.empty() && group.bare && node.is_scalar()) return bare(node, group);
    if (!node.is_map()) {
      const bool is_null = node.is_null();
      problems_.error(
          node.mark,
          is_null ? fmt::format("`{}` has no value", group.title) : fmt::format("{} is {}", group.title, shown(node)),
          fmt::format("expected a mapping with {}", alternatives(names_of(group))));
      return;
    }
    entries(node, group);
    if (!group.one_of.empty()) one_of(node, group);
    for (const Key& key : group.keys)
      if (key.required && node.find(key.name) == nullptr)
        problems_.error(key_mark, fmt::format("`{}` is missing in {}", key.name, group.title),
                        fmt::format("{}: {}", key.name, key.about));
  }

  void value(const Node& node, const Key& key, const Mark& key_mark) {
    switch (key.shape) {
      case Shape::nothing:
        if (!node.is_null())
          problems_.error(node.mark, fmt::format("`{}` takes no value", key.name),
                          fmt::format("write `{}: null`", key.name));
        return;
      case Shape::group:
        if (!key.words.empty() && node.is_scalar()) {
          if (std::find(key.words.begin(), key.words.end(), node.text) == key.words.end())
            problems_.error(node.mark, fmt::format("{} is no value of `{}`", shown(node), key.name),
                            fmt::format("write {} or a mapping", alternatives({key.words.begin(), key.words.end()})));
          return;
        }
        if (node.is_null() && may_be_null(key)) {
          Node empty = node;
          empty.kind = Node::Kind::map;
          return group(empty, *key.group, key_mark);
        }
        return group(node, *key.group, key_mark);
      case Shape::operations:
        return operations(node, key);
      case Shape::named:
      case Shape::settings:
        return named(node, key);
      case Shape::int_set:
      case Shape::widths:
      case Shape::counts:
      case Shape::names:
      case Shape::rank_groups:
      case Shape::shapes:
      case Shape::groups:
      case Shape::selectors:
        return lists(node, key);
      default:
        return scalar(node, key);
    }
  }

 private:
  void unknown(const Entry& entry, const Group& group) {
    const bool choice = !group.one_of.empty();
    std::string label = suggestion(entry.key, names_of(group), group.one_of.empty() ? "its keys are" : "there are");
    if (!choice && group.keys.empty()) label = "it takes no options";
    if ((entry.key == "when" || entry.key == "label") && operation_named(group.title) != nullptr)
      label = fmt::format("`{}` stands beside `{}`, not inside it", entry.key, group.title);
    const std::string where = group.title.empty() ? "" : fmt::format(" in {}", group.title);
    problems_.error(entry.mark, fmt::format("unknown {} `{}`{}", choice ? group.noun : "key", entry.key, where),
                    std::move(label));
  }

  // `barrier`, `relu`, `crash`: a name alone.
  void bare(const Node& node, const Group& group) {
    const Key* key = find(group.one_of, node.text);
    if (key == nullptr) {
      std::vector<std::string_view> names;
      for (const Key& row : group.one_of) names.push_back(row.name);
      problems_.error(node.mark, fmt::format("unknown {} {}", group.noun, shown(node)),
                      suggestion(node.text, names, "there are"));
      return;
    }
    Node empty;
    empty.mark = node.mark;
    value(empty, *key, node.mark);
  }

  void one_of(const Node& node, const Group& group) {
    const Entry* first = nullptr;
    bool unknown_key = false;
    for (const Entry& entry : node.entries) {
      if (find(group.keys, entry.key) != nullptr) continue;
      if (find(group.one_of, entry.key) == nullptr) {
        unknown_key = true;
      } else if (first == nullptr) {
        first = &entry;
      } else {
        problems_.error(entry.mark, fmt::format("`{}` beside `{}` in one entry", entry.key, first->key),
                        fmt::format("an entry is one {}; begin another entry", group.noun));
      }
    }
    if (first == nullptr && !unknown_key)
      problems_.error(node.entries.empty() ? node.mark : node.entries.front().mark,
                      fmt::format("an entry without {}", group.noun), fmt::format("there are {}", [&] {
                        std::vector<std::string_view> names;
                        for (const Key& row : group.one_of) names.push_back(row.name);
                        return alternatives(names);
                      }()));
  }

  void wrong(const Node& node, const Key& key) {
    if (node.is_null()) {
      problems_.error(node.mark, fmt::format("`{}` has no value", key.name), "expected " + expected(key));
    } else {
      problems_.error(
          node.mark,
          fmt::format("{} is not {}",
                      node.is_scalar() ? shown(node) : fmt::format("`{}`: {}", key.name, kind_text(node)), noun(key)),
          "expected " + expected(key));
    }
  }

  static std::string noun(const Key& key) {
    switch (key.shape) {
      case Shape::nothing:
        return "empty";
      case Shape::text:
        return "a text";
      case Shape::name:
        return "a name";
      case Shape::word:
        return fmt::format("a value of `{}`", key.name);
      case Shape::boolean:
        return "a boolean";
      case Shape::integer:
        return "a whole number";
      case Shape::decimal:
        return "a number";
      case Shape::int_set:
        return "a set of integers";
      case Shape::widths:
        return "a pair of widths";
      case Shape::counts:
        return "a list of whole numbers";
      case Shape::names:
        return "a list of names";
      case Shape::rank_groups:
        return "a list of groups of ranks";
      case Shape::shapes:
        return "a list of shapes";
      case Shape::groups:
      case Shape::selectors:
      case Shape::operations:
        return "a list of mappings";
      default:
        return "a mapping";
    }
  }

  template <class T>
  void quantity(const Node& node, const Key& key, const Result<T>& parsed) {
    if (parsed.ok()) return;
    const std::string_view help = fact(parsed.error().facts, "help");
    problems_.error(node.mark, parsed.error().message, help.empty() ? "expected " + expected(key) : std::string(help));
  }

  void duration(const Node& node, const Key& key) {
    const Result<Time> parsed = parse_time(node.text);
    const std::int64_t minute = 60'000'000'000'000;
    quantity(node, key, parsed);
    if (parsed.ok() && parsed->ps / minute > limits::minutes)
      problems_.error(node.mark, fmt::format("{} is too long for `{}`", shown(node), key.name),
                      fmt::format("the limit is {}min", limits::minutes));
  }

  void scalar(const Node& node, const Key& key) {
    if (!node.is_scalar()) return wrong(node, key);
    switch (key.shape) {
      case Shape::name:
        if (!node.quoted && is_yaml_literal(node.text))
          return problems_.error(node.mark, fmt::format("{} is not a name in YAML", shown(node)),
                                 fmt::format("write it in quotes: \"{}\"", node.text));
        if (!is_name(node.text)) wrong(node, key);
        return;
      case Shape::word:
        if (std::find(key.words.begin(), key.words.end(), node.text) == key.words.end())
          problems_.error(node.mark, fmt::format("{} is no value of `{}`", shown(node), key.name),
                          suggestion(node.text, {key.words.begin(), key.words.end()}, "there are"));
        return;
      case Shape::boolean:
        if (node.quoted) return in_quotes(node, key);
        if (!read_boolean(node.text)) wrong(node, key);
        return;
      case Shape::integer:
        return integer(node, key);
      case Shape::decimal:
        return decimal(node, key);
      case Shape::duration:
        return duration(node, key);
      case Shape::size:
        return quantity(node, key, parse_bytes(node.text));
      case Shape::rate:
        return quantity(node, key, parse_rate(node.text));
      case Shape::drift:
        return quantity(node, key, parse_ppm(node.text));
      case Shape::flops:
        return quantity(node, key, parse_flops(node.text));
      case Shape::flop_rate:
        return speed(node, key);
      default:
        return;
    }
  }

  void speed(const Node& node, const Key& key) {
    const Result<FlopRate> parsed = parse_flop_rate(node.text);
    quantity(node, key, parsed);
    if (parsed.ok() && parsed->per_s == 0)
      problems_.error(node.mark, "a device that never gets done", "write a speed above zero");
  }

  // A quoted number is a text to every other reader of YAML, editors with the schema among them.
  void in_quotes(const Node& node, const Key& key) {
    problems_.error(node.mark, fmt::format("{} in quotes is a text, not {}", shown(node), noun(key)),
                    "write it without the quotes");
  }

  void integer(const Node& node, const Key& key) {
    if (std::find(key.words.begin(), key.words.end(), node.text) != key.words.end()) return;
    if (node.quoted) return in_quotes(node, key);
    const auto value = read_integer(node.text);
    const bool digits = !node.text.empty() && node.text.find_first_not_of("0123456789") == std::string::npos;
    if (!value && digits && node.text.size() > 1 && node.text[0] == '0')
      return problems_.error(node.mark, fmt::format("{} begins with a zero", shown(node)),
                             "write a plain decimal number");
    if (!value && !digits) return wrong(node, key);
    if (!value || *value < key.low || *value > key.high)
      problems_.error(node.mark, fmt::format("{} is out of range for `{}`", shown(node), key.name),
                      "expected " + expected(key));
  }

  void decimal(const Node& node, const Key& key) {
    if (node.quoted) return in_quotes(node, key);
    const auto value = read_decimal(node.text);
    if (!value) return wrong(node, key);
    if (*value < static_cast<double>(key.low) || *value > static_cast<double>(key.high))
      problems_.error(node.mark, fmt::format("{} is out of range for `{}`", shown(node), key.name),
                      "expected " + expected(key));
  }

  void lists(const Node& node, const Key& key) {
    switch (key.shape) {
      case Shape::widths: {
        if (!node.is_list() || node.items.size() != 2) return wrong(node, key);
        const Key width{.name = key.name, .shape = Shape::integer, .about = key.about, .low = 1, .high = limits::width};
        for (const Node& item : node.items) scalar(item, width);
        return;
      }
      case Shape::counts: {
        if (!node.is_list() || node.items.empty()) return wrong(node, key);
        const Key count{.name = key.name, .shape = Shape::integer, .about = key.about, .high = key.high};
        for (const Node& item : node.items) scalar(item, count);
        return;
      }
      case Shape::names: {
        if (!node.is_list() || node.items.empty()) return wrong(node, key);
        const Key name{.name = key.name,
                       .shape = key.words.empty() ? Shape::name : Shape::word,
                       .about = key.about,
                       .words = key.words};
        for (const Node& item : node.items) scalar(item, name);
        return;
      }
      case Shape::rank_groups:
        if (!read_rank_groups(node)) wrong(node, key);
        return;
      case Shape::shapes:
        if (!read_shapes(node)) wrong(node, key);
        return;
      case Shape::int_set:
        if (!read_int_set(node)) wrong(node, key);
        return;
      case Shape::groups:
        if (!node.is_list()) return wrong(node, key);
        for (const Node& item : node.items) group(item, *key.group, item.mark);
        return;
      case Shape::selectors:
        if (node.is_map()) return group(node, selector, node.mark);
        if (!node.is_list() || node.items.empty()) return wrong(node, key);
        for (const Node& item : node.items) group(item, selector, item.mark);
        return;
      default:
        return;
    }
  }

  void operations(const Node& node, const Key& key) {
    if (!node.is_list()) return wrong(node, key);
    for (const Node& item : node.items) {
      group(item, operation_entry, item.mark);
      if (item.is_scalar()) place(item.text, item.mark, key);
      for (const Entry& entry : item.entries) place(entry.key, entry.mark, key);
    }
  }

  void place(const std::string& name, const Mark& mark, const Key& list) {
    const Key* row = operation_named(name);
    if (row == nullptr) return;
    if (list.name == "messages") {
      if (!row->has(point_to_point))
        problems_.error(mark, fmt::format("`{}` inside `messages`", name), "they are sends and recvs");
      return;
    }
    const bool inside = list.has(in_train);
    if (inside && !row->has(in_train))
      problems_.error(mark, fmt::format("`{}` inside train", name),
                      "it stands in the program itself, before or after train");
    if (list.has(in_join) && !row->has(in_join | in_train))
      problems_.error(mark, fmt::format("`{}` inside join", name),
                      "it stands in the program itself, before or after join");
    if (!inside && row->has(only_in_train))
      problems_.error(mark, fmt::format("`{}` outside train", name), "it stands in the `do` of train");
  }

  // Operations and kinds of faults: `barrier:` is an entry too.
  static bool may_be_null(const Key& key) {
    return find(operation_table, key.name) == &key || find(fault_kinds(), key.name) == &key ||
           find(hook_kinds(), key.name) == &key || find(optimizer_kinds(), key.name) == &key ||
           operation_named(key.name) == &key;
  }

  void named(const Node& node, const Key& key) {
    if (!node.is_map() || node.entries.empty()) {
      problems_.error(node.mark,
                      node.is_null() ? fmt::format("`{}` has no value", key.name)
                                     : fmt::format("`{}` is {}", key.name, node.is_map() ? "empty" : shown(node)),
                      "expected " + expected(key));
      return;
    }
    if (key.shape == Shape::settings) return;
    for (const Entry& entry : node.entries) {
      if (!is_name(entry.key))
        problems_.error(entry.mark, fmt::format("`{}` is not a name", entry.key),
                        "write letters, digits and underscores, a digit not first");
      value(entry.value, *key.element, entry.mark);
    }
  }

  Problems& problems_;
};

}  // namespace

std::string expected(const Key& key) {
  switch (key.shape) {
    case Shape::nothing:
      return "no value";
    case Shape::text:
      return "a text";
    case Shape::name:
      return "letters, digits and underscores, a digit not first";
    case Shape::word:
      return alternatives({key.words.begin(), key.words.end()});
    case Shape::boolean:
      return "true or false";
    case Shape::integer:
      if (!key.words.empty())
        return fmt::format("a whole number from {}, or {}", key.low,
                           alternatives({key.words.begin(), key.words.end()}));
      return key.high == std::numeric_limits<std::int64_t>::max() ? fmt::format("a whole number from {}", key.low)
             : key.low == key.high                                ? fmt::format("{}", key.low)
                                   : fmt::format("a whole number {}..{}", key.low, key.high);
    case Shape::decimal:
      return key.low == std::numeric_limits<std::int64_t>::min() ? "a number such as 0.25"
             : key.high == std::numeric_limits<std::int64_t>::max()
                 ? fmt::format("a number from {} such as 0.25", key.low)
                 : fmt::format("a number {}..{}", key.low, key.high);
    case Shape::duration:
      return "a duration such as 5us";
    case Shape::size:
      return "a size such as 25MiB";
    case Shape::rate:
      return "a rate such as 25GB/s";
    case Shape::drift:
      return "a drift such as 20ppm";
    case Shape::int_set:
      return "3, [0, 2], 1..3, 2.., ..3, even, odd, all or not 0";
    case Shape::widths:
      return "[in, out], whole numbers";
    case Shape::counts:
      return "whole numbers such as [3, 0, 2]";
    case Shape::names:
      return "a list of names such as [a, b]";
    case Shape::flops:
      return "an amount of arithmetic such as 2.4GFLOP";
    case Shape::flop_rate:
      return "a speed such as 19.5TFLOP/s";
    case Shape::shapes:
      return fmt::format("shapes such as [[64, 3, 7, 7], [64]], or a number of elements; {} elements at most",
                         limits::sized_elements);
    case Shape::rank_groups:
      return "groups of ranks such as [[0, 1], [2, 3]]";
    case Shape::group:
      return "a mapping";
    case Shape::groups:
      return "a list of mappings";
    case Shape::selectors:
      return "a selector such as {rank: 0, step: 2..} or a list of them";
    case Shape::operations:
      return "a list of operations";
    case Shape::named:
      return "a mapping of names to values";
    case Shape::settings:
      return "a mapping of dotted paths to values";
  }
  return "";
}

bool fits(const Node& node, const Key& key) {
  Problems problems;
  ShapeCheck(problems).value(node, key, node.mark);
  return !problems.any_error();
}

void check_shape(const Node& root, Problems& problems) {
  if (!root.is_map()) {
    problems.error(root.mark, fmt::format("the file is {}, not a mapping", shown(root)),
                   "a scenario begins with `pdsim: 1`");
    return;
  }
  Mark first = root.entries.empty() ? root.mark : root.entries.front().mark;
  ShapeCheck(problems).group(root, document_group, first);
}

}  // namespace pdsim::scenarios::language
