#include "backends/os/files_below.h"

#include "backends/os/temporary_folder.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

TEST(FilesBelow, NoPathLeavesTheFolderAndDifferentPathsAreDifferentFiles) {
  const FilesBelow files("/world");
  EXPECT_EQ(files.place_of("run/store"), "/world/file-run%2Fstore");
  EXPECT_EQ(files.place_of("../store"), "/world/file-..%2Fstore");
  EXPECT_NE(files.place_of("a%2Fb"), files.place_of("a/b"));
}

TEST(FilesBelow, KnowsWhatEarlierLaunchesLeft) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  FilesBelow files(folder->path());
  ASSERT_TRUE(files.write_whole("run/store", "seven b").ok());
  ASSERT_TRUE(FilesBelow::note_sizes(folder->path()));
  ASSERT_TRUE(files.write_whole("run/store", "seven bytes and more").ok());
  EXPECT_EQ(files.size_before_launch("run/store"), 7);
  EXPECT_EQ(files.size_before_launch("other"), 0);
  EXPECT_EQ(*files.read_whole("run/store"), "seven bytes and more");
}

}  // namespace
}  // namespace pdsim
