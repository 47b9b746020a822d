// PlanData: the memory that a plan works on at one rank: the call's buffers, the algorithm's scratch, and what was received and is
// not combined yet.
//
//   round    begin_round, then the messages, read from and written to place_of; then end_round, once all have ended
//   sizes    where the call has no data (is_real), nothing is read or written, and places are null
//   memory   one buffer for what the receive_reduce steps of a round receive, and the scratch. The call's input and output must stay
//            alive; the input is never written, unless it is the output as well
//   scaling  avg and premul_sum scale the input while it is copied; avg of integers divides the sum at the end instead
//   moving   a PlanData that was moved has the same places
#pragma once

#include "core/base/result.h"
#include "core/collectives/algorithms.h"
#include "core/collectives/collective.h"
#include "core/collectives/plan_room.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pdsim {

class PlanData {
 public:
  PlanData(const Collective& call, const Algorithm& algorithm, const PlanArgs& args);

  const Collective& call() const { return call_; }
  const PlanRoom& room() const { return room_; }
  bool is_real() const { return real_; }
  std::size_t bytes(std::int64_t elements) const { return static_cast<std::size_t>(elements) * width_; }

  // Call it before the first round. Error: limit_exceeded, when there is not enough memory for the scratch.
  Status make_scratch();
  void begin_round(std::span<const Step> round);
  // Bytes that the steps before this one receive to combine them: where its own begin, among them.
  std::size_t staged_before(std::span<const Step> round, std::size_t index) const;
  std::byte* place_of(const Step& step, std::size_t staged);
  // Copies and combines, in the order of the steps. Returns the bytes combined.
  std::int64_t end_round(std::span<const Step> round);
  // After the last round.
  void end();

 private:
  std::byte* at(const Slice& s);
  void copy_slice(const Step& s);
  void leave_scratch();

  PlanRoom room_;
  std::size_t width_;
  bool real_;
  bool divides_at_end_ = false;
  std::vector<std::byte> staging_;
  Collective call_;
  double factor_ = 1.0;
  std::vector<std::byte> scratch_;
};

}  // namespace pdsim
