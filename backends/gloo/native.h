// Gloo's own collectives, behind pdsim's Collective value.
//
//   blocks   until this rank's part is done; rethrows Gloo's exceptions
//   copies   reduce passes Gloo a copy on ranks other than the root, as Gloo uses their output as scratch; all_to_all in place
//            and the scaled inputs of avg and premul_sum need one as well
//   order    Gloo's (ring) for floating-point sums; every dtype and op uses pdsim's own kernel
#pragma once

#include "core/collectives/collective.h"

#include <gloo/context.h>

#include <memory>

namespace pdsim {

// `call` must not be empty, and of a kind that Gloo has (capabilities.h).
void run_native(const std::shared_ptr<::gloo::Context>& context, const Collective& call);

}  // namespace pdsim
