// THE table of symptoms: what libraries and launchers print, and the entry of `pdsim explain` that it belongs to.
//
//   adding    one row. `*` stands for whatever differs from job to job: numbers, ranks, names, addresses, paths
//   cause     the text names what went wrong; else it reports what followed, and the cause is on another rank
//   says      what the text proves, and what it leaves open: one or two sentences
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
