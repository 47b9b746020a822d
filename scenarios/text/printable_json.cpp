#include "scenarios/text/printable_json.h"

#include "core/base/printable.h"

#include <cstddef>
#include <string_view>

namespace pdsim::scenarios {

std::string printable_json(std::string_view json) {
  const std::string raw = printable_lines(json);
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      text += raw[i];
      continue;
    }
    const char escape = raw[++i];  // only inside of texts, and never the last character
    const bool is_coded = escape == 'u';
    if (is_coded) i += 4;  // below U+0020: everything else stands there as it is
    if (is_coded || std::string_view("bfr").find(escape) != std::string_view::npos)
      text += '?';
    else
      text += {'\\', escape};
  }
  return text;
}

}  // namespace pdsim::scenarios
