#include "core/record/record_check.h"

#include "core/base/printable.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim {
namespace {

template <class Of, std::size_t N>
std::optional<std::string> first_problem(const Of& object, const std::array<NumberField<Of>, N>& rows,
                                         std::string_view before = "") {
  for (const NumberField<Of>& row : rows)
    if (const std::int64_t value = row.of(object); !row.allows(value))
      return number_problem(fmt::format("{}{}", before, row.name), std::to_string(value), row.lowest, row.highest);
  return std::nullopt;
}

void make_printable_text(std::string& text) { text = printable(text); }
void make_printable_text(std::vector<std::string>& texts) {
  for (std::string& text : texts) text = printable(text);
}
template <class T>
void make_texts_printable(T& of);
template <class T>
void make_printable_text(T& of) {
  if constexpr (HasFields<T>) make_texts_printable(of);  // else not a text
}

template <class T>
void make_texts_printable(T& of) {
  for_each_field<T>([&](const auto& field) { make_printable_text(of.*field.member); });
}

}  // namespace

std::string number_problem(std::string_view name, std::string_view value, std::int64_t lowest, std::int64_t highest) {
  return fmt::format("`{}` is {}, and must be a whole number from {} to {}", name, value, lowest, highest);
}

std::optional<std::string> problem_of(const Call& call) {
  if (auto problem = first_problem(call, call_numbers)) return problem;
  if (call.parent >= call.id) return number_problem("parent", std::to_string(call.parent), -1, call.id - 1);
  if (call.peer == any_source && call.name != "recv")
    return number_problem("peer", std::to_string(call.peer), no_rank, most_recorded_ranks - 1);
  if (auto problem = first_problem(call.purpose, purpose_numbers)) return problem;
  return first_problem(call.site, site_numbers, "site.");
}

std::optional<std::string> problem_of(const Note& note) {
  if (auto problem = first_problem(note, note_numbers)) return problem;
  return first_problem(note.site, site_numbers, "site.");
}

std::optional<std::string> stranger_in(const Call& call, std::size_t world_size) {
  const auto last = static_cast<Rank>(world_size) - 1;
  if (call.root > last) return number_problem("root", std::to_string(call.root), no_rank, last);
  if (call.peer > last) return number_problem("peer", std::to_string(call.peer), any_source, last);
  return std::nullopt;
}

void make_printable(Site& site) {
  site.op = printable(site.op);
  if (!site.origin) return;
  CallOrigin origin = *site.origin;
  origin.file = printable(origin.file);
  origin.label = printable(origin.label);
  for (StackFrame& frame : origin.frames) make_texts_printable(frame);
  site.origin = std::move(origin);
}

void make_printable(Facts& facts) {
  for (Fact& f : facts) {
    f.key = printable(f.key);
    f.value = printable(f.value);
  }
}

void make_printable(Call& call) {
  call.name = printable(call.name);
  call.group = printable(call.group);
  call.purpose.detail = printable(call.purpose.detail);
  call.message = printable_lines(call.message);
  make_printable(call.site);
  if (!call.details) return;
  CallDetails details = *call.details;
  make_texts_printable(details);
  call.details = std::move(details);
}

void make_printable(Note& note) {
  std::visit([](auto& body) { make_texts_printable(body); }, note.body);
  make_printable(note.site);
}

void make_printable(RankLog& log) {
  log.error.message = printable_lines(log.error.message);
  make_printable(log.error.facts);
  make_printable(log.error_site);
}

}  // namespace pdsim
