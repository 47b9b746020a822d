#include "scenarios/reports/artifacts.h"

#include "backends/os/whole_file.h"
#include "scenarios/records/record_json.h"
#include "scenarios/records/record_origin.h"
#include "scenarios/reports/html/html_report.h"
#include "scenarios/reports/json/trace_report.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace pdsim::scenarios {
namespace {

RecordOrigin origin_of(const Report& report, std::string_view source) {
  if (report.scenario == nullptr) return {};
  const Scenario& s = *report.scenario;
  return {s.name, s.variant, s.file, report.world.name(), s.seed, std::string(source)};
}

}  // namespace

Status write_artifacts(const Report& report, const std::string& dir, std::string_view text, std::string_view source) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directories(dir, failed);
  if (failed) return Error{Code::io_error, fmt::format("cannot write {}: {}", dir, failed.message()), {{"path", dir}}};
  const fs::path folder(dir);
  const std::array<WholeFile, 3> files{
      {{folder / "report.html", render_html(report, text)},
       {folder / "trace.json", render_trace(report)},
       {folder / "events.jsonl", origin_line(origin_of(report, source)) + events_jsonl(report.run)}}};
  return write_whole_files(files);
}

}  // namespace pdsim::scenarios
