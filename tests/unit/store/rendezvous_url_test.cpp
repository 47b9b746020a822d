#include "core/store/rendezvous_url.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

const Environment whole{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "node7"}, {"MASTER_PORT", "29500"}};

std::string error_of(std::string_view url, std::optional<int> rank = 0, std::optional<int> size = 2,
                     const Environment& environment = {}) {
  const auto method = parse_init_method({url, rank, size}, environment);
  if (method) return "none";
  EXPECT_EQ(method.error().code, Code::invalid_argument);
  return method.error().message;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(RendezvousUrl, EnvTakesWhatTheArgumentsDoNotSay) {
  const auto method = parse_init_method({}, whole);
  ASSERT_TRUE(method);
  EXPECT_EQ(method->kind, InitMethod::Kind::env);
  EXPECT_EQ(method->host, "node7");
  EXPECT_EQ(method->port, 29500);
  EXPECT_EQ(method->rank, 1);
  EXPECT_EQ(method->world_size, 2);
  EXPECT_FALSE(method->serves);
  EXPECT_TRUE(parse_init_method({"env://", 0, 4}, whole)->serves);
  EXPECT_EQ(parse_init_method({"env://?rank=2&world_size=3", {}, {}}, whole)->rank, 2);
}

TEST(RendezvousUrl, TheFirstMissingOrEmptyVariableIsNamed) {
  for (const std::string name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    Environment environment = whole;
    environment[name] = "";
    const auto empty = parse_init_method({}, environment);
    environment.erase(name);
    const auto absent = parse_init_method({}, environment);
    ASSERT_FALSE(empty);
    ASSERT_FALSE(absent);
    EXPECT_EQ(fact(empty.error().facts, "variable"), name);
    EXPECT_EQ(fact(absent.error().facts, "variable"), name);
  }
  EXPECT_EQ(fact(parse_init_method({}, {}).error().facts, "variable"), "RANK");
}

TEST(RendezvousUrl, TheAgentsStoreMakesRankZeroAClient) {
  Environment environment = whole;
  environment["RANK"] = "0";
  EXPECT_TRUE(parse_init_method({}, environment)->serves);
  environment["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_FALSE(parse_init_method({}, environment)->serves);
}

TEST(RendezvousUrl, TcpNeedsHostPortRankAndWorldSize) {
  const auto method = parse_init_method({"tcp://10.0.0.1:0", 0, 2}, {});
  ASSERT_TRUE(method);
  EXPECT_EQ(method->host, "10.0.0.1");
  EXPECT_EQ(method->port, 0);
  EXPECT_TRUE(method->serves);
  EXPECT_EQ(parse_init_method({"tcp://[::1]:7", 0, 2}, {})->host, "::1");
  EXPECT_TRUE(has(error_of("tcp://host"), "port is missing"));
  EXPECT_TRUE(has(error_of("tcp://[::1]"), "port is missing"));
  EXPECT_TRUE(has(error_of("tcp://:80"), "host is missing"));
  EXPECT_TRUE(has(error_of("tcp://h:1", std::nullopt, 2, whole), "rank is missing"))
      << "the environment is for env:// only";
  EXPECT_TRUE(has(error_of("tcp://h:1", 0, std::nullopt, whole), "world size is missing"));
}

TEST(RendezvousUrl, PortsAreZeroTo65535) {
  EXPECT_EQ(error_of("tcp://h:65535"), "none");
  for (const std::string port : {"65536", "-1", "80x", "", "99999999999999999999", " 1"})
    EXPECT_TRUE(has(error_of("tcp://h:" + port), "0..65535")) << port;
  Environment environment = whole;
  environment["MASTER_PORT"] = "123456";
  EXPECT_TRUE(has(error_of("env://", 0, 2, environment), "MASTER_PORT"));
}

TEST(RendezvousUrl, FilesAreAbsoluteAndOnThisMachine) {
  EXPECT_EQ(parse_init_method({"file:///tmp/x", 0, 2}, {})->path, "/tmp/x");
  EXPECT_EQ(parse_init_method({"file://localhost/tmp/x", 0, 2}, {})->path, "/tmp/x");
  EXPECT_TRUE(has(error_of("file://tmp/x"), "file:///tmp/x")) << "the machine `tmp` is hardly what was meant";
  EXPECT_TRUE(has(error_of("file://"), "path is missing"));
  EXPECT_TRUE(has(error_of("file:///tmp/"), "folder"));
  EXPECT_TRUE(has(error_of("file:///tmp/x", std::nullopt), "rank is missing"));
}

TEST(RendezvousUrl, WrongRanksAndSchemesAreErrors) {
  EXPECT_TRUE(has(error_of("udp://h:1"), "no rendezvous handler for udp://"));
  EXPECT_TRUE(has(error_of("/tmp/x"), "not a URL"));
  EXPECT_TRUE(has(error_of(""), "not a URL"));
  EXPECT_TRUE(has(error_of("tcp://h:1", 2, 2), "0..1"));
  EXPECT_TRUE(has(error_of("tcp://h:1", -1, 2), "0..1"));
  EXPECT_TRUE(has(error_of("tcp://h:1", 0, 0), "at least 1"));
  EXPECT_TRUE(has(error_of("tcp://h:1?rank=1", 0, 2), "given twice"));
  EXPECT_TRUE(has(error_of("tcp://h:1?rank=one", std::nullopt, 2), "whole number"));
}

}  // namespace
}  // namespace pdsim
