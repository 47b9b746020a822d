// The page of all keys of the language, from the tables that the loader reads.
#include "scenarios/language/check/limits.h"
#include "scenarios/language/check/shape_check.h"
#include "scenarios/language/loader.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/language/tables/key.h"
#include "scenarios/language/tables/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

using language::Group;
using language::Key;

std::string in_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

class Page {
 public:
  // A section for the group, then one for each group in it that has not had one.
  void add(const Group& group) {
    if (std::find(seen_.begin(), seen_.end(), &group) != seen_.end()) return;
    if (group.keys.empty() && group.one_of.empty()) return;
    const auto same = std::find_if(seen_.begin(), seen_.end(), [&](const Group* g) {
      return !group.keys.empty() && g->keys.data() == group.keys.data();
    });
    text_ += fmt::format("\n## {}\n\n{}.\n", group.title, capitalised(group.help));
    if (same != seen_.end()) {
      text_ += fmt::format("\nThe keys of `{}`.\n", (*same)->title);
      return;
    }
    seen_.push_back(&group);
    if (!group.keys.empty()) table(group.keys, "key");
    if (!group.one_of.empty()) table(group.one_of, group.noun);
    for (const Key& key : group.keys) add_below(key);
    for (const Key& key : group.one_of) add_below(key);
  }

  std::string text() && { return std::move(text_); }

 private:
  static std::string capitalised(std::string_view text) {
    std::string sentence(text);
    if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z')
      sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
    return sentence;
  }

  void add_below(const Key& key) {
    if (key.group != nullptr) add(*key.group);
    if (key.element != nullptr && key.element->group != nullptr) add(*key.element->group);
    if (key.type == language::Type::operations) add(language::operation_entry());
    if (key.type == language::Type::selectors) add(language::selector);
  }

  void table(std::span<const Key> keys, std::string_view noun) {
    text_ += fmt::format("\n| {} | value | default | |\n|---|---|---|---|\n", noun);
    for (const Key& key : keys) {
      const std::string stated = language::default_of(key);
      const std::string otherwise = key.required ? "required" : stated.empty() ? "" : fmt::format("`{}`", stated);
      text_ += fmt::format("| `{}` | {} | {} | {} |\n", key.name, in_cell(language::expected(key)), in_cell(otherwise),
                           in_cell(key.help));
    }
  }

  std::vector<const Group*> seen_;
  std::string text_;
};

std::string limits_section() {
  return fmt::format(
      "\n## Limits\n\nA file over a limit is an error, before anything is allocated for it.\n\n"
      "| of | at most |\n|---|---|\n| a file | {} bytes, {} values, {} levels of nesting |\n| variants of a file | {} "
      "|\n"
      "| ranks with `payload: real` | {} |\n| ranks with `payload: none` | {} |\n| steps of a train | {} |\n"
      "| rows of a batch | {} |\n| width of a layer | {} |\n| elements of one call | {} |\n"
      "| operations that all ranks run together | {} |\n| messages between all ranks | {} |\n| multiplications of all "
      "forwards and backwards | {} |\n| payload of all calls | {} bytes |\n| a duration | {}min |\n| "
      "memory of parameters and buffers of all ranks | {} bytes |\n",
      limits::file_bytes, limits::values, limits::nesting, limits::variants, limits::ranks,
      limits::ranks_without_payload, limits::steps, limits::batch, limits::width, limits::count, limits::operations,
      limits::messages, limits::multiplications, limits::payload_bytes, limits::minutes, limits::memory_bytes);
}

}  // namespace

std::string reference_page() {
  Page page;
  page.add(language::document_group);
  return "# Every key of the scenario language\n\n"
         "Printed by `pdsim schema --markdown` from the tables that the loader reads. [language.md](language.md) "
         "explains them.\n" +
         std::move(page).text() + limits_section();
}

}  // namespace pdsim::scenarios
