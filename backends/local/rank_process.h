// The launcher's side of one rank: its process, its socket, what it printed, and what it told.
#pragma once

#include "backends/local/frames.h"
#include "backends/local/posix.h"
#include "backends/local/process_world.h"

#include <poll.h>
#include <string>
#include <vector>

namespace pdsim {

class RankProcess {
 public:
  static Result<RankProcess> start(const std::vector<std::string>& command, const RankStart& word, int listener,
                                   const sigset_t& signal_mask, RingShape ring,
                                   const std::vector<std::string>& environment = {});

  // Reads what is there and reaps; true when there was anything new. Never blocks.
  bool service();
  void add_to(std::vector<pollfd>& waiting) const;
  void ask();  // for the record, if it is not finished
  void end();  // SIGTERM would be ignored by a stopped process; this is SIGKILL, and what it printed is read once more

  bool has_come_up() const { return came_up_; }
  bool gone() const { return gone_; }
  // Its socket is closed, so it is about to be gone.
  bool closing() const { return !socket_ && !gone_; }
  const RankOutcome& outcome() const { return outcome_; }

 private:
  RankProcess(Child child, Descriptor socket, Descriptor output, SharedMemory memory, int launch);
  void read_ring();
  bool read_frames();
  void read_output();

  Child child_;
  Descriptor socket_;
  Descriptor output_;
  SharedMemory memory_;
  FrameReader reader_;
  RankOutcome outcome_;
  bool came_up_ = false;
  bool gone_ = false;
};

}  // namespace pdsim
