#include "core/base/fingerprint.h"

#include <fmt/format.h>

namespace pdsim {

std::string fingerprint_text(std::uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace pdsim
