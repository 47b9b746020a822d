// All that is said of one library: what its users see of it, what it does itself, what PyTorch's backend of its name refuses.
//
// Adding one: a file in core/semantics/libraries with its row, which core/semantics/libraries.h lists; a real one also has its folder of
// backends and a row in backends/availability.cpp.
#pragma once

#include "core/base/quantity.h"
#include "core/collectives/collective_kind.h"
#include "core/semantics/capabilities.h"
#include "core/semantics/library.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace pdsim {

struct Library {
  LibrarySemantics semantics;
  std::optional<Capabilities> real{};                     // nothing: there are only simulated worlds of it
  std::span<const Refusals> refusals{};                   // the first one of the profile holds
  std::string_view NativeNames::*native_names = nullptr;  // its functions in the table of collectives
  // How its users call them, the form first that its `native` takes; `call` stands for the function's name, `Call` for the same with a
  // capital.
  std::array<std::string_view, 2> raw_forms{};
};

namespace libraries {

using namespace literals;

constexpr EnumSet<CollectiveKind> native_in(std::string_view NativeNames::*library) {
  EnumSet<CollectiveKind> kinds;
  for (const CollectiveRow& kind : collective_table)
    if (!(kind.native.*library).empty()) kinds.add(kind.kind);
  return kinds;
}

}  // namespace libraries
}  // namespace pdsim
