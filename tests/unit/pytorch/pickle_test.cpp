#include "scenarios/records/pytorch/forms/pickle.h"

#include "scenarios/records/pytorch/dump.h"
#include "tests/unit/pytorch/python_pickles.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios::pytorch {
namespace {

// Protocol 2, the opcodes, STOP.
std::string pickled(std::string_view opcodes) { return "\x80\x02" + std::string(opcodes) + "."; }

std::string why_refused(const std::string& text) {
  const Result<Tree> tree = read_pickle(text);
  return tree.ok() ? "it was read" : tree.error().message;
}

TEST(Pickle, OfEveryProtocolHoldsWhatPythonPutIntoIt) {
  for (const std::string& pickle : python_pickles()) {
    const Result<Tree> tree = read_pickle(pickle);
    ASSERT_TRUE(tree.ok()) << tree.error().message;
    const Result<Dump> dump = dump_of(*tree, 1);
    ASSERT_TRUE(dump.ok()) << dump.error().message;
    EXPECT_EQ(dump->version, "2.9");
    EXPECT_EQ(dump->groups, (std::vector<Group>{{"0", "default_pg", {0, 1}}}));
    EXPECT_EQ(dump->status, (std::vector<GroupStatus>{{"0", 3, -1, 2}}));
    Entry expected;
    expected.record_id = 7;
    expected.group = "0";
    expected.group_desc = "default_pg";
    expected.collective_seq = 3;
    expected.p2p_seq = 0;
    expected.op_id = 70000;
    expected.name = "nccl:all_reduce";
    expected.created_ns = 1724779239936775119;
    expected.input_sizes = expected.output_sizes = {{2, 3}, {}};
    expected.input_dtypes = expected.output_dtypes = std::vector<std::string>{"Float"};
    expected.timeout_ms = 600000;
    expected.frames =
        std::vector<Frame>{{"all_reduce", "/x/torch/distributed/distributed_c10d.py", 2696}, {"step", "train.py", 300}};
    EXPECT_EQ(dump->entries, std::vector<Entry>{expected});
  }
}

TEST(Pickle, HoldsIntegersOfEveryWidthAndSign) {
  struct Case {
    std::string opcodes;
    std::int64_t value;
  };
  using namespace std::string_literals;
  const Case cases[] = {{"K\xff", 255},
                        {"M\xff\xff", 65535},
                        {"J\xff\xff\xff\xff", -1},
                        {"J\x00\x00\x00\x80"s, -2147483648LL},
                        {"\x8a\x00"s, 0},
                        {"\x8a\x02\xff\x7f", 32767},
                        {"\x8a\x01\x80", -128},
                        {"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", std::numeric_limits<std::int64_t>::max()},
                        {"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s, std::numeric_limits<std::int64_t>::min()}};
  for (const Case& c : cases) {
    const Result<Tree> tree = read_pickle(pickled(c.opcodes));
    ASSERT_TRUE(tree.ok()) << tree.error().message;
    EXPECT_EQ(Value(*tree).integer(), c.value);
  }
}

TEST(Pickle, MakesRealNumbersOfIntegersBeyond64Bits) {
  using namespace std::string_literals;
  const Result<Tree> large = read_pickle(pickled("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01"s));
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(std::get<double>(large->nodes[large->root]), 18446744073709551616.0);
  const Result<Tree> negative = read_pickle(pickled("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff"s));
  ASSERT_TRUE(negative.ok());
  EXPECT_EQ(std::get<double>(negative->nodes[negative->root]), -18446744073709551616.0);
}

TEST(Pickle, SharesWhatTheMemoShares) {
  // d = {}; l = [d, d]; d['k'] = l (a cycle), as Python can write it
  const Result<Tree> tree =
      read_pickle(pickled("]q\x01}q\x02U\x01kh\x01s0(h\x02h\x02"
                          "e"));
  ASSERT_TRUE(tree.ok()) << tree.error().message;
  const Value list(*tree);
  ASSERT_EQ(list.list()->size(), 2U);
  EXPECT_EQ((*list.list())[0], (*list.list())[1]);
}

TEST(Pickle, RefusesEverythingThatNamesOrCallsCodeAndSaysWhere) {
  const std::pair<std::string, std::string> cases[] = {
      {"cposix\nsystem\n", "GLOBAL"},
      {"U\x02idU\x01x\x93", "STACK_GLOBAL"},
      {"NNR", "REDUCE"},
      {"Nb", "BUILD"},
      {"(iposix\nsystem\n", "INST"},
      {"(No", "OBJ"},
      {"NN\x81", "NEWOBJ"},
      {"NNN\x92", "NEWOBJ_EX"},
      {"\x82\x01", "EXT1"},
      {"\x83\x01\x01", "EXT2"},
      {"\x84\x01\x01\x01\x01", "EXT4"},
      {"Pid\n", "PERSID"},
      {"NQ", "BINPERSID"},
  };
  for (const auto& [opcodes, name] : cases) {
    const std::string why = why_refused(pickled(opcodes));
    EXPECT_NE(why.find("asks for " + name + ","), std::string::npos) << why;
    EXPECT_NE(why.find("nothing was executed"), std::string::npos) << why;
    EXPECT_NE(why.find("(at byte "), std::string::npos) << why;
  }
  EXPECT_NE(why_refused(pickled("cposix\nsystem\n")).find("(at byte 2)"), std::string::npos);
}

TEST(Pickle, RefusesWhatIsNoPickleOfPlainData) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string> cases[] = {
      {"", "does not begin as a pickle"},
      {"\x80", "does not begin as a pickle"},
      {"\x80\x06N.", "does not begin as a pickle"},
      {"\x80\x01N.", "does not begin as a pickle"},
      {"\x80\x02", "does not begin as a pickle"},
      {"\x80\x02N", "ends before its STOP (at byte 3)"},
      {"\x80\x02\x80\x00N."s, "of protocol 0; 2 to 5 are read (at byte 2)"},
      {pickled(""), "ends with 0 values on its stack"},
      {pickled("NN"), "ends with 2 values on its stack"},
      {pickled("(N"), "instead of 1"},
      {pickled("X\xff\xff\xff\xffz"), "ends inside the argument of BINUNICODE (at byte 2)"},
      {pickled("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"), "ends inside the argument of BINUNICODE8"},
      {pickled("0"), "POP finds nothing on the stack"},
      {pickled("2"), "DUP finds nothing on the stack"},
      {pickled("1"), "POP_MARK finds nothing on the stack"},
      {pickled("(0"), "POP finds nothing on the stack"},
      {pickled("t"), "TUPLE finds too few values"},
      {pickled("N\x86"), "TUPLE2 finds too few values"},
      {pickled("Na"), "APPEND finds too few values"},
      {pickled("NNa"), "APPEND finds no list"},
      {pickled("}(Ne"), "APPENDS finds no list"},
      {pickled("](NNu"), "SETITEMS finds no dictionary"},
      {pickled("}(Nu"), "SETITEMS finds a key without a value"},
      {pickled("(Nd"), "DICT finds a key without a value"},
      {pickled("(](Ne0e"), "APPENDS finds too few values"},
      {pickled("h\x01"), "BINGET asks for memo 1, which was never stored"},
      {pickled("Nq\x02h\x01"), "BINGET asks for memo 1, which was never stored"},
      {pickled("q\x01"), "BINPUT finds nothing on the stack"},
      {pickled("Nr\xff\xff\xff\xff"), "beyond what the pickle can hold"},
      {pickled("\x94"), "MEMOIZE finds nothing on the stack"},
      {pickled("z"), "byte 0x7a is not an opcode"},
      {pickled("I12\n"), "byte 0x49 is not an opcode"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(why_refused(text).find(part), std::string::npos) << why_refused(text);
}

TEST(Pickle, OfManyValuesIsRefusedBeforeTheyFillTheMemory) {
  const std::string text = pickled(std::string(1000, 'N') + '(' + std::string(1000, 'N') + "l");
  const Result<Tree> tree = read_pickle(text, 1500);
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.error().message, "the pickle holds more than 1500 values (at byte 1503)");
}

TEST(Pickle, NestedDeeplyNeedsNoStackOfOurs) {
  const Result<Tree> tree = read_pickle(pickled(std::string(50000, ']') + std::string(49999, 'a')));
  EXPECT_TRUE(tree.ok()) << tree.error().message;
  EXPECT_FALSE(is_dump(*tree));
}

}  // namespace
}  // namespace pdsim::scenarios::pytorch
