#include "backends/nccl/nccl_communicator.h"

#include "backends/nccl/device/device_plan.h"
#include "backends/nccl/errors.h"
#include "backends/nccl/native.h"
#include "backends/os/deadline.h"
#include "core/collectives/plan_runner.h"

#include <fmt/format.h>

#include <cstring>

namespace pdsim {
namespace {

// Their ranks in the communicator of a direction.
constexpr Rank sender = 0, receiver = 1;

}  // namespace

Result<ncclUniqueId> make_unique_id(const NcclLibrary& library) {
  ncclUniqueId id{};
  PDSIM_TRY(nccl_status(library.nccl, library.nccl.unique_id(&id), "ncclGetUniqueId", nullptr));
  return id;
}

std::string text_of(const ncclUniqueId& id) { return {id.internal, sizeof(id.internal)}; }

Result<ncclUniqueId> unique_id_of(std::string_view text) {
  ncclUniqueId id{};
  if (text.size() != sizeof(id.internal))
    return Error{Code::store_corrupt,
                 fmt::format("the store holds {} bytes that are not a unique id of NCCL's", text.size()),
                 {}};
  std::memcpy(id.internal, text.data(), text.size());
  return id;
}

NcclCommunicator::NcclCommunicator(Runtime& runtime, Parts parts)
    : LibraryCommunicator(runtime, "nccl", parts.size),
      parts_(std::move(parts)),
      transport_(parts_.job->engine(), parts_.plans, parts_.rank, parts_.size, parts_.timeout) {}

NcclCommunicator::~NcclCommunicator() {
  abort({Code::cancelled, "the group was destroyed", {}});
  (void)parts_.job->engine().call([this] {
    for (std::future<void>& closed : parts_.group->close()) parts_.job->wait_at_end_for(std::move(closed));
    return Status{};
  });
}

Status NcclCommunicator::check_supported(const Collective& call) const {
  if (!row(call.kind).point_to_point) return {};
  if (call.root == any_source)
    return Error{Code::unsupported, "recv: NCCL does not offer a receive from any source", {}};
  if (call.root == parts_.rank)
    return Error{Code::unsupported, "NCCL cannot send a message to the rank itself outside a group call", {}};
  return {};
}

// Both ranks offer an id; the store keeps the first.
Result<std::shared_ptr<NcclChannel>> NcclCommunicator::channel_with(Rank peer, bool sends) {
  std::shared_ptr<NcclChannel>& channel = message_channels_[{peer, sends}];
  if (channel) return channel;
  const std::string key =
      fmt::format("{}/messages {} {}", parts_.prefix, sends ? parts_.rank : peer, sends ? peer : parts_.rank);
  const Result<ncclUniqueId> mine = make_unique_id(parts_.job->library());
  if (!mine.ok()) return mine.error();
  const Result<std::string> kept = parts_.store.compare_set(key, "", text_of(*mine));
  if (!kept.ok()) return kept.error();
  const Result<ncclUniqueId> id = unique_id_of(*kept);
  if (!id.ok()) return id.error();
  const NcclSlot slot{*id, sends ? sender : receiver, 2};
  PDSIM_TRY(parts_.job->engine().call([&] {
    channel = parts_.group->add_channel();
    channel->open(slot, NcclFlight::Clock::time_point::max(), [](const Status&) {});  // the messages have deadlines
    return Status{};
  }));
  return channel;
}

void NcclCommunicator::start_message(const Collective& call, const WorkPtr& work) {
  if (Status offered = check_supported(call); !offered.ok()) return work->complete(std::move(offered));
  Message message = message_of(call);
  const Rank peer = message.peer;
  const bool sends = message.kind == Message::Kind::send;
  message.peer = sends ? receiver : sender;
  Result<NcclFlight> flight = flight_of(std::span(&message, 1));
  if (!flight.ok()) return work->complete(flight.error());
  const Result<std::shared_ptr<NcclChannel>> channel = channel_with(peer, sends);
  if (!channel.ok()) return work->complete(channel.error());
  flight->deadline = deadline_after(call.timeout);
  flight->done = [work, source = call.source, peer](Status status) {
    if (source && status.ok()) *source = peer;
    work->complete(std::move(status));
  };
  parts_.job->engine().enqueue(
      [channel = *channel, flight = std::move(*flight)]() mutable { channel->submit(std::move(flight)); });
}

void NcclCommunicator::start_plan(const Collective& call, const Algorithm& plan, const WorkPtr& work) {
  Result<NcclFlight> flight = plan_flight(call, plan, parts_.rank, parts_.size);
  if (!flight.ok()) return work->complete(flight.error());
  submit(parts_.plans, std::move(*flight), call, work);
}

void NcclCommunicator::start_native(const Collective& call, const WorkPtr& work) {
  submit(parts_.collectives, native_flight(call, parts_.rank, parts_.size), call, work);
}

void NcclCommunicator::submit(const std::shared_ptr<NcclChannel>& channel, NcclFlight flight, const Collective& call,
                              const WorkPtr& work) {
  flight.deadline = deadline_after(call.timeout);
  flight.done = [work](Status status) { work->complete(std::move(status)); };
  parts_.job->engine().enqueue([channel, flight = std::move(flight)]() mutable { channel->submit(std::move(flight)); });
}

void NcclCommunicator::abort_library(const Error& reason) {
  (void)parts_.job->engine().call([this, &reason] {
    parts_.group->fail(reason);
    return Status{};
  });
}

}  // namespace pdsim
