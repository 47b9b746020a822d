// The text report (at most 100 columns, about 60 lines) and its quiet form; renders, decides nothing.
//
//   order    a line per variant; then, for the first variant with a diagnosis, verdict, place, fix with its proof, why,
//            other findings, waits by rank, state, timeline, replay; then the totals
//   colour   ANSI, only if asked for, and never the only carrier of a meaning
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

struct TextOptions {
  bool quiet = false;
  bool colour = false;
  std::string out_dir;  // where artefacts of <scenario>/<variant> were written; empty: none were
  std::string source;   // the scenario file's text, for excerpts; empty: places only
  std::string strategy = "fifo";
  std::string patience{};  // of a run in a real world, where it is not the default
  std::string replay{};  // the command that reproduces this report; empty: the scenario's
};

// The variants of one file.
std::string render_text(const std::vector<Report>& reports, const TextOptions& options);

// The outcome of one run and its cause, without verdicts: for a record whose expectations are not available.
std::string render_diagnosis(const Report& report, const TextOptions& options);

}  // namespace pdsim::scenarios
