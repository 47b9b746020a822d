// The exchange alone: one fiber posts the rounds of all ranks, and events move the messages.
#include "sim/network/exchange.h"

#include "sim/world/memory_need.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pdsim::sim {
namespace {

using namespace literals;
using Bytes4 = std::vector<std::byte>;

constexpr int ranks_of_exchange = 4;

Bytes4 filled(int value, std::size_t size = 4) { return Bytes4(size, static_cast<std::byte>(value)); }

class ExchangeTest : public ::testing::Test {
 protected:
  ExchangeTest() {
    spec_.ranks_per_node = ranks_of_exchange;
    spec_.intra.latency = spec_.inter.latency = 5_us;
    spec_.intra.bandwidth = spec_.inter.bandwidth = Rate{1'000'000'000};  // a nanosecond a byte
    spec_.buffering = Buffering::zero;
    library_ = *library_named("gloo");
  }

  // How a batch ended, and when.
  struct Ended {
    bool is = false;
    Code code = Code::internal;
    Time at{};
    bool ok = false;
  };

  // The body runs in the fiber of rank 0; what it leaves behind happens before this returns.
  void run(const std::function<void()>& body, const std::string& strategy = "fifo") {
    auto chooser = Chooser::make(strategy, 7);
    ASSERT_TRUE(chooser.ok());
    scheduler_ = std::make_unique<Scheduler>(*chooser, stack_bytes(ranks_of_exchange));
    faults_ = std::make_unique<Faults>(spec_);
    trace_ = std::make_unique<Trace>(1000);
    exchange_ = std::make_unique<Exchange>(*scheduler_, spec_, library_, *faults_, *trace_, 100);
    exchange_->abort_rank = [this](Rank rank, const Error&) { aborted_.push_back(rank); };
    scheduler_->spawn(0, [&] {
      body();
      sleep(1_s);
    });
    scheduler_->run([] {});
  }
  void sleep(Time span) {
    bool over = false;
    scheduler_->at(scheduler_->now() + span, [&] {
      over = true;
      scheduler_->wake(0);
    });
    while (!over) scheduler_->park();
  }
  Batch post(Rank self, std::vector<Message> round, Ended& ended, int channel = 0) {
    const Batch batch = exchange_->open(CollectiveKind::all_reduce, [this, &ended](const Status& status) {
      EXPECT_FALSE(ended.is) << "a batch ended twice";
      ended = {true, status.ok() ? Code::internal : status.error().code, scheduler_->now(), status.ok()};
    });
    exchange_->post(channel, RankList::of_world(ranks_of_exchange), self, round, batch);
    return batch;
  }
  static Message send(Rank to, Bytes4& data, Tag tag = 0) {
    return {Message::Kind::send, to, tag, data.data(), static_cast<std::int64_t>(data.size()), nullptr};
  }
  static Message receive(Rank from, Bytes4& data, Tag tag = 0, Rank* matched = nullptr) {
    return {Message::Kind::receive, from, tag, data.data(), static_cast<std::int64_t>(data.size()), matched};
  }

  WorldSpec spec_;
  LibrarySemantics library_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Faults> faults_;
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<Rank> aborted_;
};

TEST_F(ExchangeTest, ReceivesMeetSendsInTheOrderOfTheSends) {
  Bytes4 first = filled(1), second = filled(2), one = filled(0), two = filled(0);
  Ended sends[2], receives[2];
  run([&] {
    post(0, {send(1, first)}, sends[0]);
    post(0, {send(1, second)}, sends[1]);
    post(1, {receive(0, one)}, receives[0]);
    post(1, {receive(0, two)}, receives[1]);
  });
  EXPECT_EQ(one, first);
  EXPECT_EQ(two, second);
  for (const Ended& e : {sends[0], sends[1], receives[0], receives[1]}) EXPECT_TRUE(e.ok);
}

TEST_F(ExchangeTest, TagsAndChannelsAreApart) {
  Bytes4 a = filled(1), b = filled(2), c = filled(3), by_tag = filled(0), by_channel = filled(0);
  Ended sends[3], receives[2];
  run([&] {
    post(0, {send(1, a, 10)}, sends[0]);
    post(0, {send(1, b, 11)}, sends[1]);
    post(0, {send(1, c, 10)}, sends[2], 1);
    post(1, {receive(0, by_tag, 11)}, receives[0]);
    post(1, {receive(0, by_channel, 10)}, receives[1], 1);
  });
  EXPECT_EQ(by_tag, b);
  EXPECT_EQ(by_channel, c);
  EXPECT_FALSE(sends[0].is) << "nobody receives it";
}

TEST_F(ExchangeTest, ABatchEndsWithItsLastMessage) {
  Bytes4 small = filled(1), large = filled(2, 1000), to_small = filled(0), to_large = filled(0, 1000);
  Ended sender, receivers[2];
  run([&] {
    post(0, {send(1, small), send(2, large)}, sender);
    post(1, {receive(0, to_small)}, receivers[0]);
    post(2, {receive(0, to_large)}, receivers[1]);
  });
  EXPECT_EQ(receivers[0].at, 5_us + 4_ns);
  EXPECT_EQ(receivers[1].at, 5_us + 1004_ns) << "the port sends one message after the other";
  EXPECT_EQ(sender.at, receivers[1].at);
}

TEST_F(ExchangeTest, ASendWaitsForALateReceiver) {
  Bytes4 data = filled(1), target = filled(0);
  Ended sent, received;
  run([&] {
    post(0, {send(1, data)}, sent);
    sleep(1_ms);
    EXPECT_FALSE(sent.is);
    post(1, {receive(0, target)}, received);
  });
  EXPECT_EQ(sent.at, 1_ms + 5_us + 4_ns);
  EXPECT_EQ(received.at, sent.at);
}

TEST_F(ExchangeTest, AnEagerSendLeavesItsBufferAndWaitsAtTheReceiver) {
  spec_.buffering = Buffering::unbounded;
  Bytes4 data = filled(1), target = filled(0);
  Ended sent, received;
  run([&] {
    post(0, {send(1, data)}, sent);
    data = filled(9);
    sleep(1_ms);
    EXPECT_EQ(sent.at, 4_ns) << "when its last byte had left";
    post(1, {receive(0, target)}, received);
  });
  EXPECT_EQ(target, filled(1));
  EXPECT_EQ(received.at, 1_ms) << "its bytes were there already";
}

TEST_F(ExchangeTest, AnyReceiveTakesTheFirstToComeOrAChoice) {
  Bytes4 from_2 = filled(2), from_3 = filled(3), target = filled(0), next = filled(0);
  for (const bool receives_first : {false, true}) {
    Rank matched = no_rank, second = no_rank;
    Ended sends[2], receives[2];
    run(
        [&] {
          if (receives_first) post(1, {receive(any_source, target, 0, &matched)}, receives[0]);
          post(3, {send(1, from_3)}, sends[0]);
          post(2, {send(1, from_2)}, sends[1]);
          if (!receives_first) post(1, {receive(any_source, target, 0, &matched)}, receives[0]);
          post(1, {receive(any_source, next, 0, &second)}, receives[1]);
        },
        "replay:1");  // of the senders 2 and 3, in this order, the second
    EXPECT_EQ(matched, 3);
    EXPECT_EQ(target, from_3);
    EXPECT_EQ(second, 2);
    EXPECT_TRUE(receives[1].ok);
  }
}

TEST_F(ExchangeTest, WhatWasWithdrawnMeetsNothing) {
  Bytes4 data = filled(1), kept = filled(2), target = filled(0);
  Ended withdrawn, sent, received;
  run([&] {
    const Batch batch = post(0, {send(1, data)}, withdrawn);
    exchange_->withdraw(batch);
    EXPECT_TRUE(exchange_->is_over(batch));
    post(0, {send(1, kept)}, sent);
    post(1, {receive(0, target)}, received);
  });
  EXPECT_FALSE(withdrawn.is);
  EXPECT_EQ(target, kept);
}

TEST_F(ExchangeTest, AReceiveThatIsWithdrawnWhileItsMessageFliesIsNotWritten) {
  Bytes4 data = filled(1), target = filled(0);
  Ended sent, received;
  run([&] {
    post(0, {send(1, data)}, sent);
    const Batch batch = post(1, {receive(0, target)}, received);
    sleep(1_us);
    exchange_->withdraw(batch);
  });
  EXPECT_FALSE(received.is);
  EXPECT_EQ(target, filled(0));
}

TEST_F(ExchangeTest, ARankThatEndsFailsItsPeersOnceItsConnectionsClose) {
  Bytes4 data = filled(1), target = filled(0), never = filled(0), late = filled(3);
  Ended sent, received, waiting, after;
  run([&] {
    post(2, {send(1, data)}, sent);
    post(1, {receive(2, target)}, received);
    post(1, {receive(2, never, 5)}, waiting);
    exchange_->rank_ended(2);
    sleep(1_ms);
    EXPECT_TRUE(exchange_->is_closed(2));
    post(1, {send(2, late)}, after);
  });
  EXPECT_TRUE(received.ok) << "its message had left";
  EXPECT_EQ(waiting.code, Code::peer_closed);
  EXPECT_EQ(after.code, Code::peer_closed);
  EXPECT_EQ(after.at, 1_ms) << "at once";
}

TEST_F(ExchangeTest, ASendThatItsDeadSenderGaveUpFailsTheReceive) {
  Bytes4 data = filled(1), target = filled(0);
  Ended sent, received;
  run([&] {
    const Batch batch = post(2, {send(1, data)}, sent);
    post(1, {receive(2, target)}, received);
    exchange_->withdraw(batch);  // its memory is gone
    exchange_->rank_ended(2);
  });
  EXPECT_FALSE(sent.is);
  EXPECT_EQ(received.code, Code::peer_closed);
  EXPECT_EQ(target, filled(0));
}

TEST_F(ExchangeTest, WhatHadLeftAnEndedRankStillArrives) {
  spec_.buffering = Buffering::unbounded;
  Bytes4 data = filled(1), target = filled(0);
  Ended sent, received;
  run([&] {
    post(2, {send(1, data)}, sent);
    exchange_->rank_ended(2);
    post(1, {receive(2, target)}, received);
  });
  EXPECT_TRUE(received.ok);
  EXPECT_EQ(target, filled(1));
}

TEST_F(ExchangeTest, AMessageLongerThanItsReceiveEndsAsTheLibrarySays) {
  for (const OnLongMessage what :
       {OnLongMessage::receiver_fails, OnLongMessage::receiver_aborts, OnLongMessage::never_completes}) {
    library_.on_long_message = what;
    aborted_.clear();
    Bytes4 data = filled(1, 8), target = filled(0);
    Ended sent, received;
    run([&] {
      post(0, {send(1, data)}, sent);
      post(1, {receive(0, target)}, received);
    });
    EXPECT_EQ(target, filled(0));
    EXPECT_EQ(sent.ok, what != OnLongMessage::never_completes);
    EXPECT_EQ(received.is, what == OnLongMessage::receiver_fails);
    EXPECT_EQ(aborted_.size(), what == OnLongMessage::receiver_aborts ? 1U : 0U);
    if (received.is) {
      EXPECT_EQ(received.code, Code::size_mismatch);
    }
  }
}

TEST_F(ExchangeTest, FaultsStrikeMessages) {
  const std::map<FaultKind, std::pair<bool, int>> expected{
      {FaultKind::drop, {false, 0}}, {FaultKind::corrupt, {true, 0xfe}}, {FaultKind::duplicate, {true, 1}}, {FaultKind::delay, {true, 1}}};
  for (const auto& [kind, result] : expected) {
    FaultSpec fault;
    fault.kind = kind;
    fault.by = 3_us;
    spec_.faults = {fault};
    Bytes4 data = filled(1), target = filled(0);
    Ended sent, received;
    run([&] {
      post(0, {send(1, data)}, sent);
      post(1, {receive(0, target)}, received);
    });
    EXPECT_EQ(received.ok, result.first) << name_of(kind);
    EXPECT_EQ(target[0], static_cast<std::byte>(result.second)) << name_of(kind);
    if (result.first) {
      EXPECT_EQ(received.at, 5_us + 4_ns + (kind == FaultKind::delay ? 3_us : Time{})) << name_of(kind);
    }
  }
}

// A connection keeps its order: what overtakes an earlier message of the same tag waits for it.
TEST_F(ExchangeTest, AFasterMessageDoesNotOvertakeAnEarlierOneOfItsTag) {
  spec_.buffering = Buffering::unbounded;
  FaultSpec slow;
  slow.kind = FaultKind::delay;
  slow.by = 1_ms;
  slow.match.nth = IntSet::of({1});
  spec_.faults = {slow};
  Bytes4 first = filled(1), second = filled(2), one = filled(0), two = filled(0);
  Ended sends[2], receives[2];
  run([&] {
    post(1, {receive(0, one)}, receives[0]);
    post(1, {receive(0, two)}, receives[1]);
    post(0, {send(1, first)}, sends[0]);
    post(0, {send(1, second)}, sends[1]);
  });
  EXPECT_EQ(one, first);
  EXPECT_EQ(two, second);
  EXPECT_GE(receives[1].at, 1_ms);
}

TEST_F(ExchangeTest, CountsAllMessagesAndRecordsTheFirst) {
  Bytes4 data = filled(1), target = filled(0);
  run([&] {
    for (Tag tag = 0; tag < 10'000; ++tag) {
      Ended sent, received;
      post(0, {send(1, data, tag)}, sent);
      post(1, {receive(0, target, tag)}, received);
      sleep(1_ms);
      ASSERT_TRUE(received.ok && sent.ok);
    }
  });
  EXPECT_EQ(exchange_->message_count(), 10'000);
  EXPECT_EQ(exchange_->messages_dropped(), 9'900);
}

}  // namespace
}  // namespace pdsim::sim
