// Gloo called as its own examples do: options are filled once, then the function is called repeatedly.
#pragma once

#include "core/group/raw_caller.h"

#include <gloo/context.h>

#include <memory>

namespace pdsim {

std::unique_ptr<RawCaller> make_gloo_raw_caller(std::shared_ptr<::gloo::Context> context);

}  // namespace pdsim
