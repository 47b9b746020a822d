// Flight records in files: what one process writes another reads, and what an agent packs comes out as it went in.

#include "backends/process/record_file.h"

#include "backends/launch/launched_records.h"
#include "backends/launch/packed_ring.h"
#include "backends/os/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace pdsim {
namespace {

Call call_named(std::string name, std::int64_t id) {
  Call call;
  call.id = id;
  call.name = std::move(name);
  call.layer = Layer::collective;
  call.group = "world";
  call.seq = id;
  return call;
}

class RecordFiles : public ::testing::Test {
 protected:
  RecordFiles() : folder_(TemporaryFolder::make()) { setenv(record_variable, folder_->path().c_str(), 1); }
  ~RecordFiles() override { unsetenv(record_variable); }
  std::string path(Rank rank) const { return folder_->path() + "/" + record_file_name(rank); }
  Result<TemporaryFolder> folder_;
};

TEST_F(RecordFiles, LieInTheFolderThatTheEnvironmentNames) {
  {
    auto file = RecordFile::open(3, 2);
    ASSERT_TRUE(file.ok() && *file);
    (*file)->ring().write(call_named("all_reduce", 0));
  }
  const Result<RingRecord> read = read_record_file(path(3));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->log.rank, 3);
  EXPECT_EQ(read->log.launch, 2);
  ASSERT_EQ(read->log.calls.size(), 1U);
  EXPECT_EQ(read->log.calls[0].name, "all_reduce");
}

TEST_F(RecordFiles, AreTheFileItselfWhereThatIsNamed) {
  setenv(record_variable, (folder_->path() + "/mine").c_str(), 1);
  EXPECT_EQ(record_path(5), folder_->path() + "/mine");
  ASSERT_TRUE(RecordFile::open(5).ok());
  EXPECT_TRUE(read_record_file(folder_->path() + "/mine").ok());
}

TEST_F(RecordFiles, AreBegunAnewByTheNextProcess) {
  {
    auto file = RecordFile::open(0);
    for (int i = 0; i < 5; ++i) (*file)->ring().write(call_named("broadcast", i));
  }
  auto again = RecordFile::open(0);
  EXPECT_TRUE(read_record_file(path(0))->log.calls.empty());
}

TEST_F(RecordFiles, AreNoneWhereNothingIsNamedAndAnErrorWhereTheyCannotBe) {
  setenv(record_variable, "", 1);
  const auto none = RecordFile::open(0);
  EXPECT_TRUE(none.ok() && !*none);
  setenv(record_variable, (folder_->path() + "/no/such/folder").c_str(), 1);
  const auto wrong = RecordFile::open(0);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, Code::io_error);
  EXPECT_NE(wrong.error().message.find("/no/such/folder: No such file or directory"), std::string::npos);
}

TEST_F(RecordFiles, OfRubbishAreRefused) {
  std::ofstream(path(0)) << std::string(10'000, 'x');
  std::ofstream(path(1)) << "";
  EXPECT_EQ(read_record_file(path(0)).error().code, Code::input_invalid);
  EXPECT_FALSE(read_record_file(path(1)).ok());
  EXPECT_FALSE(read_record_file(folder_->path()).ok());
}

TEST(PackedRing, ComesOutAsItWentInAndLeavesOutWhatIsEmpty) {
  auto memory = SharedMemory::make(RecordRing::bytes_for({}));
  ASSERT_TRUE(memory.ok());
  auto writable = SharedMemory::open(Descriptor(dup(memory->fd())));
  ASSERT_TRUE(writable.ok());
  RecordRing ring(writable->bytes(), RecordRing::shape_of(writable->bytes().size()), 1, 1);
  for (int i = 0; i < 30; ++i) ring.write(call_named("all_gather", i));
  const std::string text = packed_ring(writable->bytes());
  EXPECT_LT(text.size(), 20'000U);
  const Result<RingRecord> back = ring_of_packed(text);
  ASSERT_TRUE(back.ok());
  ASSERT_EQ(back->log.calls.size(), 30U);
  EXPECT_EQ(back->log.calls.back().seq, 29);
  for (std::size_t length = 0; length < text.size(); length += 97) (void)ring_of_packed(text.substr(0, length));
  EXPECT_FALSE(ring_of_packed("").ok());
  EXPECT_FALSE(ring_of_packed(std::string(64, '\xff')).ok());
}

TEST(LastCall, IsTheNewestOneThatIsNoStepOfTheProgram) {
  RankLog log;
  EXPECT_EQ(last_call_text(log), "");
  log.calls = {call_named("all_reduce", 3), Call{}};
  log.calls[0].purpose = {PurposeKind::bucket, 0};
  EXPECT_EQ(last_call_text(log), "its last call was all_reduce (bucket 0) #3 of group world, which was not done");
  log.calls[0].state = CallState::completed;
  EXPECT_EQ(last_call_text(log), "its last call was all_reduce (bucket 0) #3 of group world, which was done");
  log.calls[0].state = CallState::timed_out;
  EXPECT_EQ(last_call_text(log), "its last call was all_reduce (bucket 0) #3 of group world, which failed");
}

}  // namespace
}  // namespace pdsim
