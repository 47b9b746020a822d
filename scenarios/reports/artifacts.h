// The files a run leaves: report.html, trace.json and events.jsonl.
#pragma once

#include "core/base/result.h"
#include "scenarios/diagnosis/report.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios {

// Creates `dir` if necessary. All three files are written whole or not at all: an error (io_error) leaves the earlier
// files (backends/os/whole_file.h). `text` is the text report, shown in report.html; `source` is the scenario file's,
// kept in events.jsonl for `pdsim diagnose`.
Status write_artifacts(const Report& report, const std::string& dir, std::string_view text,
                       std::string_view source = {});

}  // namespace pdsim::scenarios
