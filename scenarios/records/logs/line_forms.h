// THE table of line forms: the lines printed by torch, NCCL, Gloo and launchers, each with the function that reads it.
//
//   adding    a row in nccl_forms or other_forms: a text that every line of the form has, and a function from the line to a fact
//   versions  forms of one meaning are several rows, or one function that takes each wording
#pragma once

#include "scenarios/records/logs/log_facts.h"

#include <optional>
#include <span>
#include <string_view>

namespace pdsim::scenarios::logs {

struct LineForm {
  std::string_view mark;
  std::optional<FactBody> (*read)(std::string_view line);  // for a line with the mark; nothing: the line is not usable
};

std::span<const LineForm> nccl_forms();   // ProcessGroupNCCL and NCCL
std::span<const LineForm> other_forms();     // Gloo, the wrapper of DETAIL, the Reducer, stores
std::span<const LineForm> launcher_forms();  // launchers, batch systems, the kernel

// The first row of these tables that reads the line.
std::optional<FactBody> fact_of_line(std::string_view line);

}  // namespace pdsim::scenarios::logs
