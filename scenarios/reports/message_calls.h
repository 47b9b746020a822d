// Maps messages of the simulated network to the calls they belong to.
#pragma once

#include "core/group/rank_program.h"

#include <vector>

namespace pdsim::scenarios {

class MessageCalls {
 public:
  // `run` must outlive it.
  explicit MessageCalls(const RunRecord& run);
  // The sender's newest open collective or send when it sent, and the receiver's newest open collective or recv when the message
  // arrived. Null: it was in none, as for messages of a rendezvous.
  const Call* sent_by(const MessageRecord& message) const { return at(message.from, message.sent); }
  const Call* received_by(const MessageRecord& message) const { return at(message.to, message.arrived); }

 private:
  const Call* at(Rank rank, Time moment) const;

  std::vector<std::vector<const Call*>> calls_;  // by rank, by issue
};

}  // namespace pdsim::scenarios
