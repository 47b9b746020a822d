// What YAML allows and the language does not, each with the text that the user sees.
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios {
namespace {

TEST(SyntaxError, TellsWhereADuplicateKeyStoodFirst) {
  EXPECT_EQ(report_of(with("  link: {latency: 5us, bandwidth: 25GB/s}",
                           R"(  ranks: 4
  link: {latency: 5us, bandwidth: 25GB/s})")),
            R"(error[scenario]: duplicate key `ranks`
  --> mine.yaml:6:3
  |
6 |   ranks: 4
  |   ^^^^^ first used at line 5, column 3
)");
}

TEST(SyntaxError, TellsOfAQuoteThatTakesInTheNextKeys) {
  EXPECT_EQ(report_of(with("summary: one sentence", "summary: \"one sentence")), R"(error[scenario]: a quote is never closed
  --> mine.yaml:3:10
  |
3 | summary: "one sentence
  |          ^ the key `world` in line 4 would be part of this text
)");
  const std::string in_program = with("  - barrier\n", "  - barrier: {group: 'world}\n") + "# it's\n";
  EXPECT_EQ(report_of(in_program), R"(error[scenario]: a quote is never closed
  --> mine.yaml:13:22
   |
13 |   - barrier: {group: 'world}
   |                      ^ the key `expect` in line 14 would be part of this text
)");
  EXPECT_EQ(report_of(with("summary: one sentence", "summary: \"one\n  sentence: of two lines\"")), "");
  EXPECT_EQ(report_of(with("summary: one sentence", "summary:\n  \"one\n  sentence: alone\"")), "");
}

TEST(SyntaxError, TakesNoOctal) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: 010")),
            R"(error[scenario]: `010` begins with a zero
  --> mine.yaml:5:10
  |
5 |   ranks: 010
  |          ^^^ write a plain decimal number
)");
}

TEST(SyntaxError, TakesNoUnderscoresInNumbers) {
  EXPECT_EQ(report_of(with("  - train: {steps: 3}", "  - train: {steps: 1_000}")),
            R"(error[scenario]: `1_000` is not a whole number
  --> mine.yaml:12:20
   |
12 |   - train: {steps: 1_000}
   |                    ^^^^^ expected a whole number 0..1000000
)");
}

TEST(SyntaxError, TakesNoExponentInWholeNumbers) {
  EXPECT_EQ(report_of(with("  - train: {steps: 3}", "  - train: {steps: 1e3}")),
            R"(error[scenario]: `1e3` is not a whole number
  --> mine.yaml:12:20
   |
12 |   - train: {steps: 1e3}
   |                    ^^^ expected a whole number 0..1000000
)");
}

TEST(SyntaxError, TakesNoSexagesimals) {
  EXPECT_EQ(report_of(with("  - train: {steps: 3}", "  - train: {steps: 1:30}")),
            R"(error[scenario]: `1:30` is not a whole number
  --> mine.yaml:12:20
   |
12 |   - train: {steps: 1:30}
   |                    ^^^^ expected a whole number 0..1000000
)");
}

TEST(SyntaxError, TakesNoForNoBoolean) {
  EXPECT_EQ(report_of(valid_start + R"(ddp: {find_unused_parameters: no}
expect: {outcome: ok}
)"),
            R"(error[scenario]: `no` is not a boolean
  --> mine.yaml:14:31
   |
14 | ddp: {find_unused_parameters: no}
   |                               ^^ expected true or false
)");
}

TEST(SyntaxError, TakesQuotedYesForNoBoolean) {
  EXPECT_EQ(report_of(valid_start + R"(ddp: {find_unused_parameters: "yes"}
expect: {outcome: ok}
)"),
            R"(error[scenario]: `yes` in quotes is text, not a boolean
  --> mine.yaml:14:31
   |
14 | ddp: {find_unused_parameters: "yes"}
   |                               ^^^^^ write it without the quotes
)");
}

TEST(SyntaxError, TellsAnEmptyValueAtItsKey) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks:")),
            R"(error[scenario]: `ranks` has no value
  --> mine.yaml:5:3
  |
5 |   ranks:
  |   ^^^^^ expected a whole number 1..8192
)");
}

TEST(SyntaxError, RejectsAnchors) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: &n 2")),
            R"(error[scenario]: an anchor (`&name`)
  --> mine.yaml:5:10
  |
5 |   ranks: &n 2
  |          ^^ write out the value; for differences use variants with `set`
)");
}

TEST(SyntaxError, RejectsAliases) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: *n")),
            R"(error[scenario]: an alias (`*name`)
  --> mine.yaml:5:10
  |
5 |   ranks: *n
  |          ^ write out the value; for differences use variants with `set`
)");
}

TEST(SyntaxError, RejectsMergeKeys) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  <<: {ranks: 2}")),
            R"(error[scenario]: a merge key (`<<`)
  --> mine.yaml:5:3
  |
5 |   <<: {ranks: 2}
  |   ^^ write out the keys; for differences use variants with `set`
)");
}

TEST(SyntaxError, RejectsTags) {
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: !!int 2")),
            R"(error[scenario]: a tag (`tag:yaml.org,2002:int`)
  --> mine.yaml:5:10
  |
5 |   ranks: !!int 2
  |          ^^^^^ the language has no tags; write the plain value
)");
}

TEST(SyntaxError, RejectsASecondDocument) {
  EXPECT_EQ(report_of(valid_start + R"(expect: {outcome: ok}
---
foo: 1
)"),
            R"(error[scenario]: a second document begins here
  --> mine.yaml:15:1
   |
15 | ---
   | ^^^ a scenario file has one document
)");
}

TEST(SyntaxError, RejectsTabsInTheIndentation) {
  EXPECT_EQ(report_of(with("  ranks: 2", "\tranks: 2")),
            R"(error[scenario]: a tab in the indentation
  --> mine.yaml:5:1
  |
5 |  ranks: 2
  | ^ use spaces
)");
}

TEST(SyntaxError, ExplainsAColonInAValue) {
  EXPECT_EQ(report_of(with("summary: one sentence", "summary: one: sentence")),
            R"(error[scenario]: a `: ` inside the value of `summary`
  --> mine.yaml:3:13
  |
3 | summary: one: sentence
  |             ^ put the whole value in quotes
)");
}

TEST(SyntaxError, ExplainsAPercentSign) {
  EXPECT_EQ(report_of(with("summary: one sentence", "summary: %one")),
            R"(error[scenario]: a character that cannot begin a value
  --> mine.yaml:3:10
  |
3 | summary: %one
  |          ^ put the value in quotes
)");
}

TEST(SyntaxError, FindsTheOpenBracketOfATruncatedFile) {
  EXPECT_EQ(report_of(valid_start + "expect: {outcome: o"),
            R"(error[scenario]: a `{` is never closed
  --> mine.yaml:14:9
   |
14 | expect: {outcome: o
   |         ^ the file or the line ends before its `}`
)");
}

TEST(SyntaxError, FindsTheOpenBracketAboveTheLinesThatFollowIt) {
  EXPECT_EQ(report_of(valid_start + "expect: {outcome: ok}\nbroken: [\n"),
            R"(error[scenario]: a `[` is never closed
  --> mine.yaml:15:9
   |
15 | broken: [
   |         ^ the file or the line ends before its `]`
)");
  const std::string below = report_of(valid_start + "broken: [  # a ] in a comment\nexpect: {outcome: ok}\n");
  EXPECT_NE(below.find("mine.yaml:14:9\n"), std::string::npos) << below;
}

TEST(SyntaxError, RejectsLatin1) {
  EXPECT_EQ(report_of(with("summary: one sentence", "summary: caf\351")),
            R"(error[scenario]: a byte 0xe9 that is not UTF-8
  --> mine.yaml:3:13
  |
3 | summary: caf?
  |             ^ a scenario file is plain text in UTF-8
)");
}

TEST(SyntaxError, RejectsBinaryJunk) {
  EXPECT_EQ(report_of("\177ELF\002\001"),
            R"(error[scenario]: a byte 0x7f (control character)
  --> mine.yaml:1:1
  |
1 | ?ELF??
  | ^ a scenario file is plain text in UTF-8
)");
}

TEST(SyntaxError, RejectsAnEmptyFile) {
  EXPECT_EQ(report_of(""),
            R"(error[scenario]: the file is empty
  --> mine.yaml:1:1
  |
1 | 
  | ^ a scenario begins with `pdsim: 1`
)");
}

TEST(SyntaxError, RejectsAFileOfComments) {
  EXPECT_EQ(report_of(R"(# nothing
)"),
            R"(error[scenario]: the file holds only comments
  --> mine.yaml:1:1
  |
1 | # nothing
  | ^ a scenario begins with `pdsim: 1`
)");
}

TEST(SyntaxError, RejectsOpenBracketsWithoutEnd) {
  EXPECT_EQ(
      report_of(
          "a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
      R"(error[scenario]: a key that is a list or a mapping
  --> mine.yaml:1:5
  |
1 | a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[...
  |     ^ keys are plain words; is a bracket not closed?
)");
}

TEST(SyntaxError, RejectsAnEmptyKey) {
  EXPECT_EQ(report_of(valid_start + R"(: 3
expect: {outcome: ok}
)"),
            R"(error[scenario]: an empty key
  --> mine.yaml:14:1
   |
14 | : 3
   | ^^^ write a word before the colon
)");
}

TEST(SyntaxError, RejectsAListAsKey) {
  EXPECT_EQ(report_of(valid_start + R"(? [a, b]
: 3
expect: {outcome: ok}
)"),
            R"(error[scenario]: a key that is a list or a mapping
  --> mine.yaml:14:3
   |
14 | ? [a, b]
   |   ^ keys are plain words; is a bracket not closed?
)");
}

std::string colon_report(int line, const std::string& text, const std::string& word, const std::string& key) {
  const std::string margin(std::to_string(line).size(), ' ');
  const std::size_t column = text.find(word);
  return "error[scenario]: `" + word + "` has the key `" + key +
         "` below it, but no colon\n  --> mine.yaml:" + std::to_string(line) + ":" + std::to_string(column + 1) + "\n" +
         margin + " |\n" + std::to_string(line) + " | " + text + "\n" + margin + " | " + std::string(column, ' ') +
         std::string(word.size(), '^') + " is a colon missing after `" + word + "`?\n";
}

TEST(MissingColon, IsFoundAtTheOperationAboveItsKeys) {
  const std::string report = colon_report(13, "  - barrier", "barrier", "when");
  EXPECT_EQ(report_of(with("  - barrier\n", "  - barrier\n    when: {rank: 0}\n")), report);
  EXPECT_EQ(report_of(with("  - barrier\n", "  - barrier\n\n    # all but one\n    when:\n      rank: 0\n")), report);
  EXPECT_EQ(report_of(with("  - barrier\n", "  - barrier  # late\n    when: {rank: 0}\n")),
            colon_report(13, "  - barrier  # late", "barrier", "when"));
}

TEST(MissingColon, IsFoundAtASection) {
  EXPECT_EQ(report_of(with("world:", "world")), colon_report(4, "world", "world", "ranks"));
}

}  // namespace
}  // namespace pdsim::scenarios
