#include "backends/gloo/watched_context.h"

#include "backends/gloo/errors.h"
#include "tests/cli/support/connections.h"

#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace pdsim {
namespace {

using Buffer = ::gloo::transport::UnboundBuffer;
constexpr std::size_t message_bytes = std::size_t{256} << 20;

// Two ranks in this process, connected and watched.
class TwoRanks {
 public:
  TwoRanks() {
    ::gloo::transport::tcp::attr loopback;
    loopback.hostname = "127.0.0.1";
    ::gloo::rendezvous::HashStore store;
    std::array<std::thread, 2> threads;
    for (int rank = 0; rank < 2; ++rank) {
      auto& context = contexts_[static_cast<std::size_t>(rank)];
      context = std::make_shared<WatchedContext>(rank, 2);
      context->setTimeout(std::chrono::seconds(20));
      threads[static_cast<std::size_t>(rank)] = std::thread([&context, &store, loopback] {
        std::shared_ptr<::gloo::transport::Device> device = ::gloo::transport::tcp::CreateDevice(loopback);
        context->connectFullMesh(store, device);
        context->watch();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  WatchedContext& operator[](std::size_t rank) { return *contexts_[rank]; }

 private:
  std::array<std::shared_ptr<WatchedContext>, 2> contexts_;
};

template <class Wait>
std::string outcome_of(Wait wait) {
  const Status status = guarded([&] { return wait() ? Status{} : Status(Error{Code::cancelled, "given up", {}}); });
  return status.ok() ? "completed" : std::string(name_of(status.error().code));
}

struct Outcomes {
  std::string send, receive;
};

// A long message, whose connection is cut when its first byte is there.
Outcomes cut_in_the_middle() {
  TwoRanks ranks;
  std::vector<char> out(message_bytes, 1), in(message_bytes, 0);
  const std::unique_ptr<Buffer> receiver = ranks[0].createUnboundBuffer(in.data(), in.size());
  const std::unique_ptr<Buffer> sender = ranks[1].createUnboundBuffer(out.data(), out.size());
  receiver->recv(1, 7);
  sender->send(0, 7);
  while (std::atomic_ref(in.front()).load() == 0) std::this_thread::yield();
  EXPECT_TRUE(cli_tests::cut_a_connection({getpid()}, 1));
  return {outcome_of([&] { return sender->waitSend(std::chrono::seconds(20)); }),
          outcome_of([&] { return receiver->waitRecv(std::chrono::seconds(20)); })};
}

TEST(WatchedContext, EndsBothWaitsForAMessageThatWasUnderWayWhenItsConnectionBroke) {
  std::signal(SIGPIPE, SIG_IGN);  // as every rank's process does: Gloo writes on
  Outcomes outcomes = cut_in_the_middle();
  for (int tries = 1; tries < 20 && outcomes.receive == "completed"; ++tries) outcomes = cut_in_the_middle();
  EXPECT_EQ(outcomes.send, "peer-closed");
  EXPECT_EQ(outcomes.receive, "peer-closed");
}

TEST(WatchedContext, StillGivesWhatCameBeforeTheConnectionBroke) {
  auto ranks = std::make_unique<TwoRanks>();
  char out[2] = {3, 4}, in[2] = {};
  const std::unique_ptr<Buffer> sender = (*ranks)[1].createUnboundBuffer(out, 2);
  const std::unique_ptr<Buffer> receiver = (*ranks)[0].createUnboundBuffer(in, 2);
  for (const std::size_t place : {0U, 1U}) receiver->recv(1, 7 + place, place, 1);
  for (const std::size_t place : {0U, 1U}) sender->send(0, 7 + place, place, 1);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(sender->waitSend());
  (*ranks)[1].closeConnections();
  int from = -1;
  EXPECT_TRUE(receiver->waitRecv(&from));
  EXPECT_EQ(from, 1);
  EXPECT_TRUE(receiver->waitRecv());
  EXPECT_EQ(in[0] * 10 + in[1], 34);
}

TEST(WatchedContext, EndsAWaitThatItsOwnThreadGivesUp) {
  TwoRanks ranks;
  char got = 0;
  const std::unique_ptr<Buffer> receiver = ranks[0].createUnboundBuffer(&got, 1);
  receiver->recv(1, 7);
  receiver->abortWaitRecv();
  EXPECT_FALSE(receiver->waitRecv());
  char sent = 1;
  const std::unique_ptr<Buffer> sender = ranks[1].createUnboundBuffer(&sent, 1);
  sender->send(0, 7);
  EXPECT_TRUE(receiver->waitRecv());  // only the one wait was given up
}

}  // namespace
}  // namespace pdsim
