// Flight records as `pdsim scenario --out` saves them (events.jsonl), and what `pdsim diagnose` makes of them.
#include "scenarios/records/pytorch/write.h"
#include "scenarios/records/record_json.h"
#include "scenarios/records/record_origin.h"
#include "tests/fuzz/explain.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  const std::optional<scenarios::RecordOrigin> origin = scenarios::origin_from_jsonl(text);
  Result<scenarios::SavedRun> saved = scenarios::run_from_jsonl(text);
  if (!saved.ok()) {
    PDSIM_CHECK(!saved.error().message.empty(), "an error says what is wrong");
    return 0;
  }
  RunRecord& run = saved->run;
  const std::string written = scenarios::events_jsonl(run);
  const Result<scenarios::SavedRun> again = scenarios::run_from_jsonl(written);
  PDSIM_CHECK(again.ok() && again->left_out.empty() && scenarios::events_jsonl(again->run) == written,
              "what was read can be written and read again");
  for (const scenarios::pytorch::Dump& dump : scenarios::pytorch::dumps_of(run, {}))
    PDSIM_CHECK(scenarios::pytorch::read_tree(pickle_text(dump)).ok(), "its dumps in PyTorch's form can be read");
  fuzz::explain(std::move(run), origin && !origin->world.empty() ? origin->world : "sim");
  return 0;
}
