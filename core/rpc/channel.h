// RpcChannel: messages between the workers of one world, each pair's in order, over a communicator of its own.
//
//   frames    of one size, so that every receive can be posted before its message exists: a mark, the length, a digest and the
//             first bytes; the rest follows in a second message. A message changed on the way ends the connection (wrong_data)
//   threads   one per peer, which waits for the peer's messages and calls `on_message` for each; those of the rank
//             (core/runtime/runtime.h)
//   payload   a tensor without values costs the time of its bytes: `extra` bytes follow in a message of their own, which is
//             discarded; they have memory only where the backend has to move them
//   closing   say_bye() is the last message to peers; abort() ends the receives under way
#pragma once

#include "core/group/rank_program.h"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace pdsim {

class RpcChannel {
 public:
  struct Handlers {
    std::function<void(Rank from, std::string bytes)> on_message;
    std::function<void(Rank peer, const Error& why)> on_closed;  // nothing more arrives from it
  };

  // Joins the other ranks under this name; blocks until all have joined, within `timeout`. Errors: those of Backend::join.
  static Result<std::unique_ptr<RpcChannel>> open(RankEnvironment& env, Store& store, const std::string& name,
                                                  Time timeout);
  ~RpcChannel();  // aborts, and ends its threads
  RpcChannel(const RpcChannel&) = delete;
  RpcChannel& operator=(const RpcChannel&) = delete;

  // The handlers must live as long as the channel.
  void listen(Handlers handlers);
  // Returns at once; an error only where nothing was sent. `extra`: bytes of tensors without values.
  Status send(Rank to, std::string bytes, std::int64_t extra = 0);
  // Takes no message from `peer` after the current one: call it from on_message.
  void stop_listening(Rank peer) { listening_[static_cast<std::size_t>(peer)] = false; }
  // Blocks until everything sent has been taken, or cannot be.
  void flush();
  void abort();

 private:
  struct Outgoing {
    std::string frame, rest, extra;
    std::vector<WorkPtr> works;
  };
  RpcChannel(RankEnvironment& env, std::unique_ptr<Communicator> communicator);
  void listen_to(Rank peer);
  Result<std::string> next_message(Rank peer);
  Status receive(Rank peer, Tag tag, MutableView into);
  Status receive_extra(Rank peer, std::int64_t bytes);
  Status start_send(Rank to, Tag tag, ConstView view, Outgoing& out);
  void forget_sent();

  Rank rank_;
  int size_;
  bool moves_sizes_;  // tensors without values need memory
  Runtime& runtime_;
  std::unique_ptr<Communicator> communicator_;
  Handlers handlers_;
  std::vector<bool> listening_;
  std::list<Outgoing> sent_;
  std::vector<std::string> frames_;  // by peer: the frame being received
  std::vector<std::unique_ptr<RankThread>> threads_;
};

}  // namespace pdsim
