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

TEST(Labs, HaveASolutionThatPassesAndAtLeastThreeWrongOnesThatFail) {
  const auto labs = folders_in(source_tree / "scenarios/labs");
  EXPECT_EQ(labs.size(), 10U);
  for (const fs::path& lab : labs) {
    const Folder folder;
    const auto cases = folders_in(source_tree / "tests/labs" / lab.filename());
    ASSERT_GE(cases.size(), 4U) << lab;
    for (const fs::path& one : cases) {
      const Ended checked = check_with(one, lab, folder);
      const bool solution = one.filename() == "solution";
      EXPECT_EQ(checked.status, solution ? 0 : 1) << one << "\n" << checked.output << checked.problems;
      const std::string shown = solution ? run_pdsim({"lab"}, folder.path()).output : checked.output;
      const bool tells = shown.find(solution ? "done" : "replay   ") != std::string::npos;
      EXPECT_TRUE(tells || shown.find("restore  pdsim lab") != std::string::npos) << one << "\n" << shown;
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

TEST(Labs, RefuseAChangedWorldModelOrProgramAtItsFirstLine) {
  const fs::path lab = source_tree / "scenarios/labs/08_buckets_and_overlap", wrong = source_tree / "tests/labs/08_buckets_and_overlap";
  const Folder folder;
  const std::string job = "pdsim-labs/08_buckets_and_overlap/job.yaml";
  const auto said = [&](const char* which) { return check_with(wrong / which, lab, folder).output; };
  EXPECT_NE(said("wrong_bandwidth").find("error[lab]: `world.link.bandwidth` is not what the lab begins with\n  --> " + job + ":7:"),
            std::string::npos) << said("wrong_bandwidth");
  EXPECT_NE(said("wrong_bandwidth").find("it was 5GB/s"), std::string::npos);
  EXPECT_NE(said("wrong_layers").find("`model.layers.l4` is missing"), std::string::npos) << said("wrong_layers");
  EXPECT_NE(said("wrong_compute").find("`model.layers.l0.compute`"), std::string::npos) << said("wrong_compute");
  EXPECT_NE(said("wrong_program").find("`program[1].train.steps`"), std::string::npos) << said("wrong_program");
  EXPECT_NE(said("wrong_hook").find("`ddp.comm_hook` is not in the lab's file"), std::string::npos) << said("wrong_hook");
  EXPECT_NE(said("wrong_ranks").find("restore  pdsim lab 8 --reset"), std::string::npos) << said("wrong_ranks");
}

TEST(Labs, AnswerAboutTheJobsThatTheyBeginWith) {
  const Folder folder;
  ASSERT_EQ(run_pdsim({"lab", "1"}, folder.path()).status, 0);
  const std::string own = "pdsim-labs/01_who_hangs/";
  folder.write(own + "answers.txt", "one: none\ntwo: none\nthree: none\n");
  for (const std::string job : {"one", "two", "three"})
    folder.write(own + job + ".yaml", "pdsim: 1\nname: " + job +
                                          "\nsummary: s\nworld: {ranks: 2}\nprogram: [init_process_group]\nexpect: {outcome: ok}\n");
  const Ended checked = run_pdsim({"lab", "1", "--check"}, folder.path());
  EXPECT_EQ(checked.status, 1);
  EXPECT_NE(checked.output.find("`world.ranks` is not what the lab begins with"), std::string::npos) << checked.output;
}

TEST(Labs, NameTheLineOfWhatIsNotAnAnswer) {
  const Folder folder;
  ASSERT_EQ(run_pdsim({"lab", "7"}, folder.path()).status, 0);
  const std::string file = "pdsim-labs/07_ring_or_doubling/answers.txt";
  const auto check = [&] { return run_pdsim({"lab", "7", "--check"}, folder.path()).output; };
  folder.write(file, "# sizes\neigth: 2\nsixteen 4\nslow_link: 1\nslow_link: 2\n");
  const std::string said = check();
  EXPECT_NE(said.find(file + ":2: the lab does not ask for `eigth`; its questions are eight, sixteen, slow_link"), std::string::npos) << said;
  EXPECT_NE(said.find(file + ":3: `sixteen 4` has no colon"), std::string::npos) << said;
  EXPECT_NE(said.find(file + ":5: `slow_link` is answered a second time, after line 4"), std::string::npos) << said;
  fs::remove(folder.path() / file);
  EXPECT_NE(check().find("cannot read " + file + ": No such file or directory\nrestore  pdsim lab 7 --reset"), std::string::npos) << check();
  fs::create_directory(folder.path() / file);
  EXPECT_NE(check().find("cannot read " + file + ": it is a folder"), std::string::npos) << check();
}

TEST(Labs, TakeSizesInAnyUnit) {
  const Folder folder;
  ASSERT_EQ(run_pdsim({"lab", "7"}, folder.path()).status, 0);
  std::string answers = text_of(source_tree / "tests/labs/07_ring_or_doubling/solution/answers.txt");
  for (const int mib : {1, 2, 4, 8})
    if (const std::size_t at = answers.find(": " + std::to_string(mib << 20)); at != std::string::npos)
      answers.replace(at, 2 + std::to_string(mib << 20).size(), ": " + std::to_string(mib) + "MiB");
  ASSERT_NE(answers.find("MiB"), std::string::npos) << answers;
  folder.write("pdsim-labs/07_ring_or_doubling/answers.txt", answers);
  EXPECT_EQ(run_pdsim({"lab", "7", "--check"}, folder.path()).status, 0);
}

TEST(Labs, RefuseFlagsThatSayNothingTogether) {
  const Folder folder;
  EXPECT_EQ(run_pdsim({"lab", "--check"}, folder.path()).problems, "pdsim: --check needs a lab's number: `pdsim lab 5 --check`\n");
  EXPECT_EQ(run_pdsim({"lab", "5", "--check", "--hint"}, folder.path()).problems,
            "pdsim: --check and --hint exclude each other; keep one of the two\n");
  EXPECT_EQ(run_pdsim({"lab", "5", "--check", "--hint"}, folder.path()).status, 2);
  EXPECT_EQ(run_pdsim({"lab", "0"}, folder.path()).problems, "pdsim: there is no lab 0; choose 1 to 10\n");
  EXPECT_EQ(run_pdsim({"lab", "5", "--in", "/proc/x"}, folder.path()).status, 2);
  const Ended hint = run_pdsim({"lab", "5", "--hint", "--in", "nothere"}, folder.path());
  EXPECT_EQ(hint.status, 2);
  EXPECT_EQ(hint.problems, "pdsim: there is no nothere/05_ring_off_by_one; `pdsim lab 5 --in nothere` creates it\n");
}

TEST(Labs, AreFoundInTheirOwnFolderAndReplayWhereTheyWereChecked) {
  const Folder folder;
  ASSERT_EQ(run_pdsim({"lab", "5"}, folder.path()).status, 0);
  const Ended inside = run_pdsim({"lab", "5", "--check", "--json"}, folder.path() / "pdsim-labs/05_ring_off_by_one");
  EXPECT_EQ(inside.status, 1) << inside.problems;
  EXPECT_NE(inside.output.find(R"("replay":"pdsim prove ./ring.plan --ranks 2..2 --count 1")"), std::string::npos) << inside.output;
}

TEST(Labs, SayWhatTheyFoundInChinese) {
  const Folder folder;
  ASSERT_EQ(run_pdsim({"lab", "1", "--lang", "zh"}, folder.path()).status, 0);
  EXPECT_NE(text_of(folder.path() / "pdsim-labs/01_who_hangs/answers.txt").find("哪些 rank"), std::string::npos);
  const std::string said = run_pdsim({"lab", "1", "--check", "--lang", "zh"}, folder.path()).output;
  EXPECT_NE(said.find("one：还没有答案"), std::string::npos) << said;
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

TEST(Labs, ATimelineOfShortTrainingsNamesTheFirstStepOfEach) {
  const Folder folder;
  run_pdsim({"lab", "10"}, folder.path());
  const Ended run = run_pdsim({"lab", "10", "--check"}, folder.path());
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("\n              step 0    step 0    step 0\n  ranks 0..2  K"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace pdsim::cli_tests
