// Which entry an error text finds, and how sure the answer is.

#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/reports/text/symptom_text.h"
#include "tests/unit/logs/pasted_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace pdsim::scenarios {
namespace {

TEST(Symptoms, RealErrorTextsFindTheirEntry) {
  std::map<std::string_view, int> answered;
  for (const PastedText& p : pasted_texts()) {
    const std::vector<SymptomMatch> found = match_symptoms(p.text);
    ASSERT_FALSE(found.empty()) << p.text;
    EXPECT_EQ(found.front().symptom->entry, p.entry) << p.text << "\nfound: " << found.front().symptom->text;
    EXPECT_NE(found.front().sureness, Sureness::near) << p.text << "\nshare " << found.front().share;
    if (found.front().symptom->entry == p.entry) ++answered[p.from];
  }
  int all = 0;
  for (const auto& [from, count] : answered) {
    std::printf("  %-12s %3d error texts answered\n", std::string(from).c_str(), count);
    all += count;
  }
  std::printf("  %-12s %3d\n", "together", all);
  EXPECT_GE(all, 42);
}

TEST(Symptoms, EveryPatternFindsItsOwnEntryAndThatEntryExists) {
  for (const Symptom* row : symptom_table()) {
    const Symptom& symptom = *row;
    const std::vector<SymptomMatch> found = match_symptoms(symptom.text);
    ASSERT_FALSE(found.empty()) << symptom.text;
    EXPECT_EQ(found.front().symptom->entry, symptom.entry) << symptom.text;
    EXPECT_EQ(found.front().sureness, Sureness::sure) << symptom.text;
    EXPECT_NE(entry_title(symptom.entry), symptom.entry) << "no such entry: " << symptom.entry;
    EXPECT_FALSE(symptom.says.empty()) << symptom.text;
  }
}

TEST(Symptoms, NumbersRanksAddressesAndPathsDoNotMatter) {
  EXPECT_EQ(symptom_words("[/a/b/pair.cc:534] Connection closed by peer [fe80::1%eth0]:34 [10.0.0.1]:5 rank3 0x7f80"),
            symptom_words("[../x/pair.cc:1] Connection closed by peer [fe80::9%eth0]:9 [192.168.1.1]:99 rank17 0x55"));
  EXPECT_EQ(symptom_words("send/recv from rank 0"), (std::vector<std::string>{"send", "recv", "from", "rank"}));
}

TEST(Symptoms, AnErrorIsFoundInTheLogAroundIt) {
  std::string log;
  for (int i = 0; i < 300; ++i) log += "epoch " + std::to_string(i) + " step done, loss is falling and all is well\n";
  log +=
      "RuntimeError: Expected to mark a variable ready only once. This error is caused by one of the following "
      "reasons: 1) Use of a module "
      "parameter outside the `forward` function.\n";
  for (int i = 0; i < 300; ++i) log += "frame of the stack in some library that nobody knows\n";
  const std::vector<SymptomMatch> found = match_symptoms(log);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().symptom->entry, "marked-ready-twice");
}

TEST(Symptoms, TextsOfSomethingElseFindNothingSure) {
  for (const char* text : {"the printer is out of paper", "KeyError: 'learning_rate'", "hello", "", "0x7fff 12 34",
                           "ModuleNotFoundError: No module named 'transformers'", "SyntaxError: invalid syntax"}) {
    const std::vector<SymptomMatch> found = match_symptoms(text);
    EXPECT_TRUE(found.empty() || found.front().sureness == Sureness::near)
        << text << ": " << found.front().symptom->text;
  }
}

TEST(Symptoms, ThePageSaysHowSureItIsAndWhatTheTextProves) {
  const std::string page = symptom_page("Connection closed by peer [10.0.0.3]:41234");
  EXPECT_EQ(page.rfind("peer-closed: ", 0), 0U) << page;
  EXPECT_NE(page.find("sure: the text is one of this entry's messages"), std::string::npos) << page;
  EXPECT_NE(page.find("It proves that the process at the other end closed"), std::string::npos) << page;
  EXPECT_TRUE(symptom_page("the printer is out of paper").empty());
}

}  // namespace
}  // namespace pdsim::scenarios
