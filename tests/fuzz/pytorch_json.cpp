// Dumps of PyTorch's Flight Recorder as JSON.
#include "scenarios/records/pytorch/forms/json.h"
#include "tests/fuzz/pytorch_dump.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<scenarios::pytorch::Tree> tree = scenarios::pytorch::read_json(fuzz::text_of(data, size));
  if (tree.ok()) fuzz::use_dump(*tree);
  return 0;
}
