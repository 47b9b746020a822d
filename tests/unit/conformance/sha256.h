// SHA-256 (FIPS 180-4), for records that keep a large tensor's digest only.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace pdsim::oracle {

std::string sha256(std::span<const std::byte> data);  // 64 hexadecimal digits

}  // namespace pdsim::oracle
