#include "scenarios/language/check/shape_check.h"

#include "core/base/quantity.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/document/scalars.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

std::string_view kind_text(const Node& node) {
  if (node.kind == Node::Kind::null) return "nothing";
  if (node.kind == Node::Kind::scalar) return "a plain value";
  return node.kind == Node::Kind::list ? "a list" : "a mapping";
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
                        fmt::format("{}: {}", key.name, key.help));
  }

  void value(const Node& node, const Key& key, const Mark& key_mark) {
    switch (key.type) {
      case Type::nothing:
        if (!node.is_null())
          problems_.error(node.mark, fmt::format("`{}` takes no value", key.name),
                          fmt::format("write `{}: null`", key.name));
        return;
      case Type::group:
        if (!key.choices.empty() && node.is_scalar()) {
          if (std::find(key.choices.begin(), key.choices.end(), node.text) == key.choices.end())
            problems_.error(
                node.mark, fmt::format("{} is not a valid `{}`", shown(node), key.name),
                fmt::format("write {} or a mapping", alternatives({key.choices.begin(), key.choices.end()})));
          return;
        }
        if (node.is_null() && may_be_null(key)) {
          Node empty = node;
          empty.kind = Node::Kind::map;
          return group(empty, *key.group, key_mark);
        }
        return group(node, *key.group, key_mark);
      case Type::operations:
        return operations(node, key);
      case Type::named:
      case Type::settings:
        return named(node, key);
      case Type::int_set:
      case Type::widths:
      case Type::counts:
      case Type::decimals:
      case Type::rows:
      case Type::names:
      case Type::values:
      case Type::rank_groups:
      case Type::shapes:
      case Type::groups:
      case Type::selectors:
        return lists(node, key);
      default:
        return scalar(node, key);
    }
  }

 private:
  void unknown(const Entry& entry, const Group& group) {
    const bool choice = !group.one_of.empty();
    std::string label = suggestion(entry.key, names_of(group), group.one_of.empty() ? "its keys are" : "there are");
    const Key* now = find_former(choice ? group.one_of : group.keys, entry.key);
    if (now != nullptr) label = renamed(*now);
    if (!choice && group.keys.empty()) label = "it takes no options";
    if (const std::string_view word = instead_of(entry.key); !word.empty() && group.noun == "operation") label = word;
    if ((entry.key == "when" || entry.key == "label") && operation_named(group.title) != nullptr)
      label = fmt::format("put `{}` beside `{}`, not inside it", entry.key, group.title);
    if (entry.key == "async" && (group.title == "send" || group.title == "recv"))
      label = fmt::format("`i{}` returns at once", group.title);
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
      const Key* now = find_former(group.one_of, node.text);
      problems_.error(node.mark, fmt::format("unknown {} {}", group.noun, shown(node)),
                      now != nullptr ? renamed(*now) : suggestion(node.text, names, "there are"));
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
                        fmt::format("an entry is one {}; start another entry", group.noun));
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
    switch (key.type) {
      case Type::nothing:
        return "empty";
      case Type::text:
        return "a text";
      case Type::name:
        return "a name";
      case Type::word:
        return fmt::format("a value of `{}`", key.name);
      case Type::boolean:
        return "a boolean";
      case Type::integer:
        return "a whole number";
      case Type::decimal:
        return "a number";
      case Type::int_set:
        return "a set of integers";
      case Type::widths:
        return "a pair of widths";
      case Type::counts:
        return "a list of whole numbers";
      case Type::decimals:
        return "a list of numbers";
      case Type::rows:
        return "a list of numbers for each rank";
      case Type::names:
        return "a list of names";
      case Type::values:
        return "a list of values";
      case Type::rank_groups:
        return "a list of groups of ranks";
      case Type::shapes:
        return "a list of shapes";
      case Type::groups:
      case Type::selectors:
      case Type::operations:
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
    switch (key.type) {
      case Type::name:
        if (!node.quoted && is_yaml_literal(node.text))
          return problems_.error(node.mark, fmt::format("{} is not a name in YAML", shown(node)),
                                 fmt::format("write it in quotes: \"{}\"", node.text));
        if (!is_name(node.text)) wrong(node, key);
        return;
      case Type::word:
        if (std::find(key.choices.begin(), key.choices.end(), node.text) == key.choices.end())
          problems_.error(node.mark, fmt::format("{} is not a valid `{}`", shown(node), key.name),
                          suggestion(node.text, {key.choices.begin(), key.choices.end()}, "expected"));
        return;
      case Type::boolean:
        if (node.quoted) return in_quotes(node, key);
        if (!read_boolean(node.text)) wrong(node, key);
        return;
      case Type::integer:
        return integer(node, key);
      case Type::decimal:
        return decimal(node, key);
      case Type::duration:
        return duration(node, key);
      case Type::size:
        return quantity(node, key, parse_bytes(node.text));
      case Type::rate:
        return quantity(node, key, parse_rate(node.text));
      case Type::drift:
        return quantity(node, key, parse_ppm(node.text));
      case Type::flops:
        return quantity(node, key, parse_flops(node.text));
      case Type::flop_rate:
        return speed(node, key);
      default:
        return;
    }
  }

  void speed(const Node& node, const Key& key) {
    const Result<FlopRate> parsed = parse_flop_rate(node.text);
    quantity(node, key, parsed);
    if (parsed.ok() && parsed->per_s == 0)
      problems_.error(node.mark, "a device that never finishes", "write a speed above zero");
  }

  // A quoted number is a text to every other reader of YAML, editors with the schema among them.
  void in_quotes(const Node& node, const Key& key) {
    problems_.error(node.mark, fmt::format("{} in quotes is text, not {}", shown(node), noun(key)),
                    "write it without the quotes");
  }

  void integer(const Node& node, const Key& key) {
    if (std::find(key.choices.begin(), key.choices.end(), node.text) != key.choices.end()) return;
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
    switch (key.type) {
      case Type::widths: {
        if (!node.is_list() || node.items.size() != 2) return wrong(node, key);
        const Key width{.name = key.name, .type = Type::integer, .help = key.help, .low = 1, .high = limits::width};
        for (const Node& item : node.items) scalar(item, width);
        return;
      }
      case Type::counts: {
        if (!node.is_list() || node.items.empty()) return wrong(node, key);
        const Key count{.name = key.name, .type = Type::integer, .help = key.help, .high = key.high};
        for (const Node& item : node.items) scalar(item, count);
        return;
      }
      case Type::names: {
        if (!node.is_list() || node.items.empty()) return wrong(node, key);
        const Key name{.name = key.name,
                       .type = key.choices.empty() ? Type::name : Type::word,
                       .help = key.help,
                       .choices = key.choices};
        for (const Node& item : node.items) scalar(item, name);
        return;
      }
      case Type::values:
        if (!node.is_list()) return wrong(node, key);
        for (const Node& item : node.items) value_of(item);
        return;
      case Type::decimals:
        if (!read_numbers(node)) wrong(node, key);
        return;
      case Type::rows:
        if (node.is_scalar() ? std::find(key.choices.begin(), key.choices.end(), node.text) == key.choices.end()
                             : !read_number_rows(node))
          wrong(node, key);
        return;
      case Type::rank_groups:
        if (!read_rank_groups(node)) wrong(node, key);
        return;
      case Type::shapes:
        if (!read_shapes(node)) wrong(node, key);
        return;
      case Type::int_set:
        if (!read_int_set(node)) wrong(node, key);
        return;
      case Type::groups:
        if (!node.is_list()) return wrong(node, key);
        for (const Node& item : node.items) group(item, *key.group, item.mark);
        return;
      case Type::selectors:
        if (node.is_map()) return group(node, selector, node.mark);
        if (!node.is_list() || node.items.empty()) return wrong(node, key);
        for (const Node& item : node.items) group(item, selector, item.mark);
        return;
      default:
        return;
    }
  }

  // An argument of a remote function.
  void value_of(const Node& node) {
    if (node.is_list())
      for (const Node& item : node.items) value_of(item);
    if (!node.is_map()) return;
    const bool one = node.entries.size() == 1;
    const std::string_view kind = one ? std::string_view(node.entries.front().key) : std::string_view();
    if (kind != "rref" && kind != "tensor")
      return problems_.error(node.mark, "a mapping that is neither a reference nor a tensor",
                             "write {rref: label} or {tensor: [1, 2]}");
    const Node& inner = node.entries.front().value;
    if (kind == "rref") return scalar(inner, {.name = "rref", .type = Type::name, .help = ""});
    const Key element{.name = "tensor", .type = Type::decimal, .help = "", .low = std::numeric_limits<std::int64_t>::min()};
    if (!inner.is_list())
      return problems_.error(inner.mark, "a tensor that is not a list", "write its elements, as {tensor: [1, 2]}");
    for (const Node& item : inner.items) scalar(item, element);
  }

  void operations(const Node& node, const Key& key) {
    if (!node.is_list()) return wrong(node, key);
    const Key* before = around_;
    if (!key.has(as_around)) around_ = &key;
    repeats_ += key.has(as_around) ? 1 : 0;
    const Key& list = around_ != nullptr ? *around_ : key;
    for (const Node& item : node.items) {
      group(item, operation_entry(), item.mark);
      if (item.is_scalar()) place(item.text, item.mark, list);
      for (const Entry& entry : item.entries) place(entry.key, entry.mark, list);
    }
    repeats_ -= key.has(as_around) ? 1 : 0;
    around_ = before;
  }

  void place(const std::string& name, const Mark& mark, const Key& list) {
    const Key* row = operation_named(name);
    if (row == nullptr) return;
    if (list.name == "messages") {
      if (!row->has(asynchronous) || !row->has(point_to_point))
        problems_.error(mark, fmt::format("`{}` inside `messages`", name), "its messages are isends and irecvs");
      return;
    }
    if (repeats_ > 0 && name == "relaunch")
      problems_.error(mark, "`relaunch` inside repeat", "put it in the program itself, before or after repeat");
    const bool inside = list.has(in_train);
    if (inside && !row->has(in_train))
      problems_.error(mark, fmt::format("`{}` inside train", name),
                      "put it in the program itself, before or after train");
    if (list.has(in_join) && !row->has(in_join | in_train))
      problems_.error(mark, fmt::format("`{}` inside join", name),
                      "put it in the program itself, before or after join");
    if (!inside && row->has(only_in_train))
      problems_.error(mark, fmt::format("`{}` outside train", name), "put it in the `do` of train");
  }

  // Operations and kinds of faults: `barrier:` is an entry too.
  static bool may_be_null(const Key& key) {
    return find(operation_table(), key.name) == &key || find(fault_kinds(), key.name) == &key ||
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
    if (key.type == Type::settings) return;
    for (const Entry& entry : node.entries) {
      if (!is_name(entry.key))
        problems_.error(entry.mark, fmt::format("`{}` is not a name", entry.key),
                        "write letters, digits and underscores, a digit not first");
      value(entry.value, *key.element, entry.mark);
    }
  }

  Problems& problems_;
  const Key* around_ = nullptr;  // the list of operations that is looked at, but those of repeat
  int repeats_ = 0;              // around it
};

}  // namespace

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
