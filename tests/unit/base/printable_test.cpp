// Texts and names of somebody else's, on their way to a terminal or into a path.

#include "core/base/printable.h"

#include "scenarios/text/path_part.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace pdsim {
namespace {

TEST(Printable, LeavesTextsInAnyLanguageAsTheyAre) {
  for (const std::string text : {"all_reduce #7", "Gr\u00fc\u00dfe", "\u65e5\u672c", "\U0001f642", ""}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
}

TEST(Printable, ReplacesWhatATerminalObeys) {
  EXPECT_EQ(printable("\x1b[31mred\x07\x7f"), "?[31mred??");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a?31m");  // CSI as one character
  EXPECT_EQ(printable("\u202egpj\u2066.exe\u200f\ufeff\U000e0041"), "?gpj?.exe???");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("over\rwritten"), "over?written");
}

TEST(Printable, ReplacesEachByteThatIsNotUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "??");
  EXPECT_EQ(printable("\xc0\xaf"), "??");            // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "?");         // half of a surrogate pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // beyond Unicode
  EXPECT_EQ(printable("a\xe2\x82"), "a??");          // cut short
}

TEST(Printable, KeepsTheEndsOfLinesOnlyWhereThereAreLines) {
  EXPECT_EQ(printable("a\nPASS\tb"), "a PASS b");
  EXPECT_EQ(printable_lines("a\nPASS\tb"), "a\nPASS\tb");
}

TEST(PathPart, StaysInItsFolderWhateverTheNameIs) {
  const std::filesystem::path folder = "/out";
  for (const std::string name :
       {"../x", "/etc/passwd", "..", ".", "", "a/../../b", ".hidden", "a\nb", "\x1b]0;x\x07"}) {
    const std::filesystem::path path = (folder / path_part(name)).lexically_normal();
    EXPECT_EQ(path.parent_path(), folder) << name;
    EXPECT_FALSE(path.filename().string().starts_with(".")) << name;
  }
  EXPECT_EQ(path_part("barrier_hang"), "barrier_hang");
  EXPECT_EQ(path_part("../x"), "_.._x");
  EXPECT_LE(path_part(std::string(1000, 'a')).size(), 200U);
}

}  // namespace
}  // namespace pdsim
