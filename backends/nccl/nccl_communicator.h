// This rank in one group of NCCL.
#pragma once

#include "backends/engine/library_communicator.h"
#include "backends/nccl/nccl_group.h"
#include "backends/nccl/nccl_transport.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace pdsim {

class NcclCommunicator final : public LibraryCommunicator {
 public:
  struct Parts {
    std::shared_ptr<NcclJob> job;
    std::shared_ptr<NcclGroup> group;
    std::shared_ptr<NcclChannel> collectives, plans;
    Store& store;        // outlives the member: ranks find each other there when they begin to send messages
    std::string prefix;  // of this group's keys in it
    Rank rank;
    int size;
    Time timeout;  // the transport's
  };
  NcclCommunicator(Runtime& runtime, Parts parts);
  ~NcclCommunicator() override;
  Status check_supported(const Collective& call) const override;

 private:
  void start_message(const Collective& call, const WorkPtr& work) override;
  void start_plan(const Collective& call, const Algorithm& plan, const WorkPtr& work) override;
  void start_native(const Collective& call, const WorkPtr& work) override;
  void submit(const std::shared_ptr<NcclChannel>& channel, NcclFlight flight, const Collective& call,
              const WorkPtr& work);
  Status health() const override { return parts_.group->health(); }
  void abort_library(const Error& reason) override;
  Result<std::shared_ptr<NcclChannel>> channel_with(Rank peer, bool sends);

  Parts parts_;
  NcclTransport transport_;
  std::map<std::pair<Rank, bool>, std::shared_ptr<NcclChannel>> message_channels_;  // used on the rank's thread
};

// An id for creating the communicators of one group.
Result<ncclUniqueId> make_unique_id(const NcclLibrary& library);

// Converts it to text for the store, and back.
std::string text_of(const ncclUniqueId& id);
Result<ncclUniqueId> unique_id_of(std::string_view text);

}  // namespace pdsim
