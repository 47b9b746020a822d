// Which GPU each rank says its tensors are on (`--cuda-on-cpu`), and what NCCL would say about that.
//
//   on the CPU   a tensor that NCCL does not take is refused at the call
//   shared GPUs  NCCL compares them when it makes a communicator, which is a group's first call: that call fails on every rank
//   threads      the one of the simulated world
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"
#include "core/semantics/library.h"
#include "scenarios/guests/request.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios::guests {

class Devices {
 public:
  // `library`: whose semantics the world has; null: that of none. `old`: with the words of PyTorch before 2.0.
  Devices(const LibrarySemantics* library, bool old) : library_(library), old_(old) {}

  // Before the call of a request. unsupported: its tensors are not where the library takes them. Notes the GPU of a group's
  // first call. `own`: the group's library, where that is not the world's.
  Status use(RankEnvironment& env, const Request& request, const ProcessGroup& group, const LibrarySemantics* own = nullptr);
  // At the end of a call. invalid_argument: another rank of the group is on the same GPU.
  Status shared(Rank rank, const ProcessGroup& group) const;

 private:
  struct Place {
    Rank rank = 0;
    int node = 0, device = 0;
  };
  // The places of each group, which its ranks name the same way, in the order of their arrival.
  std::map<std::pair<std::string, std::vector<Rank>>, std::vector<Place>> places_;
  const LibrarySemantics* library_;
  bool old_;
};

}  // namespace pdsim::scenarios::guests
