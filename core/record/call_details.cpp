#include "core/record/call_details.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pdsim {

std::string text_of(const SplitSizes& splits) {
  if (!splits.sizes.empty()) return fmt::format("{}", fmt::join(splits.sizes, ", "));
  if (splits.empty()) return {};
  return fmt::format("{} parts, {} elements, hash {:016x}", splits.parts, splits.elements, splits.hash);
}

}  // namespace pdsim
