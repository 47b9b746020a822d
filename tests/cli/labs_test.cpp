// The labs: every solution of tests/labs passes, every wrong one fails with a counterexample, and a student's folder keeps what is done.
#include "tests/cli/support/program.h"
#include "tests/cli/support/running.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::string number_of(const fs::path& lab) { return std::to_string(std::stoi(lab.filename().string())); }

// Begins the lab anew and puts the files over the starting ones.
Ended check_with(const fs::path& files, const fs::path& lab, const Folder& at) {
  const Ended begun = run_pdsim({"lab", number_of(lab), "--reset"}, at.path());
  EXPECT_EQ(begun.status, 0) << begun.problems;
  for (const auto& entry : fs::directory_iterator(files))
    fs::copy_file(entry.path(), at.path() / "pdsim-labs" / lab.filename() / entry.path().filename(),
                  fs::copy_options::overwrite_existing);
  return run_pdsim({"lab", number_of(lab), "--check"}, at.path());
}

TEST(Labs, HaveASolutionThatPassesAndThreeWrongOnesThatFail) {
  const auto labs = folders_in(source_tree / "scenarios/labs");
  EXPECT_EQ(labs.size(), 10U);
  for (const fs::path& lab : labs) {
    const Folder folder;
    const auto cases = folders_in(source_tree / "tests/labs" / lab.filename());
    ASSERT_EQ(cases.size(), 4U) << lab;
    for (const fs::path& one : cases) {
      const Ended checked = check_with(one, lab, folder);
      const bool solution = one.filename() == "solution";
      EXPECT_EQ(checked.status, solution ? 0 : 1) << one << "\n" << checked.output << checked.problems;
      const std::string shown = solution ? run_pdsim({"lab"}, folder.path()).output : checked.output;
      EXPECT_NE(shown.find(solution ? "done" : "replay   "), std::string::npos) << one << "\n" << shown;
    }
  }
}

TEST(Labs, OfTwoGroupsIsOnParWhereBothWorkAtOnce) {
  const fs::path lab = source_tree / "scenarios/labs/03_two_groups";
  const Folder folder;
  fs::create_directory(folder.path() / "answer");
  std::string job = text_of(source_tree / "tests/labs/03_two_groups/solution/job.yaml");
  folder.write("answer/job.yaml", job);
  EXPECT_EQ(check_with(folder.path() / "answer", lab, folder).output.find("on par"), std::string::npos);
  const std::string in_order = "  - all_reduce: {count: 64, group: row}\n  - all_reduce: {count: 64, group: column}\n";
  job.replace(job.find(in_order), in_order.size(),
              "  - all_reduce: {count: 64, group: row, async: true}\n    label: r\n"
              "  - all_reduce: {count: 64, group: column, async: true}\n    label: c\n"
              "  - wait: {for: r}\n  - wait: {for: c}\n");
  folder.write("answer/job.yaml", job);
  const Ended at_once = check_with(folder.path() / "answer", lab, folder);
  EXPECT_NE(at_once.output.find("better than par"), std::string::npos) << at_once.output;
}

TEST(Labs, DoNotPassAsTheyBegin) {
  for (const fs::path& lab : folders_in(source_tree / "scenarios/labs")) {
    const Folder folder;
    ASSERT_EQ(run_pdsim({"lab", number_of(lab)}, folder.path()).status, 0);
    EXPECT_EQ(run_pdsim({"lab", number_of(lab), "--check"}, folder.path()).status, 1) << lab;
  }
}

TEST(Labs, ShowAWrongAnswerAsItWasTyped) {
  const Folder folder;
  ASSERT_EQ(run_pdsim({"lab", "7"}, folder.path()).status, 0);
  folder.write("pdsim-labs/07_ring_or_doubling/answers.txt", "eight:  Two KiB \nsixteen: ?\n");
  const std::string said = run_pdsim({"lab", "7", "--check"}, folder.path()).output;
  EXPECT_NE(said.find("eight: `Two KiB` is not right"), std::string::npos) << said;
  EXPECT_NE(said.find("sixteen: no answer yet"), std::string::npos) << said;
}

TEST(Labs, HaveTextsAndThreeHintsInBothLanguages) {
  for (const fs::path& lab : folders_in(source_tree / "scenarios/labs")) {
    const Folder folder;
    for (const char* language : {"en", "zh"}) {
      const std::string title = text_of(lab / (std::string(language) + ".md"));
      const Ended begun = run_pdsim({"lab", number_of(lab), "--lang", language}, folder.path());
      EXPECT_NE(begun.output.find(title.substr(2, title.find('\n') - 2)), std::string::npos) << begun.output;
    }
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run_pdsim({"lab", number_of(lab), "--hint"}, folder.path()).status, 0);
    EXPECT_NE(run_pdsim({"lab", number_of(lab), "--hint", "--lang", "en"}, folder.path())
                  .output.find("that was the last hint"),
              std::string::npos);
  }
}

TEST(Labs, KeepTheStudentsFilesAndTheirProgressInTheirFolder) {
  const Folder folder;
  ASSERT_EQ(run_pdsim({"lab", "5"}, folder.path()).status, 0);
  folder.write("pdsim-labs/05_ring_off_by_one/ring.plan", "plan all_reduce mine\n");
  ASSERT_EQ(run_pdsim({"lab", "5"}, folder.path()).status, 0);
  EXPECT_EQ(text_of(folder.path() / "pdsim-labs/05_ring_off_by_one/ring.plan"), "plan all_reduce mine\n");
  EXPECT_EQ(run_pdsim({"lab", "5", "--reset"}, folder.path()).status, 0);
  EXPECT_EQ(text_of(folder.path() / "pdsim-labs/05_ring_off_by_one/ring.plan"),
            text_of(source_tree / "scenarios/labs/05_ring_off_by_one/start/ring.plan"));
  folder.write("pdsim-labs/05_ring_off_by_one/progress.json", "[not json");
  EXPECT_EQ(run_pdsim({"lab", "--json"}, folder.path()).status, 0);
  const std::string own = "pdsim-labs/05_ring_off_by_one";
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"pdsim-labs", own, own + "/progress.json", own + "/ring.plan"}));
}

TEST(Labs, AreCheckedAgainWheneverAFileIsSavedUntilTheyPass) {
  const Folder folder;
  ASSERT_EQ(run_pdsim({"lab", "4", "--lang", "en"}, folder.path()).status, 0);
  const fs::path log = folder.path() / "watched", solution = source_tree / "tests/labs/04_broadcast_in_log_p";
  const Running watch({"lab", "4", "--watch", "--lang", "en"}, folder.path(), log.string());
  const auto checks = [&log] {
    const std::string text = text_of(log);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(": not yet", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  // Renamed into place, as editors save.
  const auto save = [&](const char* from) {
    const fs::path mine = folder.path() / "pdsim-labs/04_broadcast_in_log_p/broadcast.plan";
    fs::copy_file(solution / from / "broadcast.plan", folder.path() / "new");
    fs::rename(folder.path() / "new", mine);
  };
  ASSERT_TRUE(watch.wait_until([&] { return checks() == 1; })) << text_of(log);
  save("wrong1");
  ASSERT_TRUE(watch.wait_until([&] { return checks() == 2; })) << text_of(log);
  save("solution");
  EXPECT_EQ(watch.status(), 0) << text_of(log);
  EXPECT_NE(text_of(log).find("Broadcast in log p rounds: passed"), std::string::npos) << text_of(log);
}

TEST(Labs, ThatAreNotThereAreWrongInput) {
  const Folder folder;
  EXPECT_EQ(run_pdsim({"lab", "11"}, folder.path()).status, 2);
  EXPECT_EQ(run_pdsim({"lab", "5", "--check"}, folder.path()).problems,
            "pdsim: there is no pdsim-labs/05_ring_off_by_one; `pdsim lab 5` creates it\n");
}

}  // namespace
}  // namespace pdsim::cli_tests
