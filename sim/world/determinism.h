// The determinism check: the same run again must give the same events, or a seed is worth nothing.
//
//   does      repeats the run that gave `first`, `reruns` times with a heap of another shape each, as leaks of addresses
//             and of unwritten memory show only there; then once more from the choices that it recorded
//   result    "" when all runs are the same, else the first event that differs, as far as `first` has a trace
//   does not see what stays the same within one process (its number, the compiler's order of evaluation): the comparison of
//             fingerprints across builds is for that
//   errors    those of run()
#pragma once

#include "sim/run.h"

#include <memory>
#include <string>
#include <vector>

namespace pdsim::sim {

Result<std::string> difference_on_rerun(const RunRecord& first, const WorldSpec& spec, RunOptions options,
                                        const RankProgram& program, int reruns = 1);

// Gives the heap another shape while it lives: blocks of many sizes taken, others written and given back.
class ShakenHeap {
 public:
  explicit ShakenHeap(int round);

 private:
  std::vector<std::unique_ptr<std::byte[]>> held_;
};

}  // namespace pdsim::sim
