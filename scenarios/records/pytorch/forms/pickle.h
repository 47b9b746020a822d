// Python pickles of plain data, protocols 2 to 5, as PyTorch's Flight Recorder writes its dumps.
//
//   reads    dictionaries, lists, tuples, texts, bytes, integers, real numbers, truth values, None, shared parts (the memo)
//            and frames; integers beyond 64 bits become real numbers
//   refuses  everything that names a class or a function (GLOBAL, REDUCE, BUILD ...): nothing is ever looked up, called or
//            executed; any opcode not in the list; truncated input. The error names the opcode and its
//            offset in bytes.
//   limits   a text of 256 MiB, Tree::most_nodes values; memory grows with the text alone; no recursion
#pragma once

#include "core/base/result.h"
#include "scenarios/records/pytorch/forms/value.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios::pytorch {

constexpr std::size_t most_pickle_bytes = std::size_t{256} << 20;

// Whether the text begins like a pickle of these protocols.
bool looks_like_pickle(std::string_view text);
// input_invalid for everything it refuses.
Result<Tree> read_pickle(std::string text, std::size_t most_nodes = Tree::most_nodes);

}  // namespace pdsim::scenarios::pytorch
