// THE table of symptoms: texts that libraries and launchers print, and the entry of `pdsim explain` for each.
//
//   adding    one row, in the file of who prints it: symptoms_of_nccl.cpp, symptoms_of_groups.cpp (Gloo, stores and wrong calls),
//             symptoms_of_training.cpp, symptoms_of_launchers.cpp. `*` stands for anything that differs from job to job: numbers, ranks, names, addresses, paths
//   cause     the text names the cause; otherwise it reports a consequence, and the cause is on another rank
//   says      the facts that the text proves, and those it leaves open: one or two sentences
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

struct Symptom {
  std::string_view entry;  // the id of a diagnosis, or the name of an error code or of an outside cause
  bool cause = false;
  std::string_view text;
  std::string_view says;
};

std::span<const Symptom> symptoms_of_nccl();
std::span<const Symptom> symptoms_of_groups();
std::span<const Symptom> symptoms_of_training();
std::span<const Symptom> symptoms_of_launchers();

// All rows, in a fixed order.
std::vector<const Symptom*> symptom_table();

// What rows of several files say.
inline constexpr std::string_view somebody_left =
    "It proves that the process at the other end closed the connection or ended. That process's own log shows the "
    "reason; the first error by time is the cause.";
inline constexpr std::string_view store_ended =
    "It proves that the process that serves the store (rank 0, or the launcher) ended or closed while this rank needed it. Its log says why.";

}  // namespace pdsim::scenarios
