// The flags of nccl-tests without a counterpart in pdsim bench: accepted with the same meaning, or refused with the replacement.
//
//   source   nccl-tests, README.md, "Arguments", and src/common.cu
#pragma once

#include "core/base/quantity.h"
#include "tools/flags/trial_flags.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {

struct NcclTestsFlags {
  // Selects which of the ranks' times of a call is shown.
  enum class Average { rank_0, mean, fastest, slowest };

  std::optional<int> threads, gpus;  // -t and -g: in nccl-tests ranks of this process, here ranks of the whole command
  std::optional<int> average;        // -a
  std::optional<double> timeout_s;   // -T
  std::vector<std::string> unused;   // by row of the table in nccl_tests_flags.cpp: the given value, or nothing

  Average shown() const { return static_cast<Average>(average.value_or(1)); }
  // The timeout of an operation; nothing: the request's own.
  std::optional<Time> timeout() const;
};

void add_nccl_tests_flags(CLI::App& app, NcclTestsFlags& flags);

// Sets trial.ranks by -t and -g. Returns the problem with the flags, in one line with the replacement; empty: none.
std::string take_nccl_tests_flags(const NcclTestsFlags& flags, bool in_a_job, TrialFlags& trial);

// Converts nccl-tests' names of element types and operations (float, half, int32, prod ...) to pdsim's; other words are
// unchanged.
std::string dtype_of_nccl_tests(const std::string& word);
std::string op_of_nccl_tests(const std::string& word);

}  // namespace pdsim::tools
