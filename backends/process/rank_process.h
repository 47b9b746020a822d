// The launcher's side of one rank: its process, its socket, its output, and its reports.
#pragma once

#include "backends/net/frames.h"
#include "backends/os/posix.h"
#include "backends/process/process_world.h"

#include <functional>
#include <poll.h>
#include <string>
#include <vector>

namespace pdsim {

// A rank as the launcher sees it: a process of its own, or one that an agent of a job has started.
class WatchedRank {
 public:
  WatchedRank() = default;
  WatchedRank(WatchedRank&&) = default;
  virtual ~WatchedRank() = default;

  // Reads available data and reaps; true when there was anything new. Never blocks.
  virtual bool service() = 0;
  virtual void add_to(std::vector<pollfd>& waiting) const = 0;
  virtual void ask() = 0;  // for the record, if it is not finished
  // A stopped process would ignore SIGTERM; this sends SIGKILL, and reads the last output.
  virtual void end() = 0;
  virtual bool closing() const = 0;  // its socket is closed, so it is about to end

  bool has_come_up() const { return came_up_; }
  bool gone() const { return gone_; }
  const RankOutcome& outcome() const { return outcome_; }

 protected:
  bool take(const Frame& frame);  // progress, record or final_record; true: it was new

  RankOutcome outcome_;
  bool came_up_ = false;
  bool gone_ = false;
};

class RankProcess final : public WatchedRank {
 public:
  static Result<RankProcess> start(const std::vector<std::string>& command, const RankStart& word, int listener,
                                   const sigset_t& signal_mask, RingShape ring,
                                   const std::vector<std::string>& environment = {},
                                   // File of its record ring, in which its end is then marked; empty: in memory.
                                   const std::string& record_path = {});

  bool service() override;
  void add_to(std::vector<pollfd>& waiting) const override;
  void ask() override;
  void end() override;
  bool closing() const override { return !socket_ && !gone_; }

  // For an agent: sees every frame of the rank as well.
  void set_observer(std::function<void(const Frame&)> observer) { observer_ = std::move(observer); }
  // The same process begins the next part.
  void start_again(const RankStart& word);
  void dismiss() { socket_.reset(); }  // when no further part follows
  // Its record ring, as it is now.
  std::span<const std::byte> memory() const { return memory_.bytes(); }

 private:
  RankProcess(Child child, Descriptor socket, Descriptor output, SharedMemory memory, int launch);
  void read_ring();
  bool read_frames(bool all);
  void read_output();

  Child child_;
  Descriptor socket_;
  Descriptor output_;
  SharedMemory memory_;
  bool outlives_ = false;  // its memory is a file
  FrameReader reader_;
  std::function<void(const Frame&)> observer_;
};

}  // namespace pdsim
