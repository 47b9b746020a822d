// The folder that a command writes its files into.
#pragma once

#include "core/base/result.h"

#include <string>

namespace pdsim::tools {

// Makes the folder, and tries whether a file can be written there, before anything runs. `flag` is its name in errors:
// input_invalid, where the folder cannot be there or nobody may write to it; io_error, where the disk takes nothing.
Status prepare_output_folder(const std::string& flag, const std::string& folder);

// A check for add_option: a folder has a name.
std::string folder_name_problem(const std::string& text);

}  // namespace pdsim::tools
