// Scenario files: what `pdsim check` does with one.
#include "scenarios/language/loader.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const scenarios::LoadedFile file = scenarios::load_text("fuzzed.yaml", fuzz::text_of(data, size));
  PDSIM_CHECK(file.errors == 0 || file.variants.empty(), "a file with errors has no variants");
  PDSIM_CHECK(file.errors > 0 || !file.variants.empty(), "a file without errors has a variant");
  for (const scenarios::Diagnostic& diagnostic : file.diagnostics)
    PDSIM_CHECK(!render(file, diagnostic).empty(), "every problem can be shown");
  for (const scenarios::Scenario& variant : file.variants) {
    const scenarios::LoadedFile effective =
        scenarios::load_text("effective.yaml", effective_document(file, variant.variant));
    PDSIM_CHECK(effective.errors == 0, "a variant's effective document is a scenario file");
  }
  return 0;
}
