#include "core/record/notes.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim {
namespace {

template <std::size_t... Is>
std::optional<NoteBody> note_of_kind_among(std::string_view kind, std::index_sequence<Is...> /*alternatives*/) {
  std::optional<NoteBody> found;
  const auto consider = [&]<class T>(T none) {
    if (T::kind == kind) found = std::move(none);
  };
  (consider(std::variant_alternative_t<Is, NoteKinds>{}), ...);
  return found;
}

}  // namespace

NoteBody::NoteBody() = default;
NoteBody::NoteBody(const NoteBody& other) = default;
NoteBody::NoteBody(NoteBody&& other) noexcept = default;
NoteBody& NoteBody::operator=(const NoteBody& other) = default;
NoteBody& NoteBody::operator=(NoteBody&& other) noexcept = default;
NoteBody::~NoteBody() = default;

std::string_view kind_of(const NoteBody& body) {
  return std::visit([](const auto& note) { return note.kind; }, body);
}

std::optional<NoteBody> note_of_kind(std::string_view kind) {
  return note_of_kind_among(kind, std::make_index_sequence<std::variant_size_v<NoteKinds>>());
}

std::string text_of(const notes::Warning& warning) {
  switch (warning.about) {
    case notes::WarningKind::rank_ignored:
      return "MPI ignores the rank passed to init";
    case notes::WarningKind::world_size_ignored:
      return fmt::format("MPI ignores the world size passed to init, {}", warning.number);
    case notes::WarningKind::check_reduction:
      return "check_reduction is deprecated and does nothing; remove it";
    case notes::WarningKind::fewer_inputs:
      return fmt::format("join: this rank has at least {} inputs fewer than others", warning.number);
    case notes::WarningKind::unused_search_in_vain:
      return "find_unused_parameters is on, but this forward used every parameter: each iteration walks the graph and "
             "reduces a map of used parameters for nothing, unless a later forward leaves some out";
  }
  return {};
}

}  // namespace pdsim
