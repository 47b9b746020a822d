#include "backends/launch/packed_ring.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pdsim {
namespace {

constexpr std::size_t page = 4096;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;  // far more than any ring

}  // namespace

// The size, then each page that is not empty behind its number.
std::string packed_ring(std::span<const std::byte> memory) {
  std::string text;
  const auto put = [&text](std::uint64_t number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  put(memory.size());
  for (std::size_t at = 0; at < memory.size(); at += page) {
    const auto part = memory.subspan(at, std::min(page, memory.size() - at));
    if (std::all_of(part.begin(), part.end(), [](std::byte b) { return b == std::byte{}; })) continue;
    put(at);
    text.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  return text;
}

Result<RingRecord> ring_of_packed(std::string_view text) {
  const Error broken{Code::input_invalid, "this is not a record ring", {}};
  const auto take = [&text](std::uint64_t& number) {
    if (text.size() < sizeof number) return false;
    std::memcpy(&number, text.data(), sizeof number);
    text.remove_prefix(sizeof number);
    return true;
  };
  std::uint64_t size = 0, at = 0;
  if (!take(size) || size > most_bytes) return broken;
  std::vector<std::byte> memory(size);
  while (!text.empty()) {
    if (!take(at) || at >= size) return broken;
    const std::size_t part = std::min<std::size_t>(page, size - at);
    if (text.size() < part) return broken;
    std::memcpy(memory.data() + at, text.data(), part);
    text.remove_prefix(part);
  }
  return read_record_ring(memory);
}

}  // namespace pdsim
