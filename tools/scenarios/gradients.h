// The gradients of a model, as `pdsim buckets` lays them out.
#pragma once

#include "core/base/result.h"
#include "core/parallel/bucket_layout.h"
#include "tools/console/console.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pdsim::tools {

// The parameters in definition order, and the order in which their gradients become ready.
struct Gradients {
  std::string title;
  std::vector<std::string> names;
  std::vector<BucketTensor> tensors;
  std::vector<std::size_t> ready_order;
  DdpOptions options;
};

// Reads a scenario's model (and runs one backward of its default path), or FILE.json: {"dtype": "f32", "ready_order":
// [[4096], [4096, 25088]]}, shapes as their gradients become ready. Errors: input_invalid, with an empty text when the
// problem has been printed already.
Result<Gradients> read_gradients(const std::string& file, const std::string& variant, Console& console);

}  // namespace pdsim::tools
