// The form in which an agent hands over the record ring of a rank that can no longer report: the memory without the pages that
// were never written, which are most of them.
#pragma once

#include "core/record/record_ring.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace pdsim {

std::string packed_ring(std::span<const std::byte> memory);
// input_invalid for anything else.
Result<RingRecord> ring_of_packed(std::string_view text);

}  // namespace pdsim
