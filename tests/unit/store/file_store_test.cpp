#include "core/store/file_store.h"

#include "backends/os/real_files.h"
#include "tests/unit/store/memory_log_file.h"
#include "tests/unit/store/store_world.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace pdsim::testing {
namespace {

using namespace pdsim::literals;
constexpr auto classic = FileRemoval::count_equals_workers;
constexpr auto modern = FileRemoval::count_reached_and_unreferenced;

std::unique_ptr<Store> open(MemoryFile& file, int workers, FileRemoval removal) {
  return FileStore::open(std::make_unique<MemoryLogFile>(file), {"run/store", workers, removal}).value();
}

TEST(FileStore, WritesTheRecordsOfC10d) {
  MemoryFile file;
  const auto store = open(file, 2, classic);
  ASSERT_TRUE(store->set("ab", "c"));
  ASSERT_TRUE(store->delete_key("ab"));
  const std::string expected(
      "\3\0\0\0/ab\1\0\0\0c"
      "\4\0\0\0-/ab\0\0\0\0",
      12 + 12);
  EXPECT_EQ(file.bytes, expected);
}

TEST(FileStore, TimeoutsAreCutToWholeSecondsBeforeTheyAreCompared) {
  for (const auto& [timeout, ends] :
       std::vector<std::pair<Time, Time>>{{12_s, 13_s}, {12'500_ms, 13_s}, {300_ms, 1_s}, {1_s, 2_s}}) {
    MemoryFile file;
    const auto store = open(file, 2, classic);
    ASSERT_TRUE(store->set("k", ""));
    EXPECT_FALSE(store->wait(std::vector<std::string>{"x"}, timeout));
    EXPECT_EQ(file.now, ends) << to_string(timeout);
  }
}

TEST(FileStore, ReadingWaitsForAFileThatDoesNotExist) {
  MemoryFile file;
  const auto store = open(file, 2, classic);
  store->set_timeout(5_s);
  const auto got = store->get("0/rank_0");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::store_timeout);
  EXPECT_EQ(fact(got.error().facts, "key"), "0/rank_0");
  EXPECT_NE(got.error().message.find("did not exist"), std::string::npos);
  EXPECT_EQ(file.now, 6_s);
}

// Lets another handle close right after this one has counted itself.
class InterruptedLogFile final : public MemoryLogFile {
 public:
  InterruptedLogFile(MemoryFile& file, std::function<void()> interrupt)
      : MemoryLogFile(file), interrupt_(std::move(interrupt)) {}
  Status append(std::int64_t offset, const std::function<std::string(std::string_view)>& with_tail) override {
    bool counts = false;
    const Status status = MemoryLogFile::append(offset, [&](std::string_view tail) {
      const std::string record = with_tail(tail);
      counts = record.find(cleanup_key) != std::string::npos;
      return record;
    });
    if (counts) interrupt_();
    return status;
  }

 private:
  std::function<void()> interrupt_;
};

TEST(FileStore, HandlesThatCloseAtOnceLeaveNoFileBehind) {
  for (const FileRemoval removal : {classic, modern}) {
    MemoryFile file;
    const auto b = open(file, 2, removal);
    auto log = std::make_unique<InterruptedLogFile>(file, [&b] { EXPECT_TRUE(b->close()); });
    const auto a = FileStore::open(std::move(log), {"run/store", 2, removal}).value();
    ASSERT_TRUE(a->set("k", "v"));
    ASSERT_TRUE(a->close());
    EXPECT_FALSE(file.bytes) << "the file outlived a clean end";
  }
}

TEST(FileStore, ClassicRemovesWhenTheLastWorkerCloses) {
  MemoryFile file;
  const auto a = open(file, 2, classic);
  const auto b = open(file, 2, classic);
  ASSERT_TRUE(a->set("k", "v"));
  ASSERT_TRUE(a->close());
  ASSERT_TRUE(a->close()) << "closing twice counts once";
  EXPECT_TRUE(file.bytes);
  ASSERT_TRUE(b->close());
  EXPECT_FALSE(file.bytes);
  EXPECT_FALSE(b->set("k", "v"));
}

TEST(FileStore, ANegativeNumberOfWorkersNeverRemoves) {
  MemoryFile file;
  for (const FileRemoval removal : {classic, modern}) {
    const auto store = open(file, -1, removal);
    ASSERT_TRUE(store->set("k", "v"));
    ASSERT_TRUE(store->close());
    EXPECT_TRUE(file.bytes);
  }
}

TEST(FileStore, ModernKeepsTheFileWhileAHandleIsOpen) {
  MemoryFile file;
  const auto a = open(file, 1, modern);
  const auto b = open(file, 1, modern);
  ASSERT_TRUE(a->close());
  EXPECT_TRUE(file.bytes) << "the count is reached, but b is open";
  ASSERT_TRUE(b->close());
  EXPECT_FALSE(file.bytes);
}

TEST(FileStore, AHandleDestroyedWithoutCloseCountsAsKilled) {
  MemoryFile file;
  {
    const auto a = open(file, 2, classic);
    const auto killed = open(file, 2, classic);
    ASSERT_TRUE(a->set("k", "v"));
    ASSERT_TRUE(a->close());
  }
  EXPECT_TRUE(file.bytes);
}

// What a run that died leaves for the next one.
TEST(ReusedFileStore, StaleKeysLookLikeNewOnes) {
  MemoryFile file;
  ASSERT_TRUE(open(file, 2, classic)->set("0/rank_1", "dead:1234"));
  const auto next = open(file, 2, classic);
  EXPECT_EQ(next->get("0/rank_1").value(), "dead:1234");
  ASSERT_TRUE(open(file, 2, classic)->set("0/rank_1", "alive:5678"));
  EXPECT_EQ(next->get("0/rank_1").value(), "alive:5678");
}

TEST(ReusedFileStore, TheBarrierCounterGoesOnFromWhereItWas) {
  MemoryFile file;
  for (int rank = 0; rank < 2; ++rank) ASSERT_TRUE(open(file, 2, classic)->add("store_based_barrier_key:1", 1));
  EXPECT_EQ(open(file, 2, classic)->add("store_based_barrier_key:1", 1).value(), 3);
  EXPECT_EQ(open(file, 2, classic)->add("store_based_barrier_key:1", 1).value(), 4);
}

TEST(ReusedFileStore, AStaleCleanupCountRemovesTheFileUnderTheSurvivors) {
  MemoryFile file;
  {
    const auto clean = open(file, 2, classic);
    ASSERT_TRUE(clean->set("k", "v"));
    ASSERT_TRUE(clean->close());  // and its peer is killed
  }
  const auto rank_0 = open(file, 2, classic);
  const auto rank_1 = open(file, 2, classic);
  ASSERT_TRUE(rank_1->set("0/rank_1", "address"));
  ASSERT_TRUE(rank_1->num_keys());
  ASSERT_TRUE(rank_0->close());
  EXPECT_FALSE(file.bytes) << "1 of the dead run and 1 of this one make 2";
  rank_1->set_timeout(30_s);
  const auto got = rank_1->get("0/rank_0");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::store_timeout);
  EXPECT_EQ(file.now, 31_s) << "the full timeout";
}

TEST(ReusedFileStore, AFileMadeAnewUnderAReaderIsNamedWhenItTimesOut) {
  MemoryFile file;
  const auto reader = open(file, 2, classic);
  ASSERT_TRUE(reader->set("long key of the first file", "value"));
  ASSERT_TRUE(reader->num_keys());
  file.bytes.reset();
  ASSERT_TRUE(open(file, 2, classic)->set("k", "v"));
  const Status waited = reader->wait(std::vector<std::string>{"k"}, 1_s);
  ASSERT_FALSE(waited);
  EXPECT_EQ(fact(waited.error().facts, "file"), "replaced");
}

TEST(BrokenStoreFile, EveryTruncationInsideARecordIsCorrupt) {
  MemoryFile whole;
  ASSERT_TRUE(open(whole, 2, classic)->set("key", "value"));
  const std::string record = *whole.bytes;
  for (std::size_t kept = 1; kept < record.size(); ++kept) {
    MemoryFile file{record + record.substr(0, kept), {}};
    const auto got = open(file, 2, classic)->get("key");
    ASSERT_FALSE(got) << kept;
    EXPECT_EQ(got.error().code, Code::store_corrupt) << kept;
    EXPECT_EQ(fact(got.error().facts, "offset"), std::to_string(record.size())) << kept;
    EXPECT_EQ(fact(got.error().facts, "path"), "run/store");
  }
}

TEST(BrokenStoreFile, AForeignFileIsCorruptAndIsNotWritten) {
  for (const std::string content : {"#!/bin/sh\necho hello\n", "\4\0\0\0name", "{}", "PK\3\4aaaaaaaaaaaaaaaaaaaa"}) {
    MemoryFile file{content, {}};
    const auto store = open(file, 2, classic);
    EXPECT_EQ(store->get("k").error().code, Code::store_corrupt);
    EXPECT_EQ(store->add("k", 1).error().code, Code::store_corrupt);
    EXPECT_EQ(store->compare_set("k", "", "v").error().code, Code::store_corrupt);
    EXPECT_EQ(file.bytes, content);
  }
}

TEST(RealFiles, AFileThatCannotBeWrittenIsAnError) {
  TemporaryFolder folder;
  const std::string path = folder / "no/such/folder";
  const auto store = FileStore::open(real_log(path), {path, 2, modern});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::io_error);
  EXPECT_EQ(fact(store.error().facts, "path"), path);
  EXPECT_NE(store.error().message.find("No such file or directory"), std::string::npos);
  EXPECT_EQ(FileStore::open(real_log(folder / "."), {folder / ".", 2, modern}).error().code, Code::io_error);
  EXPECT_FALSE(RealFiles().open_log(""));
}

TEST(RealFiles, LastOneOutRemovesTheFile) {
  TemporaryFolder folder;
  const std::string path = folder / "store";
  for (const FileRemoval removal : {classic, modern}) {
    auto a = FileStore::open(real_log(path), {path, 2, removal}).value();
    auto b = FileStore::open(real_log(path), {path, 2, removal}).value();
    ASSERT_TRUE(a->set("k", "v"));
    ASSERT_TRUE(a->close());
    EXPECT_TRUE(RealFiles().read_whole(path));
    ASSERT_TRUE(b->close());
    EXPECT_FALSE(RealFiles().read_whole(path));
  }
}

TEST(RealFiles, WholeFilesAreReplacedAtOnce) {
  TemporaryFolder folder;
  RealFiles files;
  ASSERT_TRUE(files.write_whole(folder / "f", "first, longer"));
  ASSERT_TRUE(files.write_whole(folder / "f", "second"));
  EXPECT_EQ(files.read_whole(folder / "f").value(), "second");
  EXPECT_EQ(files.write_whole(folder / "no/f", "x").error().code, Code::io_error);
}

}  // namespace
}  // namespace pdsim::testing
