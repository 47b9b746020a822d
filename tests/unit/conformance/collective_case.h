// One recorded case of tests/oracle/collectives, read: what the ranks called, and what PyTorch gave them.
#pragma once

#include "core/base/types.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pdsim::oracle {

using Bytes = std::vector<std::byte>;

struct CaseRank {
  std::vector<Bytes> input;  // one tensor, or one for each rank; empty: none
  std::vector<Bytes> output;
  std::string error;  // its message; empty: the call succeeded
};

struct CollectiveCase {
  std::string id;
  std::string collective;  // PyTorch's name, with _subgroup where `members` is not the world
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;  // global rank
  std::vector<Rank> members;
  std::vector<CaseRank> ranks;
};

struct CaseFile {
  std::string name;
  std::vector<CollectiveCase> cases;
};

// Every .jsonl of `collectives` in the folder that PDSIM_ORACLE_DIR names, or of the copy in this source tree, by name.
std::vector<CaseFile> read_collective_cases();

}  // namespace pdsim::oracle
