// Fingerprint: the 64-bit XXH3 hash (libxxhash) of fixed-width little-endian fields, never of structs.
//
//   fields   a number takes 8 bytes; a text or a block of bytes is followed by its size, so that two different splits of the same
//            bytes hash differently
//   equals   XXH3_64bits of all these bytes in one block, however many calls they came in
//   cost     storing a field is a store; the hash runs over a kilobyte at a time
//   throws   std::bad_alloc, when it has more than a kilobyte to hash
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pdsim {

class Fingerprint {
 public:
  Fingerprint();
  ~Fingerprint();
  Fingerprint(Fingerprint&&) noexcept;
  Fingerprint& operator=(Fingerprint&&) noexcept;

  void add(std::uint64_t field) { add(std::array{field}); }
  template <std::size_t fields>
  void add(const std::array<std::uint64_t, fields>& several) {
    static_assert(sizeof several <= kilobyte);
    if (size_ + sizeof several > kilobyte) flush();
    for (const std::uint64_t field : several) {
      const std::uint64_t little = little_endian(field);
      std::memcpy(pending_.data() + size_, &little, sizeof little);
      size_ += sizeof little;
    }
  }
  void add(std::string_view text) { add(reinterpret_cast<const std::byte*>(text.data()), text.size()); }
  void add(const std::byte* data, std::size_t size);
  std::uint64_t value() const;

 private:
  struct Stream;  // of libxxhash
  static constexpr std::size_t kilobyte = 1024;
  static constexpr std::uint64_t little_endian(std::uint64_t field) {
    if constexpr (std::endian::native == std::endian::little) return field;
    std::uint64_t swapped = 0;
    for (int i = 0; i < 8; ++i, field >>= 8) swapped = swapped << 8 | (field & 0xff);
    return swapped;
  }
  void flush();

  std::array<std::byte, kilobyte> pending_;  // the last `size_` bytes, which the stream does not have yet
  std::size_t size_ = 0;
  std::unique_ptr<Stream> stream_;  // null: everything is still in pending_
};

// XXH3_64bits of the bytes alone, without their size; 0 for no bytes.
std::uint64_t digest(std::span<const std::byte> bytes);
std::uint64_t digest(std::string_view text);

// Sixteen hexadecimal digits.
std::string fingerprint_text(std::uint64_t value);

}  // namespace pdsim
