// THE table of symptoms: texts that libraries and launchers print, and the entry of `pdsim explain` for each.
//
//   adding    one row. `*` stands for anything that differs from job to job: numbers, ranks, names, addresses, paths
//   cause     the text names the cause; otherwise it reports a consequence, and the cause is on another rank
//   says      the facts that the text proves, and those it leaves open: one or two sentences
#pragma once

#include <span>
#include <string_view>

namespace pdsim::scenarios {

struct Symptom {
  std::string_view entry;  // the id of a diagnosis, or the name of an error code
  bool cause = false;
  std::string_view text;
  std::string_view says;
};

std::span<const Symptom> symptom_table();

}  // namespace pdsim::scenarios
