#include "backends/tcp_store/tcp_store.h"

#include "core/base/random.h"
#include "core/store/length_prefixed.h"
#include "tests/unit/store/raw_client.h"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace pdsim::testing {
namespace {

using namespace pdsim::literals;
using Keys = std::vector<std::string>;

std::shared_ptr<TcpServer> served() { return TcpServer::start("127.0.0.1", 0).value(); }

TcpStoreOptions at(int port, Time timeout = 20_s) {
  TcpStoreOptions options;
  options.port = port;
  options.timeout = timeout;
  return options;
}

std::unique_ptr<TcpStore> client(int port) { return std::move(TcpStore::open(at(port))).value(); }

// A port that is this test's own, but on which nobody listens yet.
struct ReservedPort {
  Descriptor fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int port = 0;
  ReservedPort() {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(fd.get(), generic, length), 0);
    EXPECT_EQ(::getsockname(fd.get(), generic, &length), 0);
    port = ntohs(address.sin_port);
  }
};

void expect_it_serves(int port) {
  const auto store = client(port);
  ASSERT_TRUE(store->set("still", "here"));
  EXPECT_EQ(store->get("still").value(), "here");
}

TEST(TcpStore, TheServingRankWaitsUntilAllHaveJoined) {
  Listener listener = listen_on_loopback().value();
  const int port = listener.port;
  constexpr int world_size = 3;
  std::vector<std::thread> others;
  for (int rank = 1; rank < world_size; ++rank)
    others.emplace_back([port] {
      TcpStoreOptions options = at(port);
      options.world_size = world_size;
      const auto store = TcpStore::open(options);
      ASSERT_TRUE(store);
      EXPECT_EQ((*store)->get("from rank 0").value(), "hello");
      EXPECT_TRUE((*store)->add("done", 1));
    });
  TcpStoreOptions options = at(0);
  options.serve = true;
  options.listening_fd = listener.fd.release();
  options.world_size = world_size;
  const auto store = TcpStore::open(options);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->port(), port);
  EXPECT_EQ((*store)->num_keys().value(), 1) << "the key in which all counted themselves";
  ASSERT_TRUE((*store)->set("from rank 0", "hello"));
  for (std::thread& t : others) t.join();
}

TEST(TcpStore, TheServingRankSaysHowManyJoined) {
  TcpStoreOptions options = at(0, 30_ms);
  options.serve = true;
  options.world_size = 4;
  const auto store = TcpStore::open(options);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::rendezvous_timeout);
  EXPECT_EQ(fact(store.error().facts, "joined"), "1");
  EXPECT_NE(store.error().message.find("1 of 4 clients joined"), std::string::npos) << store.error().message;
  options.wait_for_workers = false;
  EXPECT_TRUE(TcpStore::open(options));
}

TEST(TcpStore, WithoutAServerConnectingEndsAtTheTimeout) {
  const ReservedPort reserved;
  const auto store = TcpStore::open(at(reserved.port, 40_ms));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::rendezvous_timeout);
  EXPECT_NE(store.error().message.find("refused"), std::string::npos) << store.error().message;
  EXPECT_EQ(TcpStore::open(at(70000)).error().code, Code::invalid_argument);
}

TEST(TcpStore, ClientsRetryUntilTheServerIsThere) {
  ReservedPort reserved;
  const int port = reserved.port;
  std::thread early([port] { EXPECT_EQ(client(port)->get("k").value(), "v"); });
  ASSERT_EQ(::listen(reserved.fd.get(), SOMAXCONN), 0);
  const auto server = TcpServer::adopt(reserved.fd.release());
  ASSERT_TRUE(server) << server.error().message;
  ASSERT_TRUE(client(port)->set("k", "v"));
  early.join();
}

TEST(TcpStore, APortThatIsTakenIsNamed) {
  const auto first = served();
  TcpStoreOptions options = at(first->port());
  options.serve = true;
  const auto second = TcpStore::open(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::io_error);
  EXPECT_EQ(fact(second.error().facts, "port"), std::to_string(first->port()));
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
  EXPECT_EQ(TcpServer::start("192.0.2.1", 0).error().code, Code::io_error) << "not an address of this machine";
}

TEST(TcpStore, OnlyAListeningSocketIsAdopted) {
  Descriptor plain(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(TcpServer::adopt(plain.release()).error().code, Code::invalid_argument);
}

TEST(TcpStore, AnEndedServerClosesBlockedAndLaterCallsAtOnce) {
  auto server = served();
  const auto blocked = client(server->port());
  const auto idle = client(server->port());
  Code seen = Code::internal;
  std::thread waiter([&] { seen = blocked->get("never").error().code; });
  server.reset();
  waiter.join();
  EXPECT_EQ(seen, Code::store_closed);
  EXPECT_EQ(idle->set("k", "v").error().code, Code::store_closed);
  EXPECT_EQ(idle->wait(Keys{"k"}, 1_s).error().code, Code::store_closed);
}

TEST(TcpStore, TheServerEndsWithTheHandleThatServes) {
  TcpStoreOptions options = at(0);
  options.serve = true;
  auto serving = std::move(TcpStore::open(options)).value();
  const auto other = client(serving->port());
  TcpStoreOptions tenant = at(0);
  tenant.server = serving->server();
  auto second = std::move(TcpStore::open(tenant)).value();
  ASSERT_TRUE(second->set("k", "v")) << "two stores of one process share a server";
  ASSERT_TRUE(serving->close());
  EXPECT_TRUE(other->get("k"));
  tenant.server.reset();
  ASSERT_TRUE(second->close());
  EXPECT_EQ(other->get("k").error().code, Code::store_closed);
}

TEST(TcpStore, ServesTwoHundredClients) {
  const auto server = served();
  constexpr int threads = 10, each = 20;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      std::vector<std::unique_ptr<TcpStore>> mine;
      for (int i = 0; i < each; ++i) mine.push_back(client(server->port()));
      for (int i = 0; i < each; ++i) {
        const int rank = t * each + i;
        ASSERT_TRUE(mine[static_cast<std::size_t>(i)]->set("rank_" + std::to_string(rank), "x"));
        ASSERT_TRUE(mine[static_cast<std::size_t>(i)]->add("joined", 1));
      }
      Keys all;
      for (int rank = 0; rank < threads * each; ++rank) all.push_back("rank_" + std::to_string(rank));
      for (const auto& store : mine) EXPECT_TRUE(store->wait(all, 20_s));
    });
  for (std::thread& t : running) t.join();
  EXPECT_EQ(client(server->port())->get("joined").value(), std::to_string(threads * each));
}

TEST(TcpStore, AddWakesWaitersUnlikeInHashStore) {
  const auto server = served();
  const auto waiting = client(server->port());
  std::thread waiter([&] { EXPECT_TRUE(waiting->wait(Keys{"k"}, Time{})); });
  ASSERT_TRUE(client(server->port())->add("k", 1));
  waiter.join();
}

TEST(TcpStore, RequestsOverTheLimitAreRefusedAndTheHandleStaysUsable) {
  const auto server = served();
  const auto store = client(server->port());
  EXPECT_EQ(store->set("k", std::string(tcp::max_frame, 'x')).error().code, Code::limit_exceeded);
  const std::string half(tcp::max_frame / 2, 'x');
  ASSERT_TRUE(store->append("k", half));
  EXPECT_EQ(store->append("k", half).error().code, Code::limit_exceeded);
  EXPECT_EQ(store->get("k").value().size(), half.size());
}

TEST(TcpServer, DropsGarbageAndServesOn) {
  const auto server = served();
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    std::string junk;
    for (int i = 0; i < 200; ++i) junk += static_cast<char>(random.below(256));
    RawClient before(server->port());
    before.send(round % 2 == 0 ? "GET / HTTP/1.1\r\nHost: x\r\n\r\n" : junk);
    EXPECT_EQ(before.receive(1), "closed");
    RawClient after(server->port());
    after.send(tcp::hello() + junk);
    after.close();
  }
  expect_it_serves(server->port());
}

TEST(TcpServer, DropsWellFramedNonsense) {
  const auto server = served();
  std::string huge;
  put_number(huge, std::uint32_t{0xffffffff});
  std::string empty;
  put_text(empty, "");
  std::string unknown_op;
  put_text(unknown_op, std::string(21, '\xee'));
  std::string many_texts;
  put_text(many_texts, std::string(17, '\0') + "\xff\xff\xff\x7f");
  const std::string wrong_count = tcp::encode(tcp::Request{tcp::Op::set, {}, 0, {"only a key"}});
  for (const std::string& bytes : {huge, empty, unknown_op, many_texts, wrong_count}) {
    RawClient raw(server->port());
    raw.enter();
    raw.send(bytes);
    EXPECT_EQ(raw.receive(1), "closed");
  }
  expect_it_serves(server->port());
}

TEST(TcpServer, SilentSlowAndGreedyClientsHoldUpNobody) {
  const auto server = served();
  RawClient silent(server->port());
  RawClient half_a_hello(server->port());
  half_a_hello.send("PD");
  RawClient gone_while_waiting(server->port());
  gone_while_waiting.send(tcp::hello() + tcp::offer("") + tcp::encode(tcp::Request{tcp::Op::get, {}, 0, {"/never"}}));
  gone_while_waiting.close();

  // Asks for far more than the sockets hold, and reads none of it.
  ASSERT_TRUE(client(server->port())->set("large", std::string(std::size_t{1} << 20, 'x')));
  RawClient greedy(server->port());
  std::string requests = tcp::hello() + tcp::offer("");
  for (int i = 0; i < 64; ++i) requests += tcp::encode(tcp::Request{tcp::Op::get, {}, 0, {"/large"}});
  greedy.send(requests);
  EXPECT_EQ(greedy.receive(tcp::hello_size), tcp::hello());

  // One byte at a time, with others being served in between.
  RawClient slow(server->port());
  const auto other = client(server->port());
  for (const char c : tcp::hello() + tcp::offer("") + tcp::encode(tcp::Request{tcp::Op::add, {}, 5, {"/n"}})) {
    slow.send(std::string(1, c));
    ASSERT_TRUE(other->add("m", 1));
  }
  EXPECT_EQ(slow.receive(tcp::hello_size + 1), tcp::hello() + '\0');
  ASSERT_NE(slow.receive(4), "closed");
  EXPECT_EQ(other->get("n").value(), "5");
  expect_it_serves(server->port());
}

TEST(TcpServer, TellsAnotherVersionItsOwn) {
  const auto server = served();
  RawClient old(server->port());
  old.send(tcp::hello(tcp::protocol_version + 1));
  EXPECT_EQ(old.receive(tcp::hello_size), tcp::hello());
  EXPECT_EQ(old.receive(1), "closed");
}

// A client that meets a server which first says `greeting`.
Error error_after(const std::string& greeting) {
  Listener listener = listen_on_loopback().value();
  std::thread server([&] {
    RawClient accepted{Descriptor(::accept(listener.fd.get(), nullptr, nullptr))};
    accepted.send(greeting);
    accepted.receive(1000);  // until the client goes
  });
  const auto store = TcpStore::open(at(listener.port));
  server.join();
  return store ? Error{} : store.error();
}

TEST(TcpStore, NamesAServerOfAnotherVersionAndAForeignOne) {
  const Error other = error_after(tcp::hello(7));
  EXPECT_EQ(other.code, Code::unsupported);
  EXPECT_EQ(fact(other.facts, "server_version"), "7");
  EXPECT_NE(other.message.find("all ranks must run the same pdsim"), std::string::npos);
  const Error foreign = error_after("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_EQ(foreign.code, Code::unsupported);
  EXPECT_NE(foreign.message.find("another program"), std::string::npos);
  EXPECT_EQ(error_after("H").code, Code::unsupported) << "one foreign byte is enough";
}

}  // namespace
}  // namespace pdsim::testing
