#include "core/base/printable.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace pdsim {
namespace {

struct CodePoints {
  char32_t first, last;
};
constexpr std::array never_shown{
    CodePoints{0x00, 0x1f},     CodePoints{0x7f, 0x9f},     CodePoints{0x061c, 0x061c},
    CodePoints{0x200e, 0x200f}, CodePoints{0x2028, 0x202e}, CodePoints{0x2066, 0x2069},
    CodePoints{0xd800, 0xdfff}, CodePoints{0xfeff, 0xfeff}, CodePoints{0xe0000, 0xe007f},
};

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: what stands there is not UTF-8
};

Character character_at(std::string_view text) {
  struct Form {
    unsigned char mask, lead;
    char32_t lowest;
  };
  constexpr std::array forms{Form{0x80, 0x00, 0}, Form{0xe0, 0xc0, 0x80}, Form{0xf0, 0xe0, 0x800},
                             Form{0xf8, 0xf0, 0x10000}};
  const auto first = static_cast<unsigned char>(text.front());
  for (std::size_t more = 0; more < forms.size(); ++more) {
    const Form& form = forms[more];
    if ((first & form.mask) != form.lead) continue;
    if (text.size() <= more) return {};
    char32_t code = first & static_cast<unsigned char>(~form.mask);
    for (std::size_t i = 1; i <= more; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if ((next & 0xc0) != 0x80) return {};
      code = (code << 6) | (next & 0x3f);
    }
    return code < form.lowest || code > 0x10ffff ? Character{} : Character{code, more + 1};
  }
  return {};
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

std::string as_printable(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto* const end = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), end);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
    if (text.empty()) break;
    const Character c = character_at(text);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    const bool spaces = c.code == U'\n' || c.code == U'\t';
    if (c.bytes > 0 && spaces) {
      out += lines ? text.front() : ' ';
    } else if (c.bytes == 0 || std::any_of(never_shown.begin(), never_shown.end(), [&](const CodePoints& range) {
                 return c.code >= range.first && c.code <= range.last;
               })) {
      out += '?';
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return as_printable(text, false); }

std::string printable_lines(std::string_view text) { return as_printable(text, true); }

}  // namespace pdsim
