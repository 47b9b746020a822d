#include "tools/explain/job_output.h"

#include "backends/os/whole_file.h"
#include "scenarios/text/path_part.h"
#include "scenarios/reports/html/html_report.h"
#include "scenarios/reports/json/findings_json.h"
#include "tools/command.h"
#include "tools/console/output_folder.h"
#include "tools/flags/trial_flags.h"

#include <fmt/format.h>

#include <filesystem>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

bool is_page_name(const std::string& path) { return path.ends_with(".html") || path.ends_with(".htm"); }

}  // namespace

int JobOutput::prepare(Console& console) const {
  if (html_.empty()) return exit_held;
  if (is_page_name(html_)) {
    const std::string problem = place_problem(html_);
    if (problem.empty()) return exit_held;
    console.problem(fmt::format("--html {}: {}", html_, problem));
    return exit_wrong_input;
  }
  const Status folder = prepare_output_folder("--html", html_);
  if (folder.ok()) return exit_held;
  console.problem(folder.error().message);
  return status_of(folder.error());
}

int JobOutput::show(const scenarios::Report& report, const std::string& text, Console& console) {
  console.print(json_ ? scenarios::render_findings(report) : text);
  return html_.empty() ? exit_held : write_page(report, text, console);
}

int JobOutput::write_page(const scenarios::Report& report, const std::string& text, Console& console) {
  std::string path = html_;
  if (!is_page_name(html_)) {
    const std::string& variant = report.scenario->variant;
    const std::string name = path_part(report.scenario->name + (variant.empty() ? "" : "_" + variant));
    path = (fs::path(html_) / (name + ".html")).string();
    for (int number = 2; written_.count(path) != 0; ++number)
      path = (fs::path(html_) / fmt::format("{}-{}.html", name, number)).string();
  } else if (!written_.empty()) {
    console.problem(fmt::format("--html {} names one page, but there are several jobs; give a folder", html_));
    return exit_wrong_input;
  }
  written_.insert(path);
  if (const Status status = write_whole_file(path, scenarios::render_html(report, text)); !status.ok()) {
    console.problem(status.error().message);
    return status_of(status.error());
  }
  if (!json_) console.print(fmt::format("page     {}\n", path));
  return exit_held;
}

}  // namespace pdsim::tools
