#include "core/rpc/channel.h"

#include "core/base/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace pdsim {
namespace {

constexpr std::size_t frame_bytes = 256;
constexpr std::int64_t longest_message = std::int64_t{1} << 30;
constexpr Tag frame_tag = first_inner_tag + (Tag{2} << 24);
constexpr Tag rest_tag = frame_tag + 1;
constexpr Tag extra_tag = frame_tag + 2;

struct Header {
  std::uint64_t mark = 0x3163706d69736470;  // "pdsimpc1"
  std::int64_t bytes = 0;
  std::int64_t extra = 0;
  std::uint64_t digest = 0;
};
constexpr std::size_t room = frame_bytes - sizeof(Header);

MutableView bytes_in(std::string& bytes) {
  return {reinterpret_cast<std::byte*>(bytes.data()), DType::u8, static_cast<std::int64_t>(bytes.size())};
}

}  // namespace

RpcChannel::RpcChannel(RankEnvironment& env, std::unique_ptr<Communicator> communicator)
    : rank_(env.rank),
      size_(env.world_size),
      moves_sizes_(!env.backend.takes_sizes_alone()),
      runtime_(env.runtime),
      communicator_(std::move(communicator)),
      listening_(static_cast<std::size_t>(env.world_size), true),
      frames_(static_cast<std::size_t>(env.world_size)) {}

Result<std::unique_ptr<RpcChannel>> RpcChannel::open(RankEnvironment& env, Store& store, const std::string& name,
                                                     Time timeout) {
  auto communicator = env.backend.join(store, {name, env.rank, env.world_size, timeout});
  if (!communicator.ok()) return communicator.error();
  return std::unique_ptr<RpcChannel>(new RpcChannel(env, std::move(*communicator)));
}

RpcChannel::~RpcChannel() {
  abort();
  threads_.clear();
}

void RpcChannel::listen(Handlers handlers) {
  handlers_ = std::move(handlers);
  for (Rank peer = 0; peer < size_; ++peer)
    if (peer != rank_) threads_.push_back(runtime_.spawn([this, peer] { listen_to(peer); }));
}

void RpcChannel::listen_to(Rank peer) {
  while (listening_[static_cast<std::size_t>(peer)]) {
    Result<std::string> message = next_message(peer);
    if (!message.ok()) return handlers_.on_closed(peer, message.error());
    handlers_.on_message(peer, std::move(*message));
  }
}

Status RpcChannel::receive(Rank peer, Tag tag, MutableView into) {
  Collective call{CollectiveKind::recv};
  call.dtype = DType::u8;
  call.count = into.count;
  call.output = into;
  call.root = peer;
  call.user_tag = tag;
  call.source = std::make_shared<Rank>(no_rank);
  const Result<WorkPtr> work = communicator_->start(call);
  if (!work.ok()) return work.error();
  return (*work)->wait();
}

Status RpcChannel::receive_extra(Rank peer, std::int64_t bytes) {
  std::string memory(moves_sizes_ ? static_cast<std::size_t>(bytes) : 0, '\0');
  return receive(peer, extra_tag, {moves_sizes_ ? bytes_in(memory).data : nullptr, DType::u8, bytes});
}

Result<std::string> RpcChannel::next_message(Rank peer) {
  std::string& frame = frames_[static_cast<std::size_t>(peer)];
  frame.resize(frame_bytes);
  PDSIM_TRY(receive(peer, frame_tag, bytes_in(frame)));
  Header header;
  std::memcpy(&header, frame.data(), sizeof header);
  const Error changed{
      Code::wrong_data, fmt::format("a message from rank {} was cut short or changed on the way", peer), {}};
  const auto in_range = [](std::int64_t bytes) { return bytes >= 0 && bytes <= longest_message; };
  if (header.mark != Header{}.mark || !in_range(header.bytes) || !in_range(header.extra)) return changed;
  const auto bytes = static_cast<std::size_t>(header.bytes);
  std::string message = frame.substr(sizeof header, std::min(bytes, room));
  if (bytes > room) {
    frame.resize(bytes - message.size());
    PDSIM_TRY(receive(peer, rest_tag, bytes_in(frame)));
    message += frame;
  }
  if (header.extra > 0) PDSIM_TRY(receive_extra(peer, header.extra));
  if (digest(message) != header.digest) return changed;
  return message;
}

Status RpcChannel::start_send(Rank to, Tag tag, ConstView view, Outgoing& out) {
  Collective call{CollectiveKind::send};
  call.dtype = DType::u8;
  call.count = view.count;
  call.input = view;
  call.root = to;
  call.user_tag = tag;
  Result<WorkPtr> work = communicator_->start(call);
  if (!work.ok()) return work.error();
  out.works.push_back(*work);
  return {};
}

Status RpcChannel::send(Rank to, std::string bytes, std::int64_t extra) {
  forget_sent();
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (size + extra > longest_message)
    return Error{
        Code::limit_exceeded, fmt::format("a message of {} bytes; RPC takes {}", size + extra, longest_message), {}};
  const Header header{.bytes = size, .extra = extra, .digest = digest(bytes)};
  Outgoing& out = sent_.emplace_back();
  out.frame.resize(frame_bytes);
  std::memcpy(out.frame.data(), &header, sizeof header);
  const std::size_t inside = std::min(bytes.size(), room);
  std::memcpy(out.frame.data() + sizeof header, bytes.data(), inside);
  PDSIM_TRY(start_send(to, frame_tag, bytes_in(out.frame), out));
  if (inside < bytes.size()) {
    out.rest = bytes.substr(inside);
    PDSIM_TRY(start_send(to, rest_tag, bytes_in(out.rest), out));
  }
  if (extra == 0) return {};
  if (moves_sizes_) out.extra.resize(static_cast<std::size_t>(extra));
  return start_send(to, extra_tag, {moves_sizes_ ? bytes_in(out.extra).data : nullptr, DType::u8, extra}, out);
}

void RpcChannel::forget_sent() {
  std::erase_if(sent_, [](const Outgoing& out) {
    return std::all_of(out.works.begin(), out.works.end(), [](const WorkPtr& w) { return w->done(); });
  });
}

void RpcChannel::flush() {
  for (forget_sent(); !sent_.empty(); forget_sent()) {
    const std::vector<WorkPtr> works = sent_.front().works;  // others may send meanwhile
    for (const WorkPtr& work : works) (void)work->wait();
  }
}

void RpcChannel::abort() { communicator_->abort({Code::cancelled, "RPC has been shut down", {}}); }

}  // namespace pdsim
