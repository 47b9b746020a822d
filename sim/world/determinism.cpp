#include "sim/world/determinism.h"

#include "sim/kernel/trace.h"

#include <fmt/format.h>

#include <cstring>

namespace pdsim::sim {
namespace {

std::string replay_of(const std::vector<std::uint32_t>& choices) {
  return fmt::format("replay:{}", fmt::join(choices, "."));
}

}  // namespace

ShakenHeap::ShakenHeap(int round) {
  std::vector<std::unique_ptr<std::byte[]>> returned;
  for (std::size_t size = 16; size <= 2048; size += 16) {
    for (int i = 0; i < 4 * round + 3; ++i) {
      auto block = std::make_unique<std::byte[]>(size);
      std::memset(block.get(), 0x11 * round + 1, size);
      (i % 2 == 0 ? held_ : returned).push_back(std::move(block));
    }
  }
}

Result<std::string> difference_on_rerun(const RunRecord& first, const WorldSpec& spec, RunOptions options,
                                        const RankProgram& program, int reruns) {
  options.trace_limit = default_trace_limit;
  for (int round = 1; round <= reruns; ++round) {
    const ShakenHeap shaken(round);
    const auto again = run(spec, options, program);
    if (!again.ok()) return again.error();
    if (const std::string difference = first_difference(first, *again); !difference.empty()) return difference;
  }
  options.strategy = replay_of(first.choices);
  const auto replayed = run(spec, options, program);
  if (!replayed.ok()) return replayed.error();
  const std::string difference = first_difference(first, *replayed);
  return difference.empty() ? difference : "replayed from its choices, " + difference;
}

}  // namespace pdsim::sim
