// The thread that makes every MPI call of this process: MPI advances only inside its own calls.
#pragma once

#include "backends/local/polling_engine.h"

#include <memory>

namespace pdsim {

class MpiEngine final : public PollingEngine {
 public:
  // Begins MPI. Errors: unavailable.
  static Result<std::unique_ptr<MpiEngine>> begin();
  // Ends MPI together with all other ranks, unless it was broken off or something is still in flight.
  ~MpiEngine() override;

  int world_rank() const { return world_rank_; }
  int world_size() const { return world_size_; }
  int highest_tag() const { return highest_tag_; }

 private:
  MpiEngine();
  Status initialize();

  bool up_ = false;
  int world_rank_ = 0;
  int world_size_ = 1;
  int highest_tag_ = 32767;
};

}  // namespace pdsim
