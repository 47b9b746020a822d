// Scenario texts for tests, and what the loader has to say about them.
#pragma once

#include "scenarios/language/loader.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios {

// A scenario without a flaw, as long as an expectation follows.
inline const std::string valid_start = R"(pdsim: 1
name: mine
summary: one sentence
world:
  ranks: 2
  link: {latency: 5us, bandwidth: 25GB/s}
model:
  layers: {trunk: {linear: [4, 8]}, norm: {batchnorm: 8}, head: {linear: [8, 1]}}
  paths: {full: [trunk, norm, head], short: [trunk, head]}
program:
  - init_process_group
  - train: {steps: 3}
  - barrier
)";
inline const std::string valid = valid_start + "expect: {outcome: ok}\n";

// The valid scenario with a part replaced.
inline std::string with(std::string_view old, std::string_view replacement) {
  std::string text = valid;
  return text.replace(text.find(old), old.size(), replacement);
}

inline std::string report_of(const std::string& text) {
  const LoadedFile file = load_text("mine.yaml", text);
  std::string out;
  for (const Diagnostic& d : file.diagnostics) out += render(file, d);
  return out;
}

// The same with this part of a program in place of the barrier.
inline std::string instead_of_barrier(std::string_view program) { return report_of(with("  - barrier\n", program)); }

}  // namespace pdsim::scenarios
