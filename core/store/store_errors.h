// Errors that every kind of store words the same way.
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pdsim {

// store_timeout for keys of which `missing` were not set; `present` are the existing keys, to suggest the nearest of them.
Error key_timeout(std::span<const std::string> missing, Time timeout, std::span<const std::string> present);

// The decimal counter `text` plus `delta`; an empty text counts as 0. invalid_argument: not a decimal number, or it overflows.
Result<std::int64_t> add_to_decimal(std::string_view key, std::string_view text, std::int64_t delta);

// Makes bytes readable: printable ones as they are, others as \xNN, cut after `most`.
std::string shown(std::string_view bytes, std::size_t most = 32);

}  // namespace pdsim
