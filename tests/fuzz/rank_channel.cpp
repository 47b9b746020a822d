// What a launcher and its rank processes say to each other: the start, and records. A rank's process runs foreign libraries,
// which may have written anything anywhere before it died.
#include "backends/process/rank_channel.h"

#include "scenarios/records/record_json.h"
#include "tests/fuzz/explain.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

namespace {

void use_record(std::string_view text) {
  Result<RankResult> result = scenarios::rank_result_from_json(text);
  if (!result.ok()) return;
  const std::string written = scenarios::to_json(*result);
  const Result<RankResult> again = scenarios::rank_result_from_json(written);
  PDSIM_CHECK(again.ok() && scenarios::to_json(*again) == written,
              "a record that was read can be written and read again");
  RunRecord run;
  run.deadlocked = true;
  run.ranks.resize(2);
  run.ranks[1] = std::move(*result);
  for (std::size_t r = 0; r < run.ranks.size(); ++r) run.ranks[r].log.rank = static_cast<Rank>(r);
  run.watchdog.resize(run.ranks.size());
  fuzz::explain(std::move(run), "gloo");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const Frame& frame : fuzz::frames_in(fuzz::text_of(data, size))) {
    const std::string_view payload = frame.payload;
    if (frame.kind == FrameKind::start)
      if (const auto start = rank_start_of(payload); start.ok())
        PDSIM_CHECK(rank_start_of(text_of(*start)).ok(), "a start that was read can be sent again");
    if (frame.kind == FrameKind::record) use_record(payload);
    if (frame.kind == FrameKind::final_record && !payload.empty()) use_record(payload.substr(1));
  }
  return 0;
}
