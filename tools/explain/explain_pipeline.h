// `pdsim explain` of a pipeline schedule: a published one by its name, or the user's own order of actions from a .csv file.
#pragma once

#include "tools/console/console.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pdsim::tools {

struct PipelineFlags {
  int stages = 4;
  int stages_per_rank = 1;
  std::vector<int> microbatches{8};
  std::string forward = "1ms", input_backward = "1ms", weight_backward = "1ms", message = "0us";
};

void add_pipeline_flags(CLI::App& app, const std::shared_ptr<PipelineFlags>& flags);

// Whether it is the name of a schedule, or of a .csv file.
bool is_pipeline(const std::string& id);
// Returns the exit status, and its page; an empty page: the problem has been printed. `svg`: a file for the picture, or empty.
int explain_pipeline(const std::string& id, const PipelineFlags& flags, const std::string& svg, std::string& page,
                     Console& console);

// The names, for `did you mean`.
std::vector<std::string> pipeline_names();

}  // namespace pdsim::tools
