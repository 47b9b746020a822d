#include "scenarios/language/document/problems.h"

#include "scenarios/language/check/limits.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::language {
namespace {

// Far more than is ever shown: a hostile file shall not make us remember a million complaints.
constexpr std::size_t most_remembered = 1000;

}  // namespace

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
  if (all_.size() >= most_remembered || knows(diagnostic)) return;
  if (!diagnostic.warning) ++errors_;
  all_.push_back(std::move(diagnostic));
}

std::vector<Diagnostic> Problems::take() {
  const auto place = [](const Diagnostic& d) { return std::make_tuple(d.mark.line, d.mark.column); };
  std::stable_sort(all_.begin(), all_.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::make_tuple(a.warning, place(a)) < std::make_tuple(b.warning, place(b));
  });
  if (all_.size() > static_cast<std::size_t>(limits::diagnostics)) all_.resize(limits::diagnostics);
  std::stable_sort(all_.begin(), all_.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return std::exchange(all_, {});
}

}  // namespace pdsim::scenarios::language
