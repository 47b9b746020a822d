// The fields of a struct (core/record/note_field.h) in few bytes of a record ring's slot: per field its number from 1, the length
// and the value; 0 ends them. Fields at their default, and those that do not fit whole, are left out. Nothing is allocated.
#pragma once

#include "core/base/enum_names.h"
#include "core/base/quantity.h"
#include "core/record/note_field.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pdsim {

class PackedWriter {
 public:
  explicit PackedWriter(std::span<char> room) : room_(room) {}
  bool fits() const { return fits_; }
  std::size_t used() const { return used_; }
  // Discards everything written after the first `used` bytes.
  void rewind(std::size_t used) { used_ = used, fits_ = true; }
  void set(std::size_t at, std::uint8_t value) { room_[at] = static_cast<char>(value); }

  void byte(std::uint8_t value) {
    fits_ = fits_ && used_ < room_.size();
    if (fits_) room_[used_++] = static_cast<char>(value);
  }
  void unsigned_number(std::uint64_t value) {
    constexpr std::uint64_t more = 0x80;
    for (; value >= more; value >>= 7) byte(static_cast<std::uint8_t>(value | more));
    byte(static_cast<std::uint8_t>(value));
  }
  template <std::integral T>
  void put(T value) {
    if constexpr (std::is_unsigned_v<T>) {
      unsigned_number(value);
    } else {  // small ones of either sign are short
      const auto wide = static_cast<std::int64_t>(value);
      unsigned_number((static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63));
    }
  }
  void put(Time value) { put(value.ps); }
  template <NamedEnum E>
  void put(E value) {
    byte(static_cast<std::uint8_t>(value));
  }
  void put(const std::string& text) {
    unsigned_number(text.size());
    fits_ = fits_ && text.size() <= room_.size() - used_;
    if (!fits_) return;
    std::memcpy(room_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }
  template <HasFields T>
  void put(const T& of) {
    for_each_field<T>([&](const auto& field) { put(of.*field.member); });
  }
  template <class T>
  void put(const std::vector<T>& list) {
    unsigned_number(list.size());
    for (const T& item : list) {
      if (!fits_) return;
      put(item);
    }
  }

 private:
  std::span<char> room_;
  std::size_t used_ = 0;
  bool fits_ = true;
};

// Reads the output of a writer. The bytes may be anything: returns false where they cannot come from a writer.
class PackedReader {
 public:
  explicit PackedReader(std::span<const char> from) : from_(from) {}
  bool byte(std::uint8_t& value) {
    if (at_ >= from_.size()) return false;
    value = static_cast<std::uint8_t>(from_[at_++]);
    return true;
  }
  bool part(std::size_t size, std::span<const char>& into) {
    if (size > from_.size() - at_) return false;
    into = from_.subspan(at_, size);
    at_ += size;
    return true;
  }
  bool unsigned_number(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      std::uint8_t next = 0;
      if (!byte(next)) return false;
      value |= static_cast<std::uint64_t>(next & 0x7fU) << shift;
      if ((next & 0x80U) == 0) return true;
    }
    return false;
  }
  template <std::integral T>
  bool get(T& value) {
    std::uint64_t bits = 0;
    if (!unsigned_number(bits)) return false;
    if constexpr (std::is_unsigned_v<T>) {
      value = static_cast<T>(bits);
      return static_cast<std::uint64_t>(value) == bits;
    } else {
      const auto wide = static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
      value = static_cast<T>(wide);
      return static_cast<std::int64_t>(value) == wide;
    }
  }
  bool get(Time& value) { return get(value.ps); }
  template <NamedEnum E>
  bool get(E& value) {
    std::uint8_t bits = 0;
    if (!byte(bits)) return false;
    value = static_cast<E>(bits);
    return !name_of(value).empty();
  }
  bool get(std::string& text) {
    std::uint64_t size = 0;
    std::span<const char> part_of_it;
    if (!unsigned_number(size) || !part(size, part_of_it)) return false;
    text.assign(part_of_it.begin(), part_of_it.end());
    return true;
  }
  template <HasFields T>
  bool get(T& of) {
    bool whole = true;
    for_each_field<T>([&](const auto& field) { whole = whole && get(of.*field.member); });
    return whole;
  }
  std::size_t used() const { return at_; }
  template <class T>
  bool get(std::vector<T>& list) {
    std::uint64_t size = 0;
    if (!unsigned_number(size) || size > from_.size() - at_) return false;  // each item takes a byte or more
    list.resize(size);
    return std::all_of(list.begin(), list.end(), [this](T& item) { return get(item); });
  }

 private:
  std::span<const char> from_;
  std::size_t at_ = 0;
};

// The number of bytes of `room` in use, including the 0 at the end. `room` has at least one and at most 256.
template <class T>
std::size_t pack_fields(const T& from, std::span<char> room) {
  PackedWriter writer(room.first(room.size() - 1));
  const T none;
  std::uint8_t number = 0;
  for_each_field<T>([&](const auto& field) {
    ++number;
    if (from.*field.member == none.*field.member) return;
    const std::size_t begin = writer.used();
    writer.byte(number);
    writer.byte(0);  // the length, below
    writer.put(from.*field.member);
    if (writer.fits())
      writer.set(begin + 1, static_cast<std::uint8_t>(writer.used() - begin - 2));
    else
      writer.rewind(begin);
  });
  room[writer.used()] = '\0';
  return writer.used() + 1;
}

// Absent fields stay unchanged; invalid ones are skipped. Returns the number of bytes read.
template <class T>
std::size_t unpack_fields(std::span<const char> from, T& into) {
  PackedReader reader(from);
  std::uint8_t number = 0, size = 0;
  std::span<const char> value;
  while (reader.byte(number) && number != 0 && reader.byte(size) && reader.part(size, value)) {
    std::uint8_t at = 0;
    for_each_field<T>([&](const auto& field) {
      if (++at != number) return;
      auto read = into.*field.member;
      if (PackedReader(value).get(read)) into.*field.member = std::move(read);
    });
  }
  return reader.used();
}

}  // namespace pdsim
