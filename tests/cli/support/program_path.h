// Where the pdsim command under test lies, for scripts that start it themselves.
#pragma once

#include <string>

namespace pdsim::cli_tests {

std::string program_path();

}  // namespace pdsim::cli_tests
