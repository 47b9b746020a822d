// The output of `ncclras -f json` (NCCL 2.28.7 and newer): every communicator with the state and the counts of each of its ranks.
// Read into the same facts as its text form (ras_reader.h).
//
//   counts   ranks that have launched the same number of operations of one kind are one part; kinds in which all agree give no
//            fact
//   status   of ranks that are not all in one state: INIT, RUNNING, ABORT, or an error's number
//   missing  ranks whose process does not answer, or is considered dead
//   size     a communicator is the whole job's where its ranks are as many as the distinct processes and devices
//   bounds   most_ras_json bytes; most_members ranks of a part
#pragma once

#include "scenarios/records/logs/log_facts.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::logs {

inline constexpr std::size_t most_ras_json = std::size_t{64} << 20;

// Whether a text that begins like this can be such a document.
bool looks_like_ras_json(std::string_view beginning);

// Nothing, with the reason in `problem`, where it is not.
std::optional<std::vector<RasReport>> read_ras_json(std::string_view text, std::string& problem);

}  // namespace pdsim::scenarios::logs
