// Describes a key's possible values in messages (shape_check.h).
#include "scenarios/language/check/limits.h"
#include "scenarios/language/check/shape_check.h"
#include "scenarios/language/document/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>

namespace pdsim::scenarios::language {
namespace {

struct Habit {
  std::string_view word, label;
};
constexpr std::array<Habit, 7> habits{{
    {"if", "put `when: {rank: 0}` beside an operation that only some ranks run"},
    {"for", "`repeat` is a loop, `train` a training loop"},
    {"while", "`repeat` is a loop, `train` a training loop"},
    {"save_checkpoint", "`checkpoint` writes the model to a file"},
    {"evaluate", "`eval` is a forward without gradients"},
    {"validate", "`eval` is a forward without gradients"},
    {"sleep", "`compute` lets time pass"},
}};

}  // namespace

std::string_view instead_of(std::string_view word) {
  const auto found = std::find_if(habits.begin(), habits.end(), [word](const Habit& h) { return h.word == word; });
  return found == habits.end() ? std::string_view{} : found->label;
}

std::string renamed(const Key& now) { return fmt::format("it is called `{}`, as in torch.distributed", now.name); }

std::string expected(const Key& key) {
  switch (key.type) {
    case Type::nothing:
      return "no value";
    case Type::text:
      return "a text";
    case Type::name:
      return "letters, digits and underscores, a digit not first";
    case Type::word:
      return alternatives({key.choices.begin(), key.choices.end()});
    case Type::boolean:
      return "true or false";
    case Type::integer:
      if (!key.choices.empty())
        return fmt::format("a whole number from {}, or {}", key.low,
                           alternatives({key.choices.begin(), key.choices.end()}));
      return key.high == std::numeric_limits<std::int64_t>::max() ? fmt::format("a whole number from {}", key.low)
             : key.low == key.high                                ? fmt::format("{}", key.low)
                                   : fmt::format("a whole number {}..{}", key.low, key.high);
    case Type::decimal:
      return key.low == std::numeric_limits<std::int64_t>::min() ? "a number such as 0.25"
             : key.high == std::numeric_limits<std::int64_t>::max()
                 ? fmt::format("a number from {} such as 0.25", key.low)
                 : fmt::format("a number {}..{}", key.low, key.high);
    case Type::duration:
      return "a duration such as 5us";
    case Type::size:
      return "a size such as 25MiB";
    case Type::rate:
      return "a rate such as 25GB/s";
    case Type::drift:
      return "a drift such as 20ppm";
    case Type::int_set:
      return "3, [0, 2], 1..3, 2.., ..3, even, odd, all or not 0";
    case Type::widths:
      return "[in, out], whole numbers";
    case Type::counts:
      return "whole numbers such as [3, 0, 2]";
    case Type::decimals:
      return "numbers such as [0, 10.5]";
    case Type::rows:
      return fmt::format("{}, or numbers of each rank such as [[1, 2], [3, 4]]",
                         alternatives({key.choices.begin(), key.choices.end()}));
    case Type::names:
      return "a list of names such as [a, b]";
    case Type::values:
      return "a list of values such as [3, 0.5, text, [1, 2], {rref: label}, {tensor: [1, 2]}]";
    case Type::flops:
      return "an amount of arithmetic such as 2.4GFLOP";
    case Type::flop_rate:
      return "a speed such as 19.5TFLOP/s";
    case Type::shapes:
      return fmt::format("shapes such as [[64, 3, 7, 7], [64]], or a number of elements; {} elements at most",
                         limits::sized_elements);
    case Type::rank_groups:
      return "groups of ranks such as [[0, 1], [2, 3]]";
    case Type::group:
      return "a mapping";
    case Type::groups:
      return "a list of mappings";
    case Type::selectors:
      return "a selector such as {rank: 0, step: 2..} or a list of them";
    case Type::operations:
      return "a list of operations";
    case Type::named:
      return "a mapping of names to values";
    case Type::settings:
      return "a mapping of dotted paths to values";
  }
  return "";
}

}  // namespace pdsim::scenarios::language
