#include "core/measure/payload.h"

#include "core/collectives/element.h"
#include "core/collectives/reduce.h"
#include "core/collectives/reference.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pdsim {
namespace {

struct Trial {
  std::vector<Payload> ranks;
  RankBuffers outputs;  // of the sequential reference
};

Trial trial_of(CollectiveKind kind, DType dtype, ReduceOp op, std::int64_t count, int size, Values values) {
  Trial trial;
  RankBuffers inputs;
  Collective call;
  call.kind = kind;
  call.dtype = dtype;
  call.op = op;
  call.count = count;
  call.root = size - 1;
  call.premul = 0.5;
  for (Rank rank = 0; rank < size; ++rank) {
    trial.ranks.push_back({kind, dtype, count, op, call.root, rank, size, call.premul, values, {}});
    inputs.push_back(trial.ranks.back().input());
  }
  trial.outputs = reference_result(call, inputs);
  return trial;
}

template <class Visit>
void for_each_call(Visit visit) {
  for (const CollectiveRow& kind : collective_table) {
    if (kind.point_to_point || kind.name.ends_with("_v") || kind.name.ends_with("barrier")) continue;
    for (const DTypeRow& type : dtypes)
      for (std::size_t o = 0; o < (kind.reduces ? reduce_op_names.size() : 1); ++o) {
        const auto op = static_cast<ReduceOp>(o);
        const bool prefix = kind.kind == CollectiveKind::scan || kind.kind == CollectiveKind::exscan;
        if (kind.reduces && (!supports(op, type.dtype) || (prefix && op == ReduceOp::avg))) continue;
        visit(kind.kind, type.dtype, op);
      }
  }
}

// Two ways to the same result: formulas of rank and index, and a fold over all inputs.
TEST(Payload, ExpectsWhatTheSequentialReferenceGives) {
  int calls = 0;
  for (const int size : {1, 2, 3, 5, 16})
    for (const std::int64_t count : {1, 7})
      for (const Values values : {Values::exact, Values::rounding})
        for_each_call([&](CollectiveKind kind, DType dtype, ReduceOp op) {
          if (values == Values::rounding && !row(dtype).floating) return;
          const Trial trial = trial_of(kind, dtype, op, count, size, values);
          for (const Payload& p : trial.ranks) {
            const auto checked = p.compare(trial.outputs[static_cast<std::size_t>(p.rank)]);
            EXPECT_EQ(checked.wrong, 0) << name_of(kind) << " " << name_of(dtype) << " " << name_of(op) << " rank "
                                        << p.rank << " of " << size << ": must be "
                                        << (checked.first ? checked.first->expected : 0.0) << ", is "
                                        << (checked.first ? checked.first->got : 0.0);
            ++calls;
          }
        });
  EXPECT_GT(calls, 5000);
}

TEST(Payload, FindsEveryElementThatIsAnother) {
  for_each_call([&](CollectiveKind kind, DType dtype, ReduceOp op) {
    const Trial trial = trial_of(kind, dtype, op, 5, 3, Values::exact);
    for (const Payload& p : trial.ranks) {
      std::vector<std::byte> output = trial.outputs[static_cast<std::size_t>(p.rank)];
      const std::size_t width = size_of(dtype);
      for (std::size_t i = 0; i < output.size() / width; ++i) {
        std::byte* at = output.data() + i * width;
        const std::byte kept = at[width - 1];
        at[width - 1] ^= dtype == DType::boolean ? std::byte{1} : std::byte{0x44};
        const PayloadCheck checked = p.compare(output);
        at[width - 1] = kept;
        ASSERT_EQ(checked.wrong, 1) << name_of(kind) << " " << name_of(dtype) << " " << name_of(op);
        EXPECT_EQ(checked.first->element, static_cast<std::int64_t>(i));
        EXPECT_NE(checked.first->expected_bits, checked.first->got_bits);
      }
    }
  });
}

TEST(Payload, OfRoundingSumsAMissingRankIsOutsideTheBound) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    Trial trial = trial_of(CollectiveKind::all_reduce, dtype, ReduceOp::sum, 64, 4, Values::rounding);
    const std::vector<std::byte> absent = trial.ranks[2].input();
    std::vector<std::byte>& output = trial.outputs[0];
    for (std::size_t i = 0; i < 64; ++i) {
      std::byte* at = output.data() + i * size_of(dtype);
      write_element(at, dtype, read_element(at, dtype) - read_element(absent.data() + i * size_of(dtype), dtype));
    }
    // bf16's bound for five roundings is wide enough for the smallest of the contributions.
    EXPECT_GE(trial.ranks[0].compare(output).wrong, dtype == DType::bf16 ? 60 : 64) << name_of(dtype);
  }
}

TEST(Payload, SaysWhichElementIsWrongOnWhichRank) {
  const Trial trial = trial_of(CollectiveKind::all_gather, DType::f32, ReduceOp::sum, 2, 3, Values::exact);
  std::vector<std::byte> output = trial.outputs[1];
  write_element(output.data() + 3 * 4, DType::f32, -1.0);
  const Status checked = trial.ranks[1].check(output);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, Code::wrong_data);
  EXPECT_NE(checked.error().message.find("element 3 of 6 on rank 1 is -1, and must be 32"), std::string::npos)
      << checked.error().message;
}

TEST(Element, UlpsCountRepresentableNumbersAcrossZero) {
  EXPECT_EQ(ulps_between(1.0, 1.0 + 0x1p-23, DType::f32), 1);
  EXPECT_EQ(ulps_between(1.0, 1.0 - 0x1p-24, DType::f32), 1);
  EXPECT_EQ(ulps_between(0x1p-24, -0x1p-24, DType::f16), 2);
  EXPECT_EQ(ulps_between(0.0, -0.0, DType::f64), 0);
  EXPECT_EQ(ulps_between(NAN, NAN, DType::f32), 0);
  EXPECT_GT(ulps_between(NAN, 1.0, DType::f32), 1'000'000);
}

TEST(Element, EveryDtypeHoldsTheNumberThatWasWritten) {
  for (const DTypeRow& type : dtypes) {
    std::byte at[8]{};
    write_element(at, type.dtype, 1.0);
    EXPECT_EQ(read_element(at, type.dtype), 1.0) << type.name;
    EXPECT_NE(bits_of_element(at, type.dtype), 0U) << type.name;
  }
}

}  // namespace
}  // namespace pdsim
