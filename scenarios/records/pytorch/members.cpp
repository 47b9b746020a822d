#include "scenarios/records/pytorch/members.h"

#include "core/base/printable.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace pdsim::scenarios::pytorch {

std::size_t KeyIndex::of(const Value& key) {
  std::uint8_t& known = known_[key.id()];
  if (known != unknown) return known;
  known = static_cast<std::uint8_t>(member_names.size());
  if (const auto name = key.text()) {
    const auto* const at = std::lower_bound(member_names.begin(), member_names.end(), *name);
    if (at != member_names.end() && *at == *name) known = static_cast<std::uint8_t>(at - member_names.begin());
  }
  return known;
}

Record::Record(const Value& dict, KeyIndex& keys) : dict_(dict) {
  members_.fill(absent);
  const auto items = dict.dict();
  for (std::size_t i = 0; items && i + 1 < items->size(); i += 2)
    if (const std::size_t at = keys.of(dict.at((*items)[i])); at < members_.size()) members_[at] = (*items)[i + 1];
}

bool Members::forgive(LeftOut& left_out) {
  if (ok()) return true;
  if (left_ < 0) return false;
  left_out.add(std::exchange(problem_, {}));
  return true;
}

void Members::refuse(const std::string& why) {
  if (!ok()) return;
  problem_ = fmt::format("{}{}{}: {}", place_.before, place_.name, place_.behind, why);
}

void Members::wrong(std::string_view name, const Value& value, std::string_view wanted) {
  refuse(fmt::format("`{}` is {}, and must be {}", name, value.kind(), wanted));
}

bool Members::is_dictionary(std::string_view name, const Value& value) {
  const bool fits = value.dict().has_value();
  if (!fits) wrong(name, value, "a dictionary");
  return fits;
}

bool Members::afford() {
  if (--left_ < 0 && ok()) problem_ = fmt::format("the dump names more than {} values", most_values);
  return ok();
}

std::optional<Value> Members::present(const Record& of, Key key) {
  const std::optional<Value> value = of.find(key);
  if (!value || value->is_none() || !afford()) return std::nullopt;
  return value;
}

void Members::get(const Record& of, Key key, std::string& into) {
  const auto value = present(of, key);
  if (!value) return;
  if (const auto text = value->text()) {
    into = printable(*text);
  } else {
    wrong(key.name(), *value, "a text");
  }
}

std::optional<std::int64_t> Members::number_of(const Record& of, Key key, std::int64_t lowest, std::int64_t highest) {
  const auto value = present(of, key);
  if (!value) return std::nullopt;
  std::optional<std::int64_t> number = value->integer();
  if (const auto text = value->text()) number = number_in(*text);
  if (!number) {
    wrong(key.name(), *value, fmt::format("an integer from {} to {}", lowest, highest));
  } else if (*number < lowest || *number > highest) {
    refuse(number_problem(key.name(), std::to_string(*number), lowest, highest));
  } else {
    return number;
  }
  return std::nullopt;
}

void Members::get(const Record& of, Key key, bool& into) {
  const auto value = present(of, key);
  if (!value) return;
  if (const auto truth = value->truth()) {
    into = *truth;
  } else {
    wrong(key.name(), *value, "a truth value");
  }
}

void Members::get(const Record& of, Key key, std::vector<std::string>& into) {
  for (const NodeId id : items(of, key)) {
    if (!afford()) return;
    const Value item = of.find(key)->at(id);
    if (!item.text()) return wrong(key.name(), item, "a list of texts");
    into.push_back(printable(*item.text()));
  }
}

void Members::get(const Record& of, Key key, Sizes& into) {
  for (const NodeId id : items(of, key)) {
    if (!afford()) return;
    const Value item = of.find(key)->at(id);
    const auto list = item.list();
    if (!list) return wrong(key.name(), item, "a list of lists of integers");
    std::vector<std::int64_t>& sizes = into.emplace_back();
    for (const NodeId part : *list) {
      const auto size = item.at(part).integer();
      if (!afford()) return;
      if (!size) return wrong(key.name(), item, "a list of lists of integers from 0 on");
      if (*size < 0 || *size > most_recorded_elements)
        return refuse(number_problem(key.name(), std::to_string(*size), 0, most_recorded_elements));
      sizes.push_back(*size);
    }
  }
}

std::span<const NodeId> Members::items(const Record& of, Key key) {
  const std::optional<Value> value = of.find(key);
  if (!value || value->is_none()) return {};
  const auto list = value->list();
  if (!list) wrong(key.name(), *value, "a list");
  return list.value_or(std::span<const NodeId>{});
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace pdsim::scenarios::pytorch
