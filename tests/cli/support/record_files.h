// The record files (rank_N.ring) of ranks that run beside a test.
#pragma once

#include <filesystem>
#include <string>

namespace pdsim::cli_tests {

// Whether the records of ranks 0 and 1 below the folder hold a call of this name: both have come that far.
bool both_recorded(const std::filesystem::path& records, const std::string& call);

}  // namespace pdsim::cli_tests
