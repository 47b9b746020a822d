// FILE.json of `pdsim buckets`: {"dtype": "f32", "ready_order": [[4096], [4096, 25088]]}, shapes as their gradients become ready.
#pragma once

#include "scenarios/language/loader.h"
#include "tools/scenarios/gradients.h"

#include <optional>

namespace pdsim::tools {

// Reads `file`'s text, which is at most limits::file_bytes long. Sets its diagnostics and errors; nothing when there is an error.
std::optional<Gradients> gradients_of_shapes(scenarios::LoadedFile& file);

}  // namespace pdsim::tools
