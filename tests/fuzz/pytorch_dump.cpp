#include "tests/fuzz/pytorch_dump.h"

#include "core/base/check.h"
#include "scenarios/diagnosis/report.h"
#include "scenarios/records/pytorch/job.h"
#include "scenarios/records/pytorch/forms/json.h"
#include "scenarios/records/pytorch/forms/pickle.h"
#include "scenarios/records/pytorch/write.h"
#include "tests/fuzz/explain.h"

namespace pdsim::fuzz {

using namespace scenarios::pytorch;

void use_dump(const Tree& tree) {
  if (!is_dump(tree)) return;
  const Result<Dump> dump = dump_of(tree, 0);
  if (!dump.ok()) return;
  const Result<Tree> pickled = read_pickle(pickle_text(*dump));
  PDSIM_CHECK(pickled.ok(), "a dump that was read can be pickled and read again");
  const Result<Dump> again = dump_of(*pickled, 0);
  PDSIM_CHECK(again.ok() && again->entries == dump->entries, "and it holds the same entries");
  const Result<Tree> as_json = read_json(json_text(*dump));
  PDSIM_CHECK(as_json.ok() && dump_of(*as_json, 0).ok(), "the same in JSON");
  Dump other = *dump;
  other.rank = 1;
  if (!other.entries.empty()) other.entries.pop_back();  // behind rank 0, so that there is something to diagnose
  Result<RunRecord> run = run_of({*dump, other});
  if (run.ok()) explain(std::move(*run), std::string(scenarios::pytorch_world));
}

}  // namespace pdsim::fuzz
