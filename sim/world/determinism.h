// The determinism check: repeating a run must give the same events; otherwise a seed is worthless.
//
//   does      repeats the run that gave `first`, `reruns` times, each with a heap of another shape, as leaks of addresses
//             and of unwritten memory show only there; then once more from its recorded choices
//   result    "" when all runs are the same, else the first event that differs, as far as the trace of `first` goes
//   does not see differences that are constant within one process (its number, the compiler's order of evaluation): comparing
//             fingerprints across builds finds those
//   errors    those of run()
#pragma once

#include "sim/run.h"

#include <memory>
#include <string>
#include <vector>

namespace pdsim::sim {

Result<std::string> difference_on_rerun(const RunRecord& first, const WorldSpec& spec, RunOptions options,
                                        const RankProgram& program, int reruns = 1);

// Changes the shape of the heap while it lives: takes blocks of many sizes, writes others and frees them.
class ShakenHeap {
 public:
  explicit ShakenHeap(int round);

 private:
  std::vector<std::unique_ptr<std::byte[]>> held_;
};

}  // namespace pdsim::sim
