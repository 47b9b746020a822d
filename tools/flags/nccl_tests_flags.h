// The flags of nccl-tests that pdsim bench has no name of its own for: taken with the same meaning, or refused with what to use.
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
  // Which of the ranks' times of a call is shown.
  enum class Average { rank_0, mean, fastest, slowest };

  std::optional<int> threads, gpus;  // -t and -g: ranks of this process there, ranks of the whole command here
  std::optional<int> average;        // -a
  std::optional<double> timeout_s;   // -T
  std::vector<std::string> unused;   // by row of the table in nccl_tests_flags.cpp: what was given, or nothing

  Average shown() const { return static_cast<Average>(average.value_or(1)); }
  // Of an operation; nothing: the request's own.
  std::optional<Time> timeout() const;
};

void add_nccl_tests_flags(CLI::App& app, NcclTestsFlags& flags);

// Sets trial.ranks by -t and -g. What is wrong with the flags, in one line that says what to use; empty: nothing.
std::string take_nccl_tests_flags(const NcclTestsFlags& flags, bool in_a_job, TrialFlags& trial);

// nccl-tests' names of element types and operations (float, half, int32, prod ...) as ours; other words stay as they are.
std::string dtype_of_nccl_tests(const std::string& word);
std::string op_of_nccl_tests(const std::string& word);

}  // namespace pdsim::tools
