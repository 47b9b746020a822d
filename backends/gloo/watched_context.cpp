#include "backends/gloo/watched_context.h"

#include "backends/gloo/gloo_transport.h"

#include <gloo/common/error.h>
#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using ::gloo::transport::UnboundBuffer;
using std::chrono::milliseconds;
constexpr milliseconds no_end = std::chrono::hours(24 * 30);

enum class Way : std::uint8_t { send, receive };

bool wait_for(UnboundBuffer& buffer, Way way, int* rank, milliseconds timeout) {
  return way == Way::send ? buffer.waitSend(rank, timeout) : buffer.waitRecv(rank, timeout);
}

// The other ends of what is posted on one buffer, and not yet waited for. Changed by who posts and waits, and read by the watch while
// that waits.
class Pending {
 public:
  void add(int peer) { peers_.push_back(peer); }
  void add_any() { known_ = false; }
  // Gloo names the newest of several ends that completed: one that is named twice leaves unknown who is still to come.
  void done(int peer) {
    const auto found = std::find(peers_.begin(), peers_.end(), peer);
    if (found == peers_.end())
      known_ = false;
    else
      peers_.erase(found);
  }
  bool has(int peer) const { return known_ && std::find(peers_.begin(), peers_.end(), peer) != peers_.end(); }

 private:
  std::vector<int> peers_;
  bool known_ = true;
};

}  // namespace

class ConnectionWatch {
 public:
  explicit ConnectionWatch(std::shared_ptr<::gloo::transport::Context> context)
      : context_(std::move(context)), thread_([this] { look_out(); }) {}
  ~ConnectionWatch() {
    stop();
    thread_.join();
  }
  ConnectionWatch(const ConnectionWatch&) = delete;
  ConnectionWatch& operator=(const ConnectionWatch&) = delete;

  // Returns why a connection broke that `pending` waits for; then only earlier operations are still worth waiting for.
  std::exception_ptr broken(const Pending& pending) {
    const std::lock_guard lock(mutex_);
    for (const auto& [peer, why] : broken_)
      if (pending.has(peer)) return why;
    return nullptr;
  }

  // For as long as it lives, the wait is interrupted when a connection breaks that it waits for.
  class Waiting {
   public:
    Waiting(ConnectionWatch& watch, UnboundBuffer& buffer, Way way, const Pending& pending)
        : watch_(watch), buffer_(buffer), way_(way), pending_(pending) {
      const std::lock_guard lock(watch_.mutex_);
      watch_.waits_.push_back(this);
      for (const auto& [peer, why] : watch_.broken_) interrupt(peer);
    }
    ~Waiting() {
      const std::lock_guard lock(watch_.mutex_);
      std::erase(watch_.waits_, this);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    void interrupt(int peer) {
      if (!pending_.has(peer)) return;
      if (way_ == Way::send)
        buffer_.abortWaitSend();
      else
        buffer_.abortWaitRecv();
    }

   private:
    ConnectionWatch& watch_;
    UnboundBuffer& buffer_;
    const Way way_;
    const Pending& pending_;
  };

 private:
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (sentinel_) sentinel_->abortWaitRecv();
  }

  void look_out() {
    while (UnboundBuffer* sentinel = post_sentinel()) {
      try {
        sentinel->waitRecv(nullptr, no_end);
      } catch (...) {  // which connection it was shows when the next is posted
      }
    }
  }

  // Null: the watch ends, or there is no connection left.
  UnboundBuffer* post_sentinel() {
    const std::lock_guard lock(mutex_);
    sentinel_ = context_->createUnboundBuffer(&never_, sizeof never_);
    bool any = false;
    for (int peer = 0; peer < context_->size; ++peer) {
      if (peer == context_->rank || broken_.count(peer) != 0) continue;
      try {
        sentinel_->recv(peer, slot_of(SlotSpace::nobody, 0));
        any = true;
      } catch (...) {
        broken_[peer] = std::current_exception();
        for (Waiting* wait : waits_) wait->interrupt(peer);
      }
    }
    return any && !stopped_ ? sentinel_.get() : nullptr;
  }

  const std::shared_ptr<::gloo::transport::Context> context_;
  std::mutex mutex_;
  std::map<int, std::exception_ptr> broken_;
  std::vector<Waiting*> waits_;
  char never_ = 0;
  std::unique_ptr<UnboundBuffer> sentinel_;
  bool stopped_ = false;
  std::thread thread_;  // last: it uses all of the above
};

namespace {

class WatchedBuffer final : public UnboundBuffer {
 public:
  WatchedBuffer(ConnectionWatch& watch, std::unique_ptr<UnboundBuffer> buffer)
      : UnboundBuffer(buffer->ptr, buffer->size), watch_(watch), buffer_(std::move(buffer)) {}

  bool waitRecv(int* rank, milliseconds timeout) override { return wait(Way::receive, receives_, rank, timeout); }
  bool waitSend(int* rank, milliseconds timeout) override { return wait(Way::send, sends_, rank, timeout); }
  void abortWaitRecv() override {
    given_up_ = true;
    buffer_->abortWaitRecv();
  }
  void abortWaitSend() override {
    given_up_ = true;
    buffer_->abortWaitSend();
  }
  void send(int to, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    sends_.add(to);
    buffer_->send(to, slot, offset, bytes);
  }
  void recv(int from, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    receives_.add(from);
    buffer_->recv(from, slot, offset, bytes);
  }
  void recv(std::vector<int> from, std::uint64_t slot, std::size_t offset, std::size_t bytes) override {
    receives_.add_any();
    buffer_->recv(std::move(from), slot, offset, bytes);
  }

 private:
  bool wait(Way way, Pending& pending, int* rank, milliseconds timeout) {
    int peer = -1;
    while (!wait_watched(way, pending, &peer, timeout)) {
      if (const std::exception_ptr why = watch_.broken(pending)) {
        take_what_came(way, &peer, why);
        break;
      }
      if (given_up_.exchange(false)) return false;  // else the interruption was for a wait before this one
    }
    pending.done(peer);
    if (rank != nullptr) *rank = peer;
    return true;
  }

  bool wait_watched(Way way, const Pending& pending, int* peer, milliseconds timeout) {
    const ConnectionWatch::Waiting waiting(watch_, *buffer_, way, pending);
    return wait_for(*buffer_, way, peer, timeout);
  }

  // A wait that times out breaks all other connections too: of a group that has lost one there is nothing to be kept.
  void take_what_came(Way way, int* peer, const std::exception_ptr& why) {
    try {
      if (wait_for(*buffer_, way, peer, milliseconds(1))) return;
    } catch (const ::gloo::IoException&) {
    }
    std::rethrow_exception(why);
  }

  ConnectionWatch& watch_;
  std::unique_ptr<UnboundBuffer> buffer_;
  Pending sends_, receives_;
  std::atomic<bool> given_up_ = false;
};

// Makes such buffers; all else is the context's that it stands for.
class WatchedTransport final : public ::gloo::transport::Context {
 public:
  WatchedTransport(std::shared_ptr<::gloo::transport::Context> context, std::shared_ptr<ConnectionWatch> watch)
      : ::gloo::transport::Context(context->rank, context->size),
        context_(std::move(context)),
        watch_(std::move(watch)) {}
  std::unique_ptr<::gloo::transport::Pair>& getPair(int peer) override { return context_->getPair(peer); }
  std::unique_ptr<::gloo::transport::Pair>& createPair(int peer) override { return context_->createPair(peer); }
  std::unique_ptr<UnboundBuffer> createUnboundBuffer(void* data, std::size_t bytes) override {
    return std::make_unique<WatchedBuffer>(*watch_, context_->createUnboundBuffer(data, bytes));
  }

 private:
  std::shared_ptr<::gloo::transport::Context> context_;
  std::shared_ptr<ConnectionWatch> watch_;
};

}  // namespace

WatchedContext::~WatchedContext() = default;

void WatchedContext::watch() {
  watch_ = std::make_shared<ConnectionWatch>(transportContext_);
  transportContext_ = std::make_shared<WatchedTransport>(transportContext_, watch_);
}

}  // namespace pdsim
