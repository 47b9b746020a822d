#include "tools/scenarios/report_folder.h"

#include "backends/os/whole_file.h"
#include "scenarios/reports/artifacts.h"
#include "scenarios/reports/text/text_report.h"

#include <filesystem>

namespace pdsim::tools {

namespace fs = std::filesystem;

Result<scenarios::IndexFile> write_reports(const scenarios::LoadedFile& file, std::vector<scenarios::Report>& reports,
                                           const std::string& out, const std::string& strategy) {
  scenarios::TextOptions text;
  text.out_dir = out;
  text.source = file.text;
  text.strategy = strategy;
  for (scenarios::Report& report : reports) {
    if (report.world.is_simulated()) report.run.wall_ns = 0;
    if (report.verdict == scenarios::Verdict::skip) continue;
    const fs::path folder = fs::path(out) / report.scenario->name / report.scenario->variant;
    const Status written =
        scenarios::write_artifacts(report, folder.string(), scenarios::render_text({report}, text), file.text);
    if (!written.ok()) return written.error();
  }
  return scenarios::index_file(file, reports);
}

Status write_index(std::string_view title, std::span<const scenarios::IndexFile> files, const std::string& out) {
  return write_whole_file((fs::path(out) / "index.html").string(), scenarios::render_index(title, files));
}

}  // namespace pdsim::tools
