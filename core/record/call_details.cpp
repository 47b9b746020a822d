#include "core/record/call_details.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace pdsim {

SplitSizes split_sizes(std::vector<std::int64_t> sizes) {
  constexpr std::size_t most_listed = 64;
  SplitSizes splits;
  splits.parts = static_cast<std::int64_t>(sizes.size());
  for (const std::int64_t size : sizes) splits.elements += size;
  if (sizes.size() <= most_listed) {
    splits.sizes = std::move(sizes);
    return splits;
  }
  for (const std::int64_t size : sizes)
    splits.hash = (splits.hash ^ static_cast<std::uint64_t>(size)) * 0x100000001b3U;
  return splits;
}

std::string text_of(const SplitSizes& splits) {
  if (!splits.sizes.empty()) return fmt::format("{}", fmt::join(splits.sizes, ", "));
  if (splits.empty()) return {};
  return fmt::format("{} parts, {} elements, hash {:016x}", splits.parts, splits.elements, splits.hash);
}

}  // namespace pdsim
