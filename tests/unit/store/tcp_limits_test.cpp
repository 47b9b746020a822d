// What the store's server bears: what each connection and all together may take, whose turn it is, and who is let in.

#include "backends/tcp_store/tcp_store.h"
#include "core/store/length_prefixed.h"
#include "tests/unit/store/raw_client.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace pdsim::testing {
namespace {

using namespace pdsim::literals;
using tcp::Op;
using Keys = std::vector<std::string>;

const std::string welcome(1, static_cast<char>(tcp::Admission::welcome));
const std::string wrong_secret(1, static_cast<char>(tcp::Admission::wrong_secret));
const std::string full(1, static_cast<char>(tcp::Admission::full));

std::shared_ptr<TcpServer> served_with(StoreLimits limits) {
  TcpServerOptions options;
  options.limits = limits;
  return TcpServer::start("127.0.0.1", 0, std::move(options)).value();
}

Result<std::unique_ptr<TcpStore>> opened(int port, Secret secret = {}, Time timeout = 20_s) {
  TcpStoreOptions options;
  options.port = port;
  options.timeout = timeout;
  options.secret = std::move(secret);
  return TcpStore::open(options);
}

std::unique_ptr<TcpStore> client_of(const TcpServer& server) { return std::move(opened(server.port())).value(); }

std::string request(Op op, std::vector<std::string> texts, std::int64_t number = 0) {
  return tcp::encode(tcp::Request{op, {}, number, std::move(texts)});
}

template <class Condition>
void until(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

Result<tcp::Response> next_answer(RawClient& client) {
  std::string_view length;
  const std::string bytes = client.receive(tcp::length_size);
  length = bytes;
  const auto size = tcp::frame_size(length);
  if (!size) return Error{Code::store_closed, "closed", {}};
  return tcp::decode_response(client.receive(*size)).value_or(Error{Code::internal, "nonsense", {}});
}

// A thousand requests of one client lie there when another comes with two: it is served between the first ones.
TEST(StoreLimits, AClientWithManyRequestsIsServedOneATurn) {
  const auto server = served_with({});
  RawClient many(server->port()), other(server->port());
  ASSERT_EQ(many.enter(), welcome);
  ASSERT_EQ(other.enter(), welcome);
  std::string requests = request(Op::get, {"/start"});
  constexpr int count = 300;
  const std::string one = request(Op::add, {"/n"}, 1);
  for (int i = 0; i < count; ++i) requests += one;
  many.send(requests);
  const StoreLimits limits;
  const std::size_t sent = requests.size();
  ASSERT_LT(sent, limits.small) << "so that all of them lie in the server when it begins";
  until([&] { return server->load().held + request(Op::get, {"/start"}).size() >= sent; });
  other.send(request(Op::set, {"/start", "x"}) + request(Op::add, {"/n"}, 0));
  ASSERT_TRUE(next_answer(other));
  const auto seen = next_answer(other);
  ASSERT_TRUE(seen);
  EXPECT_LT(seen->number, 10) << "of " << count;
  for (int i = 0; i <= count; ++i) ASSERT_TRUE(next_answer(many)) << i;
}

TEST(StoreLimits, TheServerTakesLittleOfWhatAClientSendsAhead) {
  const auto server = served_with({});
  RawClient waiting(server->port());
  ASSERT_EQ(waiting.enter(), welcome);
  waiting.send(request(Op::get, {"/never"}));
  const StoreLimits limits;
  std::string block;
  while (block.size() < (std::size_t{1} << 20)) block += request(Op::num_keys, {});
  EXPECT_GT(waiting.send_until_full(block), limits.small);
  until([&] { return server->load().held >= limits.small; });
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client_of(*server)->set("k", "v"));
  EXPECT_LT(server->load().held, 2 * limits.small);
}

TEST(StoreLimits, ADeclaredLengthTakesNoMemory) {
  const auto server = served_with({});
  std::string length;
  put_number(length, static_cast<std::uint32_t>(tcp::max_frame));
  std::vector<std::unique_ptr<RawClient>> promising;
  for (int i = 0; i < 100; ++i) {
    promising.push_back(std::make_unique<RawClient>(server->port()));
    ASSERT_EQ(promising.back()->enter(), welcome);
    promising.back()->send(length + "x");
  }
  until([&] { return server->load().held >= 100 * 5; });
  EXPECT_EQ(server->load().held, 100U * 5);
}

TEST(StoreLimits, LargeValuesWaitForRoomAndWhoDoesNotReadThemLosesIt) {
  constexpr std::size_t large = std::size_t{12} << 20;
  StoreLimits limits;
  limits.large_in_all = 2 * tcp::max_frame;
  limits.large_within = 1_ms;
  const auto server = served_with(limits);
  ASSERT_TRUE(client_of(*server)->set("large", std::string(large, 'x')));
  std::vector<std::unique_ptr<RawClient>> greedy;
  for (int i = 0; i < 6; ++i) {
    greedy.push_back(std::make_unique<RawClient>(server->port()));
    ASSERT_EQ(greedy.back()->enter(), welcome);
    greedy.back()->send(request(Op::get, {"/large"}));
    EXPECT_LE(server->load().held, limits.large_in_all + limits.small);
  }
  const auto honest = client_of(*server);
  ASSERT_TRUE(honest->set("small", "passes"));
  const auto value = honest->get("large");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->size(), large);
  EXPECT_LE(server->load().held, limits.large_in_all + limits.small);
}

// More at once than there is room for, and all read: nobody is dropped.
TEST(StoreLimits, EveryoneWhoReadsGetsALargeValueInTheEnd) {
  constexpr std::size_t large = std::size_t{12} << 20;
  StoreLimits limits;
  limits.large_in_all = tcp::max_frame;
  const auto server = served_with(limits);
  std::vector<std::thread> readers;
  for (int i = 0; i < 6; ++i)
    readers.emplace_back([&, store = std::shared_ptr(client_of(*server))] {
      const auto value = store->get("large");
      ASSERT_TRUE(value) << value.error().message;
      EXPECT_EQ(value->size(), large);
      EXPECT_TRUE(store->set("large", *value));
    });
  ASSERT_TRUE(client_of(*server)->set("large", std::string(large, 'x')));
  for (std::thread& reader : readers) reader.join();
}

TEST(StoreLimits, WaitsHaveABoundEachAndTogether) {
  StoreLimits limits;
  limits.waiting_in_all = 1000;
  const auto server = served_with(limits);
  RawClient first(server->port());
  ASSERT_EQ(first.enter(), welcome);
  first.send(request(Op::get, {"/" + std::string(500, 'a')}));
  until([&] { return server->load().held > 500; });
  const auto store = client_of(*server);
  EXPECT_EQ(store->wait(Keys{std::string(500, 'b')}, 20_s).error().code, Code::limit_exceeded);
  EXPECT_TRUE(store->set("k", "v")) << "the handle stays usable";
  EXPECT_TRUE(store->wait(Keys{"k"}, 20_s));
  first.close();
  until([&] { return server->load().held == 0; });

  const auto unbound = served_with({});
  const auto other = client_of(*unbound);
  EXPECT_EQ(other->wait(Keys{std::string(tcp::max_wait, 'x')}, 20_s).error().code, Code::limit_exceeded);
  EXPECT_EQ(other->wait(Keys(tcp::max_texts + 1, "x"), 20_s).error().code, Code::limit_exceeded);
  RawClient keys(unbound->port());
  ASSERT_EQ(keys.enter(), welcome);
  keys.send(request(Op::wait, Keys(tcp::max_texts + 1)));
  EXPECT_EQ(keys.receive(1), "closed") << "four million empty keys took 150 MB";
}

TEST(StoreLimits, AFullStoreSaysSoAndTakesWhatFreesItsMemory) {
  StoreLimits limits;
  limits.stored = 4000;
  const auto server = served_with(limits);
  const auto store = client_of(*server);
  ASSERT_TRUE(store->set("k", std::string(3000, 'x')));
  const std::string text(2000, 'y');
  EXPECT_EQ(store->set("other", text).error().code, Code::limit_exceeded);
  EXPECT_EQ(store->append("k", text).error().code, Code::limit_exceeded);
  EXPECT_EQ(store->compare_set("other", "", text).error().code, Code::limit_exceeded);
  EXPECT_FALSE(store->check(Keys{"other"}).value()) << "nothing was changed";
  ASSERT_TRUE(store->set("k", text));
  ASSERT_TRUE(store->delete_key("k"));
  EXPECT_TRUE(store->set("other", text));
  for (int i = 0; i < 1000; ++i)
    if (!store->set(std::to_string(i), "")) return;
  FAIL() << "keys take memory as well";
}

TEST(StoreLimits, ASilentStrangerMakesRoomForTheNext) {
  StoreLimits limits;
  limits.strangers = 4;
  const auto server = served_with(limits);
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<RawClient>(server->port()));
  const auto store = client_of(*server);
  EXPECT_TRUE(store->set("k", "v"));
  EXPECT_LE(server->load().strangers, limits.strangers);
  EXPECT_EQ(silent.front()->receive(1), "closed");
}

TEST(StoreLimits, AStrangerHasATimeToSayHelloAndAClientNone) {
  StoreLimits limits;
  limits.hello_within = 100_ms;
  const auto server = served_with(limits);
  const auto store = client_of(*server);
  RawClient silent(server->port()), half(server->port());
  half.send(tcp::hello());
  EXPECT_EQ(silent.receive(1), "closed");
  EXPECT_EQ(half.receive(tcp::hello_size), tcp::hello());
  EXPECT_EQ(half.receive(1), "closed");
  EXPECT_TRUE(store->set("k", "v"));
}

TEST(StoreLimits, BeforeTheHelloLittleIsKept) {
  const auto server = served_with({});
  RawClient flood(server->port());
  flood.send(tcp::hello());
  std::string rest;
  put_number(rest, std::uint32_t{Secret::longest});
  flood.send(rest);
  EXPECT_EQ(flood.receive(tcp::hello_size), tcp::hello());
  EXPECT_LE(server->load().held, tcp::most_before_admission);
  RawClient long_secret(server->port());
  EXPECT_EQ(long_secret.enter(std::string(Secret::longest + 1, 'x')), "closed");
}

TEST(StoreLimits, AFullServerSaysSoAndAClientTriesAgain) {
  StoreLimits limits;
  limits.clients = 2;
  const auto server = served_with(limits);
  const auto first = client_of(*server);
  auto second = client_of(*server);
  RawClient third(server->port());
  EXPECT_EQ(third.enter(), full);
  const auto late = opened(server->port(), {}, 30_ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::rendezvous_timeout);
  EXPECT_NE(late.error().message.find("it has its maximum number of clients"), std::string::npos) << late.error().message;
  second.reset();
  EXPECT_TRUE(client_of(*server)->set("k", "v"));
}

TEST(StoreLimits, AClientThatSaysNoMoreGetsItsAnswers) {
  const auto server = served_with({});
  RawClient client(server->port());
  client.send(tcp::hello() + tcp::offer("") + request(Op::add, {"/n"}, 1) + request(Op::add, {"/n"}, 1));
  client.say_no_more();
  EXPECT_EQ(client.receive(tcp::hello_size + 1), tcp::hello() + welcome);
  EXPECT_EQ(next_answer(client)->number, 1);
  EXPECT_EQ(next_answer(client)->number, 2);
  EXPECT_EQ(client.receive(1), "closed");
}

TEST(StoreLimits, AWaitEndsWhenTheLastOfItsKeysIsThere) {
  const auto server = served_with({});
  const auto store = client_of(*server);
  RawClient waiting(server->port());
  ASSERT_EQ(waiting.enter(), welcome);
  waiting.send(request(Op::wait, {"/a", "/b", "/a"}));
  until([&] { return server->load().held > 0; });
  ASSERT_TRUE(store->set("a", "1"));
  ASSERT_TRUE(store->delete_key("a").value());
  ASSERT_TRUE(store->set("b", "1"));
  EXPECT_GT(server->load().held, 0U) << "a is gone again";
  ASSERT_TRUE(store->set("a", "1"));
  EXPECT_TRUE(next_answer(waiting));
}

Secret secret_of(const char* text) { return Secret::of(text).value(); }

TEST(StoreSecret, OnlyWhoHasItIsLetInAndTheServerGoesOn) {
  std::mutex mutex;
  std::vector<std::string> refused;
  TcpServerOptions options;
  options.secret = secret_of("opensesame");
  options.refused = [&](const std::string& address) {
    const std::lock_guard lock(mutex);
    refused.push_back(address);
  };
  const auto server = TcpServer::start("127.0.0.1", 0, std::move(options)).value();
  RawClient stranger(server->port());
  EXPECT_EQ(stranger.enter(), wrong_secret);
  EXPECT_EQ(stranger.receive(1), "closed");
  const auto none = opened(server->port());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::invalid_argument);
  EXPECT_NE(none.error().message.find("this rank has none"), std::string::npos) << none.error().message;
  for (const char* wrong : {"opensesam", "opensesamE", "opensesame2"}) {
    const auto other = opened(server->port(), secret_of(wrong));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().message.find(wrong), std::string::npos) << "a secret is never printed";
    EXPECT_EQ(other.error().message.find("opensesame"), std::string::npos);
  }
  const auto right = opened(server->port(), secret_of("opensesame"));
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_TRUE((*right)->set("k", "v"));
  until([&] { return server->load().refused == 5; });
  const std::lock_guard lock(mutex);
  ASSERT_EQ(refused.size(), 5U);
  EXPECT_EQ(refused.front().find("127.0.0.1:"), 0U) << refused.front();
}

TEST(StoreSecret, AServerWithoutOneRefusesWhoHasOne) {
  const auto server = served_with({});
  const auto store = opened(server->port(), secret_of("mine"));
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("or it has none"), std::string::npos) << store.error().message;
}

TEST(StoreSecret, HasABoundAndIsNotEmpty) {
  EXPECT_FALSE(Secret::of(""));
  EXPECT_TRUE(Secret::of(std::string(Secret::longest, 'x')));
  const auto too_long = Secret::of(std::string(Secret::longest + 1, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().message.find("xx"), std::string::npos);
  EXPECT_TRUE(Secret().matches(""));
  EXPECT_FALSE(Secret().matches(std::string(1, '\0')));
}

}  // namespace
}  // namespace pdsim::testing
