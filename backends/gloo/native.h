// Gloo's own collectives, behind pdsim's Collective value.
//
//   blocks   until this rank's part is done; throws what Gloo throws
//   copies   reduce hands Gloo a copy on ranks other than the root, for Gloo uses their output as scratch; all_to_all in place
//            and the scaled inputs of avg and premul_sum need one as well
//   order    of floating-point sums is Gloo's (ring); every dtype and op goes through pdsim's own kernel
#pragma once

#include "core/collectives/collective.h"

#include <gloo/context.h>

#include <memory>

namespace pdsim {

// `call` is not empty and of a kind that Gloo has (capabilities.h).
void run_native(const std::shared_ptr<::gloo::Context>& context, const Collective& call);

}  // namespace pdsim
