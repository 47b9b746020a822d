// The rows of the table of collectives, and what follows from them, beside what each collective is known to do.

#include "core/collectives/collective_shape.h"

#include <gtest/gtest.h>

#include <vector>

namespace pdsim {
namespace {

using K = CollectiveKind;

struct Known {
  K kind;
  std::vector<std::int64_t> inputs, outputs;  // elements of ranks 0, 1 and 2; count 4, root 1
  InPlace in_place;
  std::int64_t least;  // elements that the busiest rank sends
  std::string_view counted;
};

const std::vector<Known>& known() {
  static const std::vector<Known> all{
      {K::broadcast, {0, 4, 0}, {4, 4, 4}, InPlace::same_buffer, 4, "from the root"},
      {K::all_reduce, {4, 4, 4}, {4, 4, 4}, InPlace::same_buffer, 6, "of each rank"},
      {K::reduce, {4, 4, 4}, {0, 4, 0}, InPlace::same_buffer, 4, "of each rank"},
      {K::all_gather, {4, 4, 4}, {12, 12, 12}, InPlace::input_in_output, 8, "of each rank"},
      {K::gather, {4, 4, 4}, {0, 12, 0}, InPlace::input_in_output, 4, "of each rank"},
      {K::scatter, {0, 12, 0}, {4, 4, 4}, InPlace::output_in_input, 8, "for each rank"},
      {K::reduce_scatter, {12, 12, 12}, {4, 4, 4}, InPlace::output_in_input, 8, "for each rank"},
      {K::all_to_all, {12, 12, 12}, {12, 12, 12}, InPlace::none, 8, "from each rank to each"},
      {K::barrier, {0, 0, 0}, {0, 0, 0}, InPlace::none, 0, "of each rank"},
      {K::send, {4, 4, 4}, {0, 0, 0}, InPlace::none, 4, "of each rank"},
      {K::recv, {0, 0, 0}, {4, 4, 4}, InPlace::none, 0, "of each rank"},
      {K::all_gather_v, {4, 4, 4}, {12, 12, 12}, InPlace::input_in_output, 8, "of each rank"},
      {K::reduce_scatter_v, {12, 12, 12}, {4, 4, 4}, InPlace::output_in_input, 8, "for each rank"},
      {K::all_to_all_v, {12, 12, 12}, {12, 12, 12}, InPlace::none, 8, "from each rank to each"},
      {K::scan, {4, 4, 4}, {4, 4, 4}, InPlace::same_buffer, 4, "of each rank"},
      {K::exscan, {4, 4, 4}, {0, 4, 4}, InPlace::same_buffer, 4, "of each rank"},
      {K::monitored_barrier, {0, 0, 0}, {0, 0, 0}, InPlace::none, 0, "of each rank"},
  };
  return all;
}

TEST(CollectiveShape, GivesTheBuffersOfEveryKind) {
  ASSERT_EQ(known().size(), collective_table.size());
  for (const Known& k : known()) {
    const CollectiveLayout layout{k.kind, 3, 4, 1, {}};
    Collective call;
    call.kind = k.kind;
    call.count = 4;
    call.root = 1;
    for (Rank r = 0; r < 3; ++r) {
      const auto i = static_cast<std::size_t>(r);
      EXPECT_EQ(layout.input_elements(r), k.inputs[i]) << name_of(k.kind) << " rank " << r;
      EXPECT_EQ(layout.output_elements(r), k.outputs[i]) << name_of(k.kind) << " rank " << r;
      EXPECT_EQ(input_elements(call, r, 3), k.inputs[i]) << name_of(k.kind) << " rank " << r;
      EXPECT_EQ(output_elements(call, r, 3), k.outputs[i]) << name_of(k.kind) << " rank " << r;
    }
    EXPECT_EQ(in_place_form(k.kind), k.in_place) << name_of(k.kind);
    EXPECT_EQ(least_elements_sent(k.kind, 3, 4), k.least) << name_of(k.kind);
    EXPECT_EQ(least_elements_sent(k.kind, 1, 4), 0) << name_of(k.kind);
    EXPECT_EQ(counted_what(k.kind), k.counted) << name_of(k.kind);
  }
}

Origin origin(K kind, Rank rank, std::int64_t element) {
  return CollectiveLayout{kind, 3, 4, 1, {}}.origin(rank, element);
}

TEST(CollectiveShape, SaysWhoseInputsAnElementOfAnOutputIsMadeOf) {
  EXPECT_EQ(origin(K::broadcast, 2, 3), (Origin{1, 1, 3, 1}));
  EXPECT_EQ(origin(K::recv, 2, 0), (Origin{1, 1, 0, 4}));
  EXPECT_EQ(origin(K::scatter, 2, 1), (Origin{1, 1, 9, 3}));
  EXPECT_EQ(origin(K::gather, 1, 6), (Origin{1, 1, 2, 2}));
  EXPECT_EQ(origin(K::all_gather, 0, 11), (Origin{2, 2, 3, 1}));
  EXPECT_EQ(origin(K::all_to_all, 1, 8), (Origin{2, 2, 4, 4}));
  EXPECT_EQ(origin(K::all_reduce, 1, 0), (Origin{0, 2, 0, 4}));
  EXPECT_EQ(origin(K::reduce_scatter, 2, 1), (Origin{0, 2, 9, 3}));
  EXPECT_EQ(origin(K::scan, 1, 2), (Origin{0, 1, 2, 2}));
  EXPECT_EQ(origin(K::exscan, 2, 2), (Origin{0, 1, 2, 2}));
}

TEST(CollectiveShape, FollowsPartsOfDifferentSizes) {
  const CollectiveLayout gathered{K::all_gather_v, 3, 0, 0, {0, 2, 2, 5}};
  EXPECT_EQ(gathered.input_elements(1), 0);
  EXPECT_EQ(gathered.output_elements(1), 5);
  EXPECT_EQ(gathered.origin(0, 2), (Origin{2, 2, 0, 3}));
  const CollectiveLayout reduced{K::reduce_scatter_v, 3, 0, 0, {0, 2, 2, 5}};
  EXPECT_EQ(reduced.input_elements(0), 5);
  EXPECT_EQ(reduced.output_elements(2), 3);
  EXPECT_EQ(reduced.origin(2, 1), (Origin{0, 2, 3, 2}));
  const CollectiveLayout exchanged{K::all_to_all_v, 3, 0, 0, {0, 2, 2, 5}};
  EXPECT_EQ(exchanged.input_elements(0), 5);
  EXPECT_EQ(exchanged.output_elements(2), 9);
  EXPECT_EQ(exchanged.origin(2, 4), (Origin{1, 1, 3, 2}));
}

TEST(CollectiveShape, KnowsWhatTakesARootAndWhatReduces) {
  std::vector<std::string_view> rooted, reduces, by_output;
  for (const CollectiveRow& r : collective_table) {
    if (r.rooted) rooted.push_back(r.name);
    if (r.reduces) reduces.push_back(r.name);
    if (is_counted_by_output(r.kind)) by_output.push_back(r.name);
  }
  EXPECT_EQ(rooted, (std::vector<std::string_view>{"broadcast", "reduce", "gather", "scatter"}));
  EXPECT_EQ(reduces, (std::vector<std::string_view>{"all_reduce", "reduce", "reduce_scatter", "reduce_scatter_v",
                                                    "scan", "exscan"}));
  EXPECT_EQ(by_output, (std::vector<std::string_view>{"scatter", "reduce_scatter", "recv", "reduce_scatter_v"}));
}

TEST(CollectiveShape, KnowsTheNamesOfPyTorch) {
  EXPECT_EQ(collective_of_torch("all_gather_into_tensor")->kind, K::all_gather);
  EXPECT_EQ(collective_of_torch("all_reduce")->kind, K::all_reduce);
  EXPECT_EQ(collective_of_torch(""), nullptr);
  EXPECT_EQ(collective_named("allreduce"), nullptr);
}

}  // namespace
}  // namespace pdsim
