// The long texts of `pdsim explain` for error codes: when it happens, how to recognise it in the wild, the fix.
#pragma once

#include "core/base/errors.h"

#include <string_view>

namespace pdsim::scenarios {

std::string_view text_of_error(Code code);

}  // namespace pdsim::scenarios
