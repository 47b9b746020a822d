// `pdsim gallery`, and the index that `pdsim scenario --out` writes.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

// Of every link in the page that is not a place in itself.
std::vector<std::string> links_of(const std::string& page) {
  std::vector<std::string> links;
  const std::regex href("href=\"([^#\"][^\"]*)\"");
  for (std::sregex_iterator link(page.begin(), page.end(), href), end; link != end; ++link) links.push_back((*link)[1]);
  return links;
}

TEST(Gallery, HasACardForEachFileAndALinkToTheReportOfEachVariant) {
  const Folder folder;
  const Ended run = run_pdsim({"gallery", "unused_params", "read_before_wait", "--out", "g"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_EQ(run.problems, "");
  EXPECT_TRUE(run.output.starts_with("g/index.html: 2 scenarios, ")) << run.output;
  const std::string page = text_of(folder.path() / "g" / "index.html");
  EXPECT_NE(page.find("<article id=\"unused_params\""), std::string::npos);
  EXPECT_NE(page.find("<article id=\"read_before_wait\""), std::string::npos);
  EXPECT_NE(page.find("<svg class=\"timeline\""), std::string::npos) << "a picture of what is broken";
  const auto links = links_of(page);
  EXPECT_GE(links.size(), 7U);
  for (const std::string& link : links) EXPECT_TRUE(fs::exists(folder.path() / "g" / link)) << link;
}

TEST(Gallery, LoadsNothingFromElsewhere) {
  const Folder folder;
  run_pdsim({"gallery", "unused_params", "--out", "g"}, folder.path());
  const std::string page = text_of(folder.path() / "g" / "index.html");
  for (const char* outside : {"<link", "<img", "src=", "@import", "url(http", "fetch("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

TEST(Gallery, RefusesWhatItCannotRunOrWrite) {
  const Folder folder;
  EXPECT_EQ(run_pdsim({"gallery", "--out", ""}, folder.path()).status, 2);
  EXPECT_EQ(run_pdsim({"gallery"}, folder.path()).status, 2);
  const Ended unknown = run_pdsim({"gallery", "unused_parms", "--out", "g"}, folder.path());
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.problems.find("did you mean `unused_params`?"), std::string::npos) << unknown.problems;
  EXPECT_FALSE(fs::exists(folder.path() / "g"));
  folder.write("file", "");
  EXPECT_EQ(run_pdsim({"gallery", "unused_params", "--out", "file"}, folder.path()).status, 2);
}

TEST(ScenarioOut, HasAnIndexOverTheVariants) {
  const Folder folder;
  const Ended run = run_pdsim({"scenario", "unused_params", "--out", "o"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  const auto links = links_of(text_of(folder.path() / "o" / "index.html"));
  EXPECT_EQ(links.size(), 6U) << "one of each of the five variants, and one at the picture";
  for (const std::string& link : links) EXPECT_TRUE(fs::exists(folder.path() / "o" / link)) << link;
}

}  // namespace
}  // namespace pdsim::cli_tests
