// What a library itself prints for an error, word for word, as people search for it.
#pragma once

#include "core/base/result.h"
#include "core/semantics/library.h"

#include <string>

namespace pdsim::sim {

// The text of the library where its words for this error are known, else the error's own message. A simulated rank has no address,
// so that the rank stands in its place.
std::string printed_error(const LibrarySemantics& library, const Error& error);

}  // namespace pdsim::sim
