#include "backends/mpi/mpi_transport.h"

#include "backends/mpi/errors.h"
#include "backends/os/deadline.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t piece_bytes = std::int64_t{1} << 30;

Result<int> tag_of(const MpiEngine& engine, MessageOf whom, Tag tag) {
  const auto highest = static_cast<Tag>(engine.highest_tag());
  if (whom == MessageOf::plan) return static_cast<int>(tag % (highest + 1));
  if (tag <= highest) return static_cast<int>(tag);
  return Error{Code::unsupported, fmt::format("MPI accepts tags up to {} here; this is {}", highest, tag), {}};
}

class RoundInFlight final : public PolledOperation {
 public:
  RoundInFlight(MpiEngine& engine, Clock::time_point deadline, Transport::Done done)
      : engine_(engine), deadline_(deadline), done_(std::move(done)) {}

  Status start(const MpiGroup& group, std::span<const Message> round, MessageOf whom) {
    for (const Message::Kind kind : {Message::Kind::receive, Message::Kind::send})
      for (const Message& m : round)
        if (m.kind == kind) PDSIM_TRY(start(group, m, whom));
    return {};
  }

  bool poll() override {
    const Status status = test();
    if (!status.ok()) {
      fail(status.error());
      return true;
    }
    if (open_.empty()) {
      finish({});
      return true;
    }
    if (deadline_ == Clock::time_point::max() || Clock::now() < deadline_) return false;
    fail({Code::timeout, "the messages did not arrive within the timeout", {}});
    return true;
  }

  void abort(const Error& reason) override { finish(reason); }

  void fail(const Error& error) {
    const bool withdrawn = withdraw();
    finish(error);
    if (!withdrawn)
      engine_.abort({Code::group_unusable,
                         fmt::format("an earlier failure left messages that MPI cannot cancel: {}", error.message),
                         {}});
  }

 private:
  struct Open {
    MPI_Request request;
    Message message;
  };

  Status start(const MpiGroup& group, const Message& m, MessageOf whom) {
    if (m.data == nullptr && m.bytes > 0)
      return Error{Code::invalid_argument, "a real world moves real bytes; the message has none", {}};
    const Result<int> tag = tag_of(engine_, whom, m.tag);
    if (!tag.ok()) return tag.error();
    const bool receives = m.kind == Message::Kind::receive;
    const bool from_any = receives && m.peer == any_source;
    if (from_any && m.bytes > piece_bytes)
      return Error{Code::unsupported, "a receive from any rank takes at most 1 GiB on MPI", {}};
    ompi_communicator_t* comm = whom == MessageOf::plan ? group.plans : group.comm;
    std::int64_t offset = 0;
    do {
      const auto piece = static_cast<int>(std::min(m.bytes - offset, piece_bytes));
      std::byte* at = m.data == nullptr ? nullptr : m.data + offset;
      MPI_Request request = MPI_REQUEST_NULL;
      const int code = receives
                           ? MPI_Irecv(at, piece, MPI_BYTE, from_any ? MPI_ANY_SOURCE : m.peer, *tag, comm, &request)
                           : MPI_Isend(at, piece, MPI_BYTE, m.peer, *tag, comm, &request);
      PDSIM_TRY(mpi_status(code, receives ? "MPI_Irecv" : "MPI_Isend"));
      open_.push_back({request, m});
      offset += piece;
    } while (offset < m.bytes);
    return {};
  }

  Status test() {
    for (Open& open : open_) {
      int over = 0;
      MPI_Status status{};
      const int code = MPI_Test(&open.request, &over, &status);
      if (code != MPI_SUCCESS) {
        open.request = MPI_REQUEST_NULL;
        return mpi_status(code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code, "MPI_Test");
      }
      if (over == 0) continue;
      open.request = MPI_REQUEST_NULL;
      if (open.message.kind == Message::Kind::receive && open.message.matched != nullptr)
        *open.message.matched = status.MPI_SOURCE;
    }
    std::erase_if(open_, [](const Open& open) { return open.request == MPI_REQUEST_NULL; });
    return {};
  }

  // Withdraws what nobody has matched. False: something is left that MPI will go on with.
  bool withdraw() {
    bool all = true;
    for (Open& open : open_) {
      if (open.request == MPI_REQUEST_NULL) continue;
      if (open.message.kind == Message::Kind::receive) MPI_Cancel(&open.request);
      int over = 0;
      MPI_Test(&open.request, &over, MPI_STATUS_IGNORE);
      all = all && over != 0;
    }
    return all;
  }

  void finish(Status status) {
    open_.clear();
    if (!done_) return;
    const Transport::Done done = std::exchange(done_, nullptr);
    done(std::move(status));
  }

  MpiEngine& engine_;
  Clock::time_point deadline_;
  Transport::Done done_;
  std::vector<Open> open_;
};

}  // namespace

void start_messages(MpiEngine& engine, const MpiGroup& group, std::span<const Message> round, MessageOf whom,
                    Clock::time_point deadline, Transport::Done done) {
  if (Status health = engine.health(); !health.ok()) return done(std::move(health));
  auto operation = std::make_unique<RoundInFlight>(engine, deadline, std::move(done));
  const Status status = operation->start(group, round, whom);
  if (!status.ok()) return operation->fail(status.error());
  if (!operation->poll()) engine.add(std::move(operation));
}

MpiTransport::MpiTransport(MpiEngine& engine, MpiGroup group, Time timeout, bool end_to_end)
    : engine_(engine), group_(group), timeout_(timeout), end_to_end_(end_to_end), deadline_(deadline_after(timeout)) {}

void MpiTransport::post(std::span<const Message> round, Done done) {
  const Clock::time_point deadline = end_to_end_ ? deadline_ : deadline_after(timeout_);
  std::vector<Message> messages(round.begin(), round.end());
  engine_.run([this, deadline, messages = std::move(messages), done = std::move(done)] {
    start_messages(engine_, group_, messages, MessageOf::plan, deadline, done);
  });
}

}  // namespace pdsim
