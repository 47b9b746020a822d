// The part of the training that a call belongs to, in words.
#pragma once

#include "core/record/site.h"

#include <string_view>

namespace pdsim::scenarios {

// "in the backward pass", "while it saves or loads a checkpoint"; empty where the record does not say.
constexpr std::string_view phase_text(Phase phase) {
  switch (phase) {
    case Phase::none:
      return "";
    case Phase::initialization:
      return "while process groups are made";
    case Phase::construction:
      return "while the model is built";
    case Phase::data_loading:
      return "while data is loaded";
    case Phase::forward:
      return "in the forward pass";
    case Phase::backward:
      return "in the backward pass";
    case Phase::optimizer:
      return "in the optimizer step";
    case Phase::evaluation:
      return "in evaluation";
    case Phase::checkpoint:
      return "while it saves or loads a checkpoint";
  }
  return "";
}

}  // namespace pdsim::scenarios
