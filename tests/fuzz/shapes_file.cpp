// FILE.json of `pdsim buckets`: the shapes of gradients.
#include "tools/scenarios/shapes_file.h"

#include "core/parallel/bucket_layout.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  scenarios::LoadedFile file;
  file.file = "fuzzed.json";
  file.text = fuzz::text_of(data, size);
  const std::optional<tools::Gradients> gradients = tools::gradients_of_shapes(file);
  PDSIM_CHECK(gradients.has_value() == (file.errors == 0), "a file without errors has gradients");
  for (const scenarios::Diagnostic& diagnostic : file.diagnostics)
    PDSIM_CHECK(!render(file, diagnostic).empty(), "every problem can be shown");
  if (!gradients) return 0;
  std::size_t placed = 0;
  for (const auto& bucket : rebuilt_layout(gradients->tensors, gradients->ready_order, gradients->options))
    placed += bucket.size();
  PDSIM_CHECK(placed == gradients->tensors.size(), "every gradient is in one bucket");
  return 0;
}
