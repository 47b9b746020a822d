#include "core/semantics/library.h"

#include "core/semantics/libraries.h"

#include <array>

namespace pdsim {
namespace {

constexpr auto library_rows = [] {
  std::array<LibrarySemantics, library_table.size()> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = library_table[i].semantics;
  return rows;
}();

}  // namespace

std::span<const LibrarySemantics> library_semantics() { return library_rows; }

const LibrarySemantics* library_named(std::string_view name) {
  for (const LibrarySemantics& row : library_rows)
    if (row.name == name) return &row;
  return nullptr;
}

LibrarySemantics with_variables(LibrarySemantics library, const NcclVariables& variables) {
  const bool blocking = variables.blocking_wait.value_or(false);
  const bool handled = variables.async_error_handling.value_or(1) != 0;
  if (blocking) {
    library.on_timeout = OnTimeout::work_fails;
    library.timeout_names_call = true;
    library.waits_on_stream = false;
    if (variables.async_error_handling.value_or(0) != 0)
      library.watchdog_note = "both variables are set, so the blocking wait wins and no watchdog runs";
  } else if (!handled) {
    library.on_timeout = OnTimeout::nothing;
    library.watchdog_silent = "nothing, ever: neither a blocking wait nor asynchronous error handling is on";
  }
  return library;
}

}  // namespace pdsim
