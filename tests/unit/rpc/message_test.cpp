// What travels arrives as it was; what was cut short or changed is an error, and nothing worse.

#include "core/rpc/message.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

RpcForks no_forks() {
  return {[](const RRef& r) { return RRefFork{r.id(), {}, r.owner(), 0}; }, [](const RRefFork&) { return RRef(); }};
}

RpcMessage sample() {
  RpcMessage m;
  m.kind = RpcMessageKind::call;
  m.id = 7;
  m.function = "f";
  m.arguments = {true,
                 3,
                 2.5,
                 "text \xff with any byte",
                 RpcList{1, RpcList{2}},
                 nn::Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, DType::f64)};
  m.object = {1, 2};
  m.rref = {3, 4};
  m.fork = {5, 6};
  m.context = 9;
  return m;
}

TEST(RpcMessage, ArrivesAsItWasSent) {
  const auto bytes = encode(sample(), no_forks());
  ASSERT_TRUE(bytes.ok());
  const auto m = decode(*bytes, no_forks());
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->kind, RpcMessageKind::call);
  EXPECT_EQ(m->id, 7);
  EXPECT_EQ(m->function, "f");
  ASSERT_EQ(m->arguments.size(), 6U);
  EXPECT_EQ(m->arguments[0].as<bool>(), true);
  EXPECT_EQ(m->arguments[1].as<std::int64_t>(), 3);
  EXPECT_EQ(m->arguments[2].as<double>(), 2.5);
  EXPECT_EQ(m->arguments[3].as<std::string>(), "text \xff with any byte");
  EXPECT_EQ(m->arguments[4].as<RpcList>()[1].as<RpcList>()[0].as<std::int64_t>(), 2);
  EXPECT_EQ(m->arguments[5].as<nn::Tensor>().values(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(m->arguments[5].as<nn::Tensor>().shape(), (nn::Shape{2, 3}));
  EXPECT_EQ(m->object, (RpcId{1, 2}));
  EXPECT_EQ(m->fork, (RpcId{5, 6}));
  EXPECT_EQ(m->context, 9);
}

TEST(RpcMessage, CutShortAnywhereIsAnError) {
  const auto bytes = encode(sample(), no_forks());
  ASSERT_TRUE(bytes.ok());
  for (std::size_t length = 0; length < bytes->size(); ++length) {
    const auto m = decode(std::string_view(*bytes).substr(0, length), no_forks());
    ASSERT_FALSE(m.ok()) << length;
    EXPECT_EQ(m.error().code, Code::wrong_data);
  }
}

TEST(RpcMessage, AnyChangedByteIsAMessageOrAnError) {
  const auto bytes = encode(sample(), no_forks());
  ASSERT_TRUE(bytes.ok());
  for (std::size_t at = 0; at < bytes->size(); ++at)
    for (int value = 0; value < 256; value += 15) {
      std::string changed = *bytes;
      changed[at] = static_cast<char>(value);
      const auto m = decode(changed, no_forks());
      EXPECT_TRUE(m.ok() || m.error().code == Code::wrong_data);
    }
}

TEST(RpcMessage, ListsInListsWithoutEndAreAnErrorAtBothEnds) {
  const auto received = decode(std::string(100'000, '\x91'), no_forks());
  ASSERT_FALSE(received.ok());
  EXPECT_EQ(received.error().code, Code::wrong_data);
  RpcList nested;
  for (int i = 0; i < 100; ++i) nested = RpcList(1, RpcValue(nested));  // in braces clang copies the list
  RpcMessage m;
  m.arguments = nested;
  const auto sent = encode(m, no_forks());
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.error().message, "lists are nested too deep");
}

}  // namespace
}  // namespace pdsim
