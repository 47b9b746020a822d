// Converts one rank's entries to calls.
#pragma once

#include "core/record/flight_record.h"
#include "scenarios/records/pytorch/dump.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pdsim::scenarios::pytorch {

// "gloo:all_reduce" is all_reduce of gloo; a message's ranks are of its group.
struct OpName {
  std::string backend, name;
  std::int64_t from = -1, to = -1;  // -1: not recorded
  bool any_source = false;          // recvAnySource
};
OpName op_name_of(std::string_view profiling_name);

// An all_reduce without frames, as C++ makes it on the threads on which autograd works for GPUs.
bool is_of_autograd(const Entry& entry);

// PyTorch's name of a call's element type: Float.
std::string_view torch_dtype_name(const Call& call);

// The run's name for an entry's group, and its global ranks.
struct GroupView {
  std::string label;
  const std::vector<std::int64_t>* ranks = nullptr;
};

// The places that made the program's calls: one site for all calls of a job with the same frames.
class Sites {
 public:
  const Site& of(const SharedValue<std::vector<Frame>>& frames);
  // The call's purpose according to PyTorch's own frames.
  const Purpose& purpose_of(const SharedValue<std::vector<Frame>>& frames);
  // Later frames belong to another dump, which may reuse the memory of the last one.
  void begin_dump() {
    of_dump_.clear();
    purposes_of_dump_.clear();
  }

 private:
  struct Older {
    bool operator()(const std::vector<Frame>& a, const std::vector<Frame>& b) const;
  };
  std::unordered_map<const std::vector<Frame>*, const Site*> of_dump_;
  std::unordered_map<const std::vector<Frame>*, const Purpose*> purposes_of_dump_;
  std::map<std::vector<Frame>, Site, Older> of_job_;
  Purpose none_;
};

// Times count from `epoch_ns`. Calls are numbered from 0. A call that took as long as its timeout counts as timed out.
struct CallOptions {
  std::int64_t epoch_ns = 0;
  bool ends_by_retiring = false;  // progress.h
  bool reads_frames =
      false;  // every entry of the job has frames, so those of one call hold for all calls that meet it
  bool has_wrapper = false;  // of DistributedDataParallel: the calls of autograd's threads are its buckets
};
std::vector<Call> calls_of(const Dump& dump, const CallOptions& options,
                           const std::function<GroupView(const Entry&)>& group, Sites& sites);

}  // namespace pdsim::scenarios::pytorch
