// The folder that a command writes its files into.
#pragma once

#include "core/base/result.h"

#include <string>

namespace pdsim::tools {

// Creates the folder, and tests whether a file can be written there, before anything runs. `flag` is its name in
// errors: input_invalid, where the folder cannot be created or written to; io_error, where the disk accepts nothing.
Status prepare_output_folder(const std::string& flag, const std::string& folder);

// A check for add_option: the name of a folder must not be empty.
std::string folder_name_problem(const std::string& text);

}  // namespace pdsim::tools
