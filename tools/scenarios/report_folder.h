// The folder that `--out` names: OUT/SCENARIO/VARIANT/ with the report of each variant, and OUT/index.html over them.
#pragma once

#include "core/base/result.h"
#include "scenarios/reports/html/index_page.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// Writes the reports of a file's variants, except skipped ones; returns the file's row of the index. Removes from `reports` the
// times that a simulated run took here, so that the files are the same on every machine. Errors: io_error.
Result<scenarios::IndexFile> write_reports(const scenarios::LoadedFile& file, std::vector<scenarios::Report>& reports,
                                           const std::string& out, const std::string& strategy);

// Errors: io_error.
Status write_index(std::string_view title, std::span<const scenarios::IndexFile> files, const std::string& out);

}  // namespace pdsim::tools
