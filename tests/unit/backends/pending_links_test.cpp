// Strangers where a job meets: what they may send, how many there are, and that nobody waits for them.

#include "backends/launch/pending_links.h"

#include "backends/launch/gathered_job.h"
#include "backends/net/reserved_port.h"
#include "backends/net/tcp_socket.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

std::string header(FrameKind kind, std::uint64_t length) {
  std::string bytes(1, static_cast<char>(kind));
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>((length >> (8 * i)) & 0xff);
  return bytes;
}

Descriptor connected_to(int port) {
  const RealRuntime clock;
  return std::move(tcp::connect_to("127.0.0.1", port, clock.now() + 10_s, clock)).value();
}

bool is_closed(const Descriptor& fd) {
  ReceiveBuffer in;
  const RealRuntime clock;
  return tcp::receive(fd.get(), in, 1, clock.now() + 10_s, clock) == tcp::Io::closed;
}

struct Meeting {
  Listener listener = listen_on_loopback().value();
  PendingLinks links;
  int heard = 0;

  explicit Meeting(PendingLimits limits = {}) : links(make_ready(), limits) {}
  int make_ready() const {
    fcntl(listener.fd.get(), F_SETFL, O_NONBLOCK);
    return listener.fd.get();
  }
  void turn() {
    links.service([this](JobLink&, const std::string& hello) { heard += job_hello_of(hello).ok() ? 1 : 0; });
  }
};

TEST(PendingLinks, HandsOutAHelloThatComesInPieces) {
  Meeting meeting;
  const Descriptor fd = connected_to(meeting.listener.port);
  const std::string text = text_of(JobHello{});
  for (const char c : header(FrameKind::hello, text.size()) + text) {
    EXPECT_EQ(meeting.heard, 0);
    ASSERT_EQ(::send(fd.get(), &c, 1, 0), 1);
    meeting.turn();
  }
  while (meeting.heard == 0) meeting.turn();
  EXPECT_EQ(meeting.links.size(), 0U);
}

TEST(PendingLinks, ALengthThatNoHelloHasEndsTheConnectionAtOnce) {
  Meeting meeting;
  const Descriptor fd = connected_to(meeting.listener.port);
  const std::string promise = header(FrameKind::hello, std::uint64_t{1} << 30) + std::string(100'000, 'x');
  ::send(fd.get(), promise.data(), promise.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  meeting.turn();
  while (meeting.links.size() > 0) {
    EXPECT_LE(meeting.links.held(), job_hello_limit + 9);
    meeting.turn();
  }
  EXPECT_TRUE(is_closed(fd));
  EXPECT_EQ(meeting.heard, 0);
}

TEST(PendingLinks, TheNextOneTakesThePlaceOfTheOldest) {
  Meeting meeting({4, 30_s});
  std::vector<Descriptor> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(connected_to(meeting.listener.port));
  while (meeting.links.size() < 4) meeting.turn();
  for (int i = 0; i < 10; ++i) meeting.turn();
  EXPECT_EQ(meeting.links.size(), 4U);
  EXPECT_TRUE(is_closed(silent.front()));
  const Descriptor rank = connected_to(meeting.listener.port);
  const std::string text = text_of(JobHello{}), hello = header(FrameKind::hello, text.size()) + text;
  ASSERT_EQ(::send(rank.get(), hello.data(), hello.size(), 0), static_cast<ssize_t>(hello.size()));
  while (meeting.heard == 0) meeting.turn();
}

TEST(PendingLinks, WhoSaysNoHelloInTimeIsDropped) {
  Meeting meeting({256, Time{}});
  const Descriptor silent = connected_to(meeting.listener.port);
  meeting.turn();
  EXPECT_EQ(meeting.links.size(), 0U);
  EXPECT_TRUE(is_closed(silent));
}

TEST(FrameReader, TakesABoundedAmountInOneGo) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Descriptor near(ends[0]), far(ends[1]);
  const std::string block = header(FrameKind::record, 100) + std::string(100, 'x');
  std::string many;
  while (many.size() < 3 * job_hello_limit) many += block;
  ASSERT_GT(::send(far.get(), many.data(), many.size(), MSG_DONTWAIT), static_cast<ssize_t>(2 * job_hello_limit));
  FrameReader reader(job_hello_limit);
  EXPECT_EQ(reader.fill(near.get()), FrameReader::State::more);
  EXPECT_LE(reader.held(), job_hello_limit + 9);
  std::size_t frames = 0;
  do {
    while (reader.next()) ++frames;
  } while (reader.fill(near.get()) == FrameReader::State::more);
  while (reader.next()) ++frames;
  EXPECT_EQ(frames, many.size() / block.size());
}

// A process that sends without end to the listener at `port`, with little memory of its own.
pid_t flood(int port) {
  const pid_t child = fork();
  if (child != 0) return child;
  signal(SIGPIPE, SIG_IGN);
  const std::string block = header(FrameKind::hello, std::uint64_t{1} << 29) + std::string(1 << 20, 'x');
  const RealRuntime clock;
  for (;;) {
    const auto fd = tcp::connect_to("127.0.0.1", port, clock.now() + 1_s, clock);
    if (fd.ok()) tcp::send_all(fd->get(), block, Time::max(), clock);
    for (tcp::Io io = tcp::Io::done; fd.ok() && io == tcp::Io::done;)
      io = tcp::send_all(fd->get(), std::string_view(block).substr(9), Time::max(), clock);
  }
}

// Rank 0 read on and on, 2 GB of it, and its deadline passed unseen.
TEST(Job, AFloodOfAStrangerNeitherDelaysTheDeadlineNorTakesMemory) {
  const Result<Listener> held = reserve_port();
  ASSERT_TRUE(held.ok());
  const pid_t stranger = flood(held->port);
  const pid_t zero = fork();
  if (zero == 0) {
    rusage before{};
    getrusage(RUSAGE_SELF, &before);
    JobPlace place;
    place.size = 2;
    place.by = "the test";
    place.host = "127.0.0.1";
    place.port = held->port;
    const auto job = GatheredJob::gather(place, "/bin/false", 300_ms);
    rusage after{};
    getrusage(RUSAGE_SELF, &after);
    constexpr long most_kib = 32 * 1024;
    _exit(job.ok()                                        ? 1
          : job.error().code != Code::unavailable         ? 2
          : after.ru_maxrss - before.ru_maxrss > most_kib ? 3
                                                          : 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(zero, &status, 0), zero);
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  EXPECT_EQ(status, 0) << "1: gathered, 2: another error, 3: too much memory";
}

}  // namespace
}  // namespace pdsim
