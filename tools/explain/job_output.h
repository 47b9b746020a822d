// Shows the findings of `pdsim diagnose` in a job: the text report or JSON on standard output, and a page if requested.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "tools/console/console.h"

#include <set>
#include <string>

namespace pdsim::tools {

// The output of one invocation, which may explain several jobs.
class JobOutput {
 public:
  // `html`: empty, no page; a name that ends with .html, the page of the only job; else a folder with JOB.html for each.
  JobOutput(bool json, std::string html) : json_(json), html_(std::move(html)) {}

  bool json() const { return json_; }
  // Checks that the pages can be written, before anything is read. Returns the exit status; prints a problem unless it
  // is exit_held.
  int prepare(Console& console) const;
  // `text`: the text report. Returns the exit status of writing.
  int show(const scenarios::Report& report, const std::string& text, Console& console);

 private:
  int write_page(const scenarios::Report& report, const std::string& text, Console& console);
  bool json_ = false;
  std::string html_;
  std::set<std::string> written_;
};

}  // namespace pdsim::tools
