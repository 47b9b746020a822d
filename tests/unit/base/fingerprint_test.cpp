#include "core/base/fingerprint.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdsim {
namespace {

void append(std::vector<std::byte>& bytes, std::uint64_t field) {
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(field >> (8 * i)));
}

// The published values of XXH3_64bits.
TEST(Fingerprint, IsXxh3) {
  EXPECT_EQ(Fingerprint().value(), 0x2d06800538d394c2U);
  EXPECT_EQ(digest(std::string_view()), 0U);
  EXPECT_EQ(digest(std::string_view("abc")), 0x78af5f94892f3950U);
}

TEST(Fingerprint, OfFieldsIsThatOfTheirBytesInOneBlock) {
  for (const std::size_t fields : {1U, 7U, 127U, 128U, 129U, 1000U}) {
    Fingerprint fingerprint;
    std::vector<std::byte> bytes;
    for (std::uint64_t i = 0; i < fields; ++i) {
      fingerprint.add(i * 0x0123456789abcdefU);
      append(bytes, i * 0x0123456789abcdefU);
    }
    EXPECT_EQ(fingerprint.value(), digest(bytes)) << fields;
    EXPECT_EQ(fingerprint.value(), digest(bytes)) << "value() may be asked again";
  }
}

TEST(Fingerprint, OfBlocksAndFieldsDoesNotDependOnWhenTheyAreHashed) {
  for (const std::size_t size : {0U, 1U, 100U, 1000U, 1016U, 1017U, 1024U, 1025U, 5000U}) {
    const std::string text(size, 'x');
    Fingerprint fingerprint;
    std::vector<std::byte> bytes;
    for (int i = 0; i < 5; ++i) {
      fingerprint.add(text);
      const auto view = std::as_bytes(std::span(text));
      bytes.insert(bytes.end(), view.begin(), view.end());
      append(bytes, size);
      fingerprint.add(std::array<std::uint64_t, 3>{1, 2, 3});
      for (const std::uint64_t field : {1U, 2U, 3U}) append(bytes, field);
    }
    EXPECT_EQ(fingerprint.value(), digest(bytes)) << size;
  }
}

TEST(Fingerprint, TextsCannotBeCutDifferentlyAndLookTheSame) {
  Fingerprint one, other;
  one.add("ab");
  one.add("c");
  other.add("a");
  other.add("bc");
  EXPECT_NE(one.value(), other.value());
}

}  // namespace
}  // namespace pdsim
