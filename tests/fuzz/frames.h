// Frames (backends/net/frames.h) out of bytes, and the bytes of one.
#pragma once

#include "backends/net/frames.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::fuzz {

// What a reader hands out when the other end of its socket sends these bytes and closes.
std::vector<Frame> frames_in(std::string_view bytes);

std::string frame_bytes(FrameKind kind, std::string_view payload);

}  // namespace pdsim::fuzz
