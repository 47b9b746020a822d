#include "scenarios/reports/html/page.h"

#include "core/base/printable.h"

namespace pdsim::scenarios {

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : printable_lines(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string filled(std::string_view page, const std::map<std::string_view, std::string>& texts) {
  std::string out;
  for (std::size_t open = 0; (open = page.find("{{")) != std::string_view::npos;) {
    const std::size_t close = page.find("}}", open);
    out += page.substr(0, open);
    out += texts.at(page.substr(open + 2, close - open - 2));
    page.remove_prefix(close + 2);
  }
  return out.append(page);
}

}  // namespace pdsim::scenarios
