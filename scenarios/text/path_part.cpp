#include "scenarios/text/path_part.h"

#include "core/base/printable.h"

#include <algorithm>
#include <cstddef>

namespace pdsim {

std::string path_part(std::string_view name) {
  constexpr std::size_t most_bytes = 200;
  std::string part = printable(name);
  std::replace_if(
      part.begin(), part.end(), [](char c) { return c == '/' || c == '\\' || c == '?'; }, '_');
  if (part.size() > most_bytes) {
    std::size_t end = most_bytes;
    while (end > 0 && (static_cast<unsigned char>(part[end]) & 0xc0) == 0x80) --end;  // not inside a character
    part.resize(end);
  }
  if (part.empty() || part.front() == '.') part.insert(0, "_");
  return part;
}

}  // namespace pdsim
