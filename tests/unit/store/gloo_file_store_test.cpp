// Gloo's own FileStore: what it can do, what it refuses, and what a folder that was used before does to it.
#include "core/store/gloo_file_store.h"

#include "backends/os/real_files.h"
#include "core/store/prefix_store.h"
#include "tests/unit/store/store_world.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace pdsim::testing {
namespace {

using namespace pdsim::literals;
using Keys = std::vector<std::string>;

GlooFileStore open(const std::string& folder) { return {std::make_unique<RealFiles>(), folder}; }

// A folder that is there, as Gloo's must be.
class GlooFileStores : public ::testing::Test {
 protected:
  GlooFileStores() { std::filesystem::create_directory(path); }
  TemporaryFolder folder;
  const std::string path = folder / "store";
};

TEST_F(GlooFileStores, OneHandleReadsWhatAnotherSet) {
  GlooFileStore a = open(path), b = open(path);
  const std::string bytes("\0\n/x\xff", 5);
  ASSERT_TRUE(a.set("rank/0", bytes));
  EXPECT_EQ(b.get("rank/0").value(), bytes);
  EXPECT_TRUE(b.check(Keys{"rank/0"}).value());
  EXPECT_FALSE(b.check(Keys{"rank/0", "rank/1"}).value());
  PrefixStore nested("default_pg", a);
  ASSERT_TRUE(nested.set("rank/0", "another key"));
}

TEST_F(GlooFileStores, AKeyIsWrittenOnceWhoeverWroteIt) {
  ASSERT_TRUE(open(path).set("k", "of an earlier run"));
  GlooFileStore next = open(path);
  const Status again = next.set("k", "of this run");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::io_error);
  EXPECT_EQ(fact(again.error().facts, "key"), "k");
  EXPECT_NE(again.error().message.find("File already exists: " + path + "/"), std::string::npos)
      << again.error().message;
  EXPECT_EQ(next.get("k").value(), "of an earlier run");
}

TEST_F(GlooFileStores, ClosingRemovesNothing) {
  GlooFileStore store = open(path);
  ASSERT_TRUE(store.set("k", "v"));
  ASSERT_TRUE(store.close());
  EXPECT_TRUE(open(path).check(Keys{"k"}).value());
}

TEST_F(GlooFileStores, AnEmptyFileIsNoValue) {
  GlooFileStore store = open(path);
  std::ofstream(GlooFileStore::place_of(path, "k")).flush();
  EXPECT_EQ(store.get("k").error().code, Code::store_corrupt);
}

TEST_F(GlooFileStores, ForeignFilesInTheFolderAreLeftAlone) {
  std::ofstream(path + "/notes.txt") << "hello";
  GlooFileStore store = open(path);
  ASSERT_TRUE(store.set("notes.txt", "v"));
  EXPECT_EQ(store.get("notes.txt").value(), "v");
  EXPECT_EQ(RealFiles().read_whole(path + "/notes.txt").value(), "hello");
}

TEST_F(GlooFileStores, AFolderThatIsMissingOrAFileIsAnError) {
  std::ofstream(folder / "file") << "x";
  for (const std::string& place : {folder / "none", folder / "file"}) {
    const Status status = open(place).set("k", "v");
    ASSERT_FALSE(status) << place;
    EXPECT_EQ(status.error().code, Code::io_error);
  }
}

TEST_F(GlooFileStores, WhatGloosLacksIsUnsupported) {
  GlooFileStore store = open(path);
  EXPECT_EQ(store.add("k", 1).error().code, Code::unsupported);
  EXPECT_EQ(store.compare_set("k", "", "v").error().code, Code::unsupported);
  EXPECT_EQ(store.delete_key("k").error().code, Code::unsupported);
  EXPECT_EQ(store.num_keys().error().code, Code::unsupported);
  EXPECT_EQ(store.append("k", "v").error().code, Code::unsupported);
}

TEST_F(GlooFileStores, ABlockedGetWakesWhenAnotherHandleSets) {
  std::thread writer([&] { EXPECT_TRUE(open(path).set("late", "v")); });
  EXPECT_EQ(open(path).get("late").value(), "v");
  writer.join();
}

TEST_F(GlooFileStores, AWaitEndsAndNamesWhatIsMissing) {
  GlooFileStore store = open(path);
  ASSERT_TRUE(store.set("here", "v"));
  const Status waited = store.wait(Keys{"here", "gone"}, 1_ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Code::store_timeout);
  EXPECT_EQ(fact(waited.error().facts, "key"), "gone");
}

TEST(EndOfPolling, IsTheWholeSecondAfterTheTimeout) {
  EXPECT_EQ(end_of_polling(5_s, 300_ms), 6_s);
  EXPECT_EQ(end_of_polling(0_s, 1_s), 2_s);
  EXPECT_EQ(end_of_polling(0_s, 1'500_ms), 2_s);
  EXPECT_EQ(end_of_polling(0_s, 0_s), Time::max());
  EXPECT_EQ(end_of_polling(5_s, Time::max()), Time::max());
}

}  // namespace
}  // namespace pdsim::testing
