// Runs one rank's program of tests/oracle/misuse_*.jsonl on the C++ API, as its Python ran on torch.distributed.
//
//   inputs   element i of rank r is 10 (r + 1) + i, of part k of a list 100 k more; `strided` lies at every second place in memory
//   calls    a call that fails ends the program, unless it says `catch`
//   python   what torch.distributed's Python does before it reaches a backend is done here where our scenarios do it: the default
//            group, the store barrier of old versions, global ranks as roots and peers
#pragma once

#include "core/group/rank_program.h"
#include "core/semantics/profile.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdsim::oracle {

struct MisuseCall {
  Status status;
  Time over{};
  // What the call returned, as JSON: tensors as hex. Empty where nothing is compared.
  std::string result;
};

struct MisuseSetting {
  std::string recorded;  // the case, as JSON
  const Profile& profile;
  std::function<void()> stay;  // called when the program ended well, before its groups go
};

// The calls of this rank that were over when the run ended, in `done`; the program's own error is the result. Buffers of calls that
// nobody waited for live in `kept`.
using KeptBuffers = std::vector<std::shared_ptr<std::vector<std::byte>>>;
ProgramResult run_misuse(RankEnvironment& env, const MisuseSetting& setting, std::vector<MisuseCall>& done,
                         KeptBuffers& kept);

// Calls that have no counterpart end with this fact in their error.
inline constexpr std::string_view not_in_our_api = "not_in_our_api";

}  // namespace pdsim::oracle
