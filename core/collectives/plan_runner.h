// Runs a plan over a transport: posts each round as one batch, combines what arrived, and goes on.
//
//   start     never blocks; `done` is called once, perhaps before start returns, with the first error or ok
//   memory    that of plan_data.h, which ends with the run. The call's input and output must stay alive until `done`.
//   errors    the transport's; invalid_argument when a round of the plan leaves its buffers or its group (plan_room.h), before
//             anything of the round is posted; limit_exceeded when there is no memory for its scratch
//   cost      no fiber, no thread: it runs in the transport's callbacks
#pragma once

#include "core/collectives/algorithms.h"
#include "core/collectives/collective.h"
#include "core/collectives/plan_data.h"
#include "core/runtime/transport.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace pdsim {

using PlanDone = std::function<void(Status)>;

// The point that a run has reached elsewhere.
enum class PlanPoint : std::uint8_t { round_to_post, round_in_flight, round_to_combine };

// One run, for callers that keep it while it is under way: the transport calls it back without owning it. Other callers use
// run_plan().
class PlanRun {
 public:
  // `tag` is put on every message of the run; concurrent runs of one group need different tags.
  PlanRun(Transport& transport, const Collective& call, const Algorithm& algorithm, Tag tag, PlanDone done);
  // Runs `plan` on `data`, or continues with them what was begun elsewhere.
  PlanRun(Transport& transport, PlanData data, Plan plan, Tag tag, PlanDone done);
  virtual ~PlanRun() = default;
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  // `done` may be called inside, and may destroy the run.
  void start();
  // Continues with a plan that has yielded a round. Returns the callback for when the round in flight, or its combining, is over;
  // a round to post is posted at once, and the result is empty.
  Transport::Done resume(PlanPoint at);
  PlanData& data() { return data_; }

 private:
  // Returns the callback for the transport: for the end of a round, and for the end of its combining.
  virtual Transport::Done when_round_is_over();
  virtual std::function<void()> when_combined();

 protected:
  void round_over(const Status& status);
  void advance();

 private:
  enum class Next : std::uint8_t { posted, over };
  Next step();
  void post_round();
  void add_message(const Step& step, std::size_t& staged);
  void finish(const Status& status);

  // The members that every round needs are adjacent in memory.
  Transport& transport_;
  Plan plan_;
  Tag tag_;
  Rank* source_;
  bool charges_;
  bool advancing_ = false;
  bool again_ = false;
  PlanDone done_;
  std::vector<Message> messages_;  // of the current round
  PlanData data_;
  std::optional<Error> failure_;  // set when a round failed while it was being posted
};

// The same for a run that owns itself: it lives until `done` was called and the transport has let go of its last round.
void run_plan(Transport& transport, const Collective& call, const Algorithm& algorithm, Tag tag, PlanDone done);

// The message that a send or recv of the program hands to a transport.
Message message_of(const Collective& call);

}  // namespace pdsim
