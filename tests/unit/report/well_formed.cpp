#include "tests/unit/report/well_formed.h"

#include <cctype>
#include <vector>

namespace pdsim::scenarios {

std::string first_problem(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = html.find('<', at)) != std::string::npos;) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    const std::string tag = html.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.rfind("!DOCTYPE", 0) == 0 || tag.rfind("meta", 0) == 0 || tag.rfind("input", 0) == 0 || tag.back() == '/')
      continue;
    std::string name;
    for (const char c : tag.substr(tag.front() == '/' ? 1 : 0)) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) break;
      name += c;
    }
    if (tag.front() == '/') {
      if (open.empty() || open.back() != name)
        return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
      open.pop_back();
    } else if (name == "script" || name == "style") {
      at = html.find("</" + name, at);
      open.push_back(name);
    } else {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

}  // namespace pdsim::scenarios
