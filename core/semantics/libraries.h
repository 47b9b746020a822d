// THE table of libraries, each with a file of its own (library_row.h).
#pragma once

#include "core/semantics/libraries/gloo.h"
#include "core/semantics/libraries/ideal.h"
#include "core/semantics/libraries/mpi.h"
#include "core/semantics/libraries/nccl.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace pdsim {

inline constexpr std::array library_table{libraries::gloo, libraries::nccl, libraries::mpi, libraries::ideal};

inline constexpr auto library_names = [] {
  std::array<std::string_view, library_table.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = library_table[i].semantics.name;
  return names;
}();

// The names of those that have real worlds.
inline constexpr auto real_library_names = [] {
  constexpr auto count =
      std::count_if(library_table.begin(), library_table.end(), [](const Library& l) { return l.real.has_value(); });
  std::array<std::string_view, static_cast<std::size_t>(count)> names{};
  std::size_t at = 0;
  for (const Library& library : library_table)
    if (library.real) names[at++] = library.semantics.name;
  return names;
}();

}  // namespace pdsim
