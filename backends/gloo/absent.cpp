// Stubs for a build without Gloo.

#include "backends/availability.h"
#include "backends/gloo/gloo_backend.h"

namespace pdsim {

GlooOptions GlooOptions::from_environment() { return {}; }

Result<std::unique_ptr<Backend>> make_gloo_backend(Runtime&, const GlooOptions&) {
  return Error{Code::unavailable, gloo_availability().reason, {}};
}

}  // namespace pdsim
