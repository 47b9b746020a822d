// Every kind of note keeps every field through JSON and through the record ring.
#include "core/record/notes.h"

#include "core/record/record_ring.h"
#include "scenarios/records/record_json.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pdsim::scenarios {
namespace {

// Values that no field has by default.
void fill(bool& value) { value = !value; }
void fill(int& value) { value = 300; }
void fill(std::int64_t& value) { value = 1'000'000'007; }
void fill(std::uint64_t& value) { value = ~std::uint64_t{0}; }
void fill(Time& value) { value = {123'456'789}; }
void fill(std::string& value) { value = "a, b"; }
template <NamedEnum E>
void fill(E& value) {
  value = enum_rows<E>.back().value;
}
template <HasFields T>
void fill(T& of) {
  for_each_field<T>([&](const auto& field) { fill(of.*field.member); });
}
template <class T>
void fill(std::vector<T>& list) {
  list.resize(2);
  for (T& item : list) fill(item);
}

std::vector<Note> one_of_each_kind() {
  std::vector<Note> all;
  const auto add = [&]<class T>(T body) {
    for_each_field<T>([&](const auto& field) { fill(body.*field.member); });
    all.push_back({static_cast<std::int64_t>(all.size()), {7}, {"train", 2, 3, 4}, std::move(body)});
  };
  [&]<std::size_t... Is>(std::index_sequence<Is...>) { (add(std::variant_alternative_t<Is, NoteKinds>{}), ...); }
  (std::make_index_sequence<std::variant_size_v<NoteKinds>>());
  return all;
}

TEST(Notes, HaveKindsThatAreAllDifferent) {
  std::set<std::string_view> kinds;
  for (const Note& note : one_of_each_kind()) {
    kinds.insert(pdsim::kind_of(note.body));
    const auto none = note_of_kind(pdsim::kind_of(note.body));
    ASSERT_TRUE(none.has_value());
    EXPECT_EQ(none->index(), note.body.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<NoteKinds>);
  EXPECT_FALSE(note_of_kind("invented").has_value());
}

TEST(Notes, KeepEveryFieldInJson) {
  RankResult before;
  before.log.notes = one_of_each_kind();
  const Result<RankResult> after = rank_result_from_json(to_json(before));
  ASSERT_TRUE(after.ok()) << after.error().message;
  ASSERT_EQ(after->log.notes.size(), before.log.notes.size());
  for (std::size_t i = 0; i < before.log.notes.size(); ++i) {
    EXPECT_EQ(after->log.notes[i].body, before.log.notes[i].body) << pdsim::kind_of(before.log.notes[i].body);
    EXPECT_EQ(after->log.notes[i].site, before.log.notes[i].site);
  }
}

TEST(Notes, KeepEveryFieldInTheRecordRing) {
  const std::vector<Note> before = one_of_each_kind();
  const RingShape shape{1, static_cast<std::uint32_t>(before.size())};
  std::vector<std::uint64_t> words(RecordRing::bytes_for(shape) / 8);
  const std::span<std::byte> memory = std::as_writable_bytes(std::span(words));
  RecordRing ring(memory, shape, 0, 1);
  for (std::size_t i = 0; i < before.size(); ++i) ring.write(static_cast<std::int64_t>(i), before[i]);
  const Result<RingRecord> after = read_record_ring(memory);
  ASSERT_TRUE(after.ok()) << after.error().message;
  ASSERT_EQ(after->log.notes.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after->log.notes[i].body, before[i].body) << pdsim::kind_of(before[i].body);
}

TEST(Notes, LeaveOutOfARingWhatDoesNotFitWhole) {
  notes::BucketUnfilled unfilled{3, 4, 5, {}};
  for (int i = 0; i < 100; ++i) unfilled.missing.push_back("layer" + std::to_string(i));
  std::vector<std::uint64_t> words(RecordRing::bytes_for({1, 1}) / 8);
  const std::span<std::byte> memory = std::as_writable_bytes(std::span(words));
  RecordRing ring(memory, {1, 1}, 0, 1);
  ring.write(0, {0, {}, {}, unfilled});
  const Result<RingRecord> after = read_record_ring(memory);
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(after->log.notes.at(0).body, NoteBody(notes::BucketUnfilled{3, 4, 5, {}}));
}

}  // namespace
}  // namespace pdsim::scenarios
