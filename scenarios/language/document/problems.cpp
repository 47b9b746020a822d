#include "scenarios/language/document/problems.h"

#include "scenarios/language/check/limits.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::language {
void Problems::error(const Mark& mark, std::string what, std::string label) {
  add({false, std::move(what), mark, std::move(label)});
}

void Problems::warning(const Mark& mark, std::string what, std::string label) {
  add({true, std::move(what), mark, std::move(label)});
}

bool Problems::knows(const Diagnostic& diagnostic) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Diagnostic& d) {
    return d.mark.line == diagnostic.mark.line && d.mark.column == diagnostic.mark.column && d.what == diagnostic.what;
  });
}

void Problems::add(Diagnostic diagnostic) {
  if (!diagnostic.warning) ++seen_;
  if (all_.size() >= limits::diagnostics || knows(diagnostic)) return;
  if (!diagnostic.warning) ++errors_;
  all_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Problems::take() {
  const auto place = [](const Diagnostic& d) { return std::make_tuple(d.mark.line, d.mark.column); };
  std::stable_sort(all_.begin(), all_.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return std::exchange(all_, {});
}

}  // namespace pdsim::scenarios::language
