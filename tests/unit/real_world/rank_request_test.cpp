#include "scenarios/worlds/rank_request.h"

#include "scenarios/language/loader.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

using namespace literals;

constexpr const char* two_variants =
    "pdsim: 1\nname: two\nsummary: two\nseed: 3\nworld: {ranks: 2}\nprogram:\n  - barrier\nvariants:\n  a: {expect: "
    "{outcome: ok}}\n"
    "  b: {expect: {outcome: ok}}\n";

template <class Request>
Request back(const Request& request) {
  const Result<RankRequest> read = rank_request_of(request_text(request));
  EXPECT_TRUE(read.ok()) << read.error().message;
  return std::get<Request>(*read);
}

TEST(RankRequests, CarryTheScenarioItselfWithTheSeedThatItHas) {
  LoadedFile file = load_text("no file\nof this/two.yaml", two_variants);
  ASSERT_EQ(file.errors, 0) << render(file, file.diagnostics.front());
  file.variants.at(1).seed = 0xFFFF'FFFF'FFFF'FFFFU;
  const RankRequest request = request_of(file.variants.at(1));
  EXPECT_EQ(request_text(request).find('\0'), std::string::npos);
  EXPECT_EQ(request_text(request).find('\n'), std::string::npos);
  const auto requested = program_of(*rank_request_of(request_text(request)), 2);
  ASSERT_TRUE(requested.ok()) << requested.error().message;
  EXPECT_EQ((*requested)->scenario.variant, "b");
  EXPECT_EQ((*requested)->scenario.file, "no file\nof this/two.yaml");
  EXPECT_EQ((*requested)->scenario.seed, 0xFFFF'FFFF'FFFF'FFFFU);
  EXPECT_TRUE((*requested)->program != nullptr);
}

TEST(RankRequests, CarryEveryMemberOfABenchmark) {
  TimingRequest sent;
  sent.kind = CollectiveKind::reduce_scatter;
  sent.algorithm = "ring";
  sent.dtype = DType::bf16;
  sent.op = ReduceOp::premul_sum;
  sent.root = 3;
  sent.counts = {0, 7, std::int64_t{1} << 40};
  sent.in_place_too = sent.moves_data = false;
  sent.iterations = 11;
  sent.warmup = 12;
  sent.checks = 16;
  sent.align = 13_s;
  sent.timeout = 14_ms;
  sent.raw_forms = 2;
  sent.blocks = 15;
  const TimingRequest got = back(sent);
  EXPECT_EQ(got.kind, sent.kind);
  EXPECT_EQ(got.algorithm, sent.algorithm);
  EXPECT_EQ(got.dtype, sent.dtype);
  EXPECT_EQ(got.op, sent.op);
  EXPECT_EQ(got.root, sent.root);
  EXPECT_EQ(got.counts, sent.counts);
  EXPECT_FALSE(got.in_place_too || got.moves_data);
  EXPECT_EQ(got.iterations, sent.iterations);
  EXPECT_EQ(got.warmup, sent.warmup);
  EXPECT_EQ(got.checks, sent.checks);
  EXPECT_EQ(got.align, sent.align);
  EXPECT_EQ(got.timeout, sent.timeout);
  EXPECT_EQ(got.raw_forms, sent.raw_forms);
  EXPECT_EQ(got.blocks, sent.blocks);
}

TEST(RankRequests, CarryEveryMemberOfAValidationAndOfPairs) {
  ValidationRequest sent;
  sent.kind = CollectiveKind::scan;
  sent.algorithm = "native";
  sent.dtypes = {DType::i8, DType::f64};
  sent.ops = {ReduceOp::band};
  sent.max_bytes = 99;
  sent.timeout = 5_s;
  const ValidationRequest got = back(sent);
  EXPECT_EQ(got.kind, sent.kind);
  EXPECT_EQ(got.algorithm, sent.algorithm);
  EXPECT_EQ(got.dtypes, sent.dtypes);
  EXPECT_EQ(got.ops, sent.ops);
  EXPECT_EQ(got.max_bytes, sent.max_bytes);
  EXPECT_EQ(got.timeout, sent.timeout);
  const PairRequest pairs = back(PairRequest{{1, 2}, 3, 4, 6_s, false, 5_s});
  EXPECT_EQ(pairs.bytes, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(pairs.iterations, 3);
  EXPECT_EQ(pairs.warmup, 4);
  EXPECT_EQ(pairs.align, 6_s);
  EXPECT_FALSE(pairs.moves_data);
  EXPECT_EQ(pairs.timeout, 5_s);
}

TEST(RankRequests, RefuseWhatTheyDoNotUnderstand) {
  EXPECT_EQ(rank_request_of("").error().code, Code::input_invalid);
  EXPECT_EQ(rank_request_of("[]").error().code, Code::input_invalid);
  EXPECT_NE(rank_request_of(R"({"kind": "tea"})").error().message.find("unknown kind `tea`"), std::string::npos);
  EXPECT_NE(rank_request_of(R"({"kind": "scenario"})").error().message.find("`seed` is missing"), std::string::npos);
  EXPECT_NE(rank_request_of(R"({"kind":"pairs","bytes":[1,"2"],"iterations":1,"warmup":1,"align":1,"moves_data":true,"timeout":1})")
                .error()
                .message.find("`bytes` is missing or has another type"),
            std::string::npos);
  EXPECT_NE(program_of(ScenarioRequest{"f", "program: [", "", 0}, 2).error().message.find("errors"), std::string::npos);
  EXPECT_NE(program_of(ScenarioRequest{"f", two_variants, "c", 0}, 2).error().message.find("no variant `c`"),
            std::string::npos);
}

}  // namespace
}  // namespace pdsim::scenarios
