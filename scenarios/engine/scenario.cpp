#include "scenarios/engine/scenario.h"

#include <algorithm>
#include <charconv>

namespace pdsim::scenarios {

bool When::selects(int rank, int node, int step) const {
  if (any.empty()) return true;
  return std::any_of(any.begin(), any.end(), [&](const Selector& s) {
    const bool in_step = step < 0 ? s.step.is_all() : s.step.contains(step);
    return s.rank.contains(rank) && s.node.contains(node) && in_step;
  });
}

std::string Operation::text(const std::string& option, const std::string& otherwise) const {
  const auto found = args.find(option);
  return found == args.end() ? otherwise : found->second.text.value;
}

std::int64_t Operation::integer(const std::string& option, std::int64_t otherwise) const {
  const std::string value = text(option, "");
  std::int64_t number = otherwise;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

std::vector<std::int64_t> Operation::integers(const std::string& option) const {
  std::vector<std::int64_t> numbers;
  const auto found = args.find(option);
  if (found == args.end()) return numbers;
  for (const Argument& item : found->second.items) {
    const std::string& text = item.text.value;
    numbers.push_back(0);
    std::from_chars(text.data(), text.data() + text.size(), numbers.back());
  }
  return numbers;
}

IntSet Operation::set(const std::string& option) const {
  const auto found = args.find(option);
  if (found == args.end()) return IntSet::of({});
  if (found->second.is_list) return IntSet::of(integers(option));
  const Result<IntSet> parsed = IntSet::parse(found->second.text.value);
  return parsed.ok() ? *parsed : IntSet::of({});
}

bool Operation::flag(const std::string& option, bool otherwise) const {
  return text(option, otherwise ? "true" : "false") == "true";
}

}  // namespace pdsim::scenarios
