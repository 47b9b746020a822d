#include "backends/gloo/gloo_transport.h"

#include "backends/gloo/errors.h"

#include <fmt/format.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <cstring>

namespace pdsim {
namespace {

using std::chrono::milliseconds;

// Copies each message to oneself into its receive, and takes both out of the round.
Status short_cut_self(std::vector<Message>& round, Rank self) {
  const auto to_self = [self](const Message& m) { return m.peer == self; };
  const auto first = std::stable_partition(round.begin(), round.end(), [&](const Message& m) { return !to_self(m); });
  std::vector<Message> receives;
  for (auto m = first; m != round.end(); ++m)
    if (m->kind == Message::Kind::receive) receives.push_back(*m);
  for (auto m = first; m != round.end(); ++m) {
    if (m->kind == Message::Kind::receive) continue;
    const auto match =
        std::find_if(receives.begin(), receives.end(), [&](const Message& r) { return r.tag == m->tag; });
    if (match == receives.end())
      return Error{Code::invalid_argument, "a message to the rank itself has no receive in the same round", {}};
    if (match->bytes < m->bytes)
      return Error{Code::size_mismatch, fmt::format("{} bytes do not fit into {}", m->bytes, match->bytes), {}};
    if (m->bytes > 0) std::memmove(match->data, m->data, static_cast<std::size_t>(m->bytes));
    if (match->matched != nullptr) *match->matched = self;
    receives.erase(match);
  }
  if (!receives.empty())
    return Error{Code::invalid_argument, "a receive from the rank itself has no message in the same round", {}};
  round.erase(first, round.end());
  return {};
}

}  // namespace

std::uint64_t slot_of(SlotSpace space, Tag tag) {
  constexpr Tag below_top_byte = (Tag{1} << 56) - 1;
  return (static_cast<std::uint64_t>(space) << 56) | (tag & below_top_byte);
}

GlooMessage::GlooMessage(::gloo::Context& context, const Message& message, SlotSpace space)
    : message_(message), buffer_(context.createUnboundBuffer(message.data, static_cast<std::size_t>(message.bytes))) {
  const std::uint64_t slot = slot_of(space, message.tag);
  if (message.kind == Message::Kind::send) {
    buffer_->send(message.peer, slot);
  } else if (message.peer != any_source) {
    buffer_->recv(message.peer, slot);
  } else {
    std::vector<int> everyone_else;
    for (int r = 0; r < context.size; ++r)
      if (r != context.rank) everyone_else.push_back(r);
    buffer_->recv(everyone_else, slot);
  }
}

GlooMessage::~GlooMessage() = default;
GlooMessage::GlooMessage(GlooMessage&&) noexcept = default;

Status GlooMessage::wait(milliseconds timeout) {
  int peer = no_rank;
  const bool send = message_.kind == Message::Kind::send;
  const bool completed = send ? buffer_->waitSend(timeout) : buffer_->waitRecv(&peer, timeout);
  if (!completed) return Error{Code::cancelled, "the message was cancelled", {}};
  if (!send && message_.matched != nullptr) *message_.matched = peer;
  return {};
}

GlooTransport::GlooTransport(std::shared_ptr<::gloo::Context> context, milliseconds timeout, bool end_to_end)
    : context_(std::move(context)),
      timeout_(timeout),
      end_to_end_(end_to_end),
      deadline_(std::chrono::steady_clock::now() + timeout) {}

milliseconds GlooTransport::left() const {
  if (!end_to_end_) return timeout_;
  const auto rest = std::chrono::duration_cast<milliseconds>(deadline_ - std::chrono::steady_clock::now());
  return std::max(rest, milliseconds(1));
}

void GlooTransport::post(std::span<const Message> round, Done done) {
  Status status = guarded([&] { return run_round(round); });
  if (!status.ok()) break_connections(*context_);
  done(std::move(status));
}

Status GlooTransport::run_round(std::span<const Message> round) {
  std::vector<Message> messages(round.begin(), round.end());
  for (const Message& m : messages)
    if (m.data == nullptr && m.bytes > 0)
      return Error{Code::invalid_argument, "a real world moves real bytes; the message has none", {}};
  PDSIM_TRY(short_cut_self(messages, rank()));
  std::vector<GlooMessage> posted;
  posted.reserve(messages.size());
  for (const Message::Kind kind : {Message::Kind::receive, Message::Kind::send})
    for (const Message& m : messages)
      if (m.kind == kind) posted.emplace_back(*context_, m, SlotSpace::plan);
  for (GlooMessage& m : posted) PDSIM_TRY(m.wait(left()));
  return {};
}

void close_connections(::gloo::Context& context) {
  (void)guarded([&] {
    context.closeConnections();
    return Status{};
  });
}

void break_connections(::gloo::Context& context) {
  for (int peer = 0; peer < context.size; ++peer) {
    if (peer == context.rank) continue;
    const Status waited = guarded([&] {
      char never = 0;
      auto buffer = context.createUnboundBuffer(&never, 1);
      buffer->recv(peer, slot_of(SlotSpace::nobody, 0));
      buffer->waitRecv(nullptr, milliseconds(1));
      return Status{};
    });
    // One timeout breaks the connections to all; a connection that is broken already cannot time out.
    if (!waited.ok() && waited.error().code == Code::timeout) break;
  }
  close_connections(context);
}

}  // namespace pdsim
