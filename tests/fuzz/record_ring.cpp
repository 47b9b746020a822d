// Record rings (rank_N.ring), as a crashed, killed or hostile process leaves them, and packed as an agent sends them.
#include "backends/launch/packed_ring.h"
#include "scenarios/records/launch_record.h"
#include "tests/fuzz/explain.h"
#include "tests/fuzz/target.h"

#include <cstring>
#include <vector>

using namespace pdsim;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint64_t> words((size + 7) / 8);  // rings lie on multiples of 8 bytes
  if (size > 0) std::memcpy(words.data(), data, size);
  const auto memory = std::as_writable_bytes(std::span(words)).first(size);
  static_cast<void>(ring_of_packed(fuzz::text_of(data, size)));
  static_cast<void>(ring_progress(memory));
  Result<RingRecord> ring = read_record_ring(memory);
  if (!ring.ok()) return 0;
  PDSIM_CHECK(ring_of_packed(packed_ring(memory)).ok(), "a ring that can be read can be packed and sent");
  LaunchOutcome outcome;
  outcome.quiet = true;
  outcome.ranks.resize(2);
  if (ring->end) outcome.ranks[0].ended = Ended{ring->end->exit_status, ring->end->signal};
  outcome.ranks[0].ring = std::move(*ring);
  fuzz::explain(scenarios::run_of_launch(outcome), "processes");
  return 0;
}
