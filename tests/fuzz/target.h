// A fuzz target: one function that is given bytes and must neither crash, nor hang, nor fill memory. The same function is built
// with libFuzzer (preset `fuzz`) and, in all other presets, with replay.cpp, which gives it the seeds and the regressions.
#pragma once

#include "core/base/check.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace pdsim::fuzz {

// A copy with an end of its own, so that reading over it is noticed.
inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(data), size);
}

}  // namespace pdsim::fuzz
