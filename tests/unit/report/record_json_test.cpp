#include "scenarios/records/record_json.h"

#include "tests/helpers/same_call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pdsim::scenarios {
namespace {

RankResult rich_result() {
  RankResult result;
  RankLog& log = result.log;
  log.rank = 3;
  log.launch = 2;
  log.dropped = 17;
  log.end = RankEnd::raised;
  log.ended = {123'456'789'012'345};
  log.error = {Code::reduction_not_finished, "a \"quoted\"\nsentence, \xc3\xa9", {{"rank", "3"}, {"rank", "again"}}};
  log.error_site = {"train", 3, 25, 5};
  Call call;
  call.id = 41;
  call.parent = 40;
  call.layer = Layer::collective;
  call.name = "reduce";
  call.group = "world";
  call.seq = 7;
  call.purpose = {PurposeKind::bucket, 0, " P"};
  call.state = CallState::timed_out;
  call.issued = {1};
  call.started = {2};
  call.finished = {3};
  call.site = {"train", 2, 24, 3};
  call.dtype = DType::bf16;
  call.op = ReduceOp::premul_sum;
  call.count = 1LL << 40;
  call.root = 0;
  call.peer = 2;
  call.async = true;
  call.site.phase = Phase::backward;
  call.site.origin = CallOrigin{"train.py", "last", {{"step", "train.py", 12}, {"main", "run.py", 3}}};
  CallDetails details;
  details.parameters = {"a", "b"};
  details.sends = {{1, 2}, 2, 3, 0};
  call.details = std::move(details);
  call.error = Code::timeout;
  call.message = "late";
  log.calls = {Call{}, call};
  log.notes = {Note{}, {41, {9}, call.site, notes::PathTaken{"short", false, 21, 3}}};
  result.values["x"] = {1.0 / 3.0, -0.0, 5e-324, std::numeric_limits<double>::max()};
  result.values["none"] = {};
  result.values["odd"] = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::quiet_NaN()};
  return result;
}

TEST(RecordJson, GivesBackEveryMember) {
  const RankResult before = rich_result();
  const Result<RankResult> after = rank_result_from_json(to_json(before));
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(after->log.rank, 3);
  EXPECT_EQ(after->log.launch, 2);
  EXPECT_EQ(after->log.dropped, 17);
  EXPECT_EQ(after->log.end, RankEnd::raised);
  EXPECT_EQ(after->log.ended, before.log.ended);
  EXPECT_EQ(after->log.error, before.log.error);
  EXPECT_EQ(after->log.error_site, before.log.error_site);
  ASSERT_EQ(after->log.calls.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    expect_same(after->log.calls[i], before.log.calls[i]);
    EXPECT_EQ(after->log.calls[i].message, before.log.calls[i].message);
  }
  ASSERT_EQ(after->log.notes.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after->log.notes[i].call, before.log.notes[i].call);
    EXPECT_EQ(after->log.notes[i].at, before.log.notes[i].at);
    EXPECT_EQ(after->log.notes[i].site, before.log.notes[i].site);
    EXPECT_EQ(after->log.notes[i].body, before.log.notes[i].body);
  }
  EXPECT_EQ(to_json(*after), to_json(before));
}

TEST(RecordJson, ReadsANoteThatWasTakenBeforeItHadThisAttribute) {
  RankResult before = rich_result();
  before.log.notes = {{-1, {}, {}, notes::NoRecord{true}}};
  std::string text = to_json(before);
  const std::string attributes = "\"attributes\":{\"unreadable\":true}";
  const std::size_t at = text.find(attributes);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_TRUE(rank_result_from_json(text)->log.notes.at(0).as<notes::NoRecord>().unreadable);
  text.replace(at, attributes.size(), "\"attributes\":{}");
  const Result<RankResult> after = rank_result_from_json(text);
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_FALSE(after->log.notes.at(0).as<notes::NoRecord>().unreadable);
}

TEST(RecordJson, KeepsNumbersToTheLastBit) {
  const RankResult before = rich_result();
  const Result<RankResult> after = rank_result_from_json(to_json(before));
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->values.at("x"), before.values.at("x"));
  EXPECT_TRUE(std::signbit(after->values.at("x")[1]));
  EXPECT_TRUE(after->values.at("none").empty());
  EXPECT_EQ(after->values.at("odd")[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(after->values.at("odd")[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(after->values.at("odd")[2]));
}

TEST(RecordJson, RefusesWhatIsNoRecord) {
  const std::string good = to_json(rich_result());
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{}"), std::string("{\"pdsim_record\": 2}"), std::string("7"),
        good.substr(0, good.size() / 2), std::string("\0\0", 2),
        std::string("{\"pdsim_record\": 1, \"rank\": \"a\"}")}) {
    const Result<RankResult> result = rank_result_from_json(bad);
    ASSERT_FALSE(result.ok()) << bad;
    EXPECT_EQ(result.error().code, Code::input_invalid);
  }
}

TEST(RecordJson, RefusesAnotherVersionAndSaysWhich) {
  std::string text = to_json(rich_result());
  const std::string now = "\"pdsim_record\":2";
  ASSERT_NE(text.find(now), std::string::npos);
  text.replace(text.find(now), now.size(), "\"pdsim_record\":1");
  const Result<RankResult> result = rank_result_from_json(text);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "a flight record cannot be read: it has version 1, but this pdsim reads version 2");
  const Result<SavedRun> run =
      run_from_jsonl("{\"event\":\"run\",\"pdsim_record\":1}\n{\"event\":\"end\",\"rank\":0,\"end\":\"returned\"}\n");
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().message,
            "the flight record cannot be read: it has version 1, but this pdsim reads version 2; record the run again");
}

TEST(RecordJson, SurvivesBytesThatAreNoText) {
  RankResult result;
  result.log.error = {Code::io_error, "\xff\xfe", {}};
  EXPECT_TRUE(rank_result_from_json(to_json(result)).ok());
}

TEST(RecordJson, WritesOneEventPerLineByTimeAndReadsThemBack) {
  RunRecord run;
  run.deadlocked = true;
  run.deadlock_at = {77};
  RankResult first, second = rich_result();
  second.log.rank = 1;
  second.log.calls[0].issued = {1};
  second.log.calls[1].issued = {10};
  second.log.calls[1].peer = 0;  // there is no rank 2
  first.log.launch = 2;
  RankResult old;
  run.earlier = {old};
  run.ranks = {first, second};
  const std::string text = events_jsonl(run);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
  EXPECT_LT(text.find("path-taken"), text.find("\"name\":\"reduce\""));
  const Result<SavedRun> back = run_from_jsonl(text);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_TRUE(back->left_out.empty());
  EXPECT_EQ(events_jsonl(back->run), text);
  ASSERT_EQ(back->run.ranks.size(), 2U);
  EXPECT_EQ(back->run.earlier.size(), 1U);
  expect_same(back->run.ranks[1].log.calls[1], second.log.calls[1]);
  EXPECT_EQ(back->run.ranks[1].log.calls[1].message, second.log.calls[1].message);
  EXPECT_EQ(back->run.ranks[1].log.error, second.log.error);
}

TEST(RecordJson, NamesTheLineThatIsNoEvent) {
  const Result<SavedRun> bad = run_from_jsonl("{\"event\":\"run\"}\n{\"event\":\"cake\",\"rank\":0}\n");
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("line 2"), std::string::npos);
  EXPECT_FALSE(run_from_jsonl("").ok());
  EXPECT_FALSE(run_from_jsonl("{\"event\":\"end\",\"rank\":1,\"end\":\"returned\"}\n").ok());
}

TEST(RecordJson, SaysWhatIsWrongWithoutTheLibrarysNames) {
  const auto of_line = [](const std::string& line) { return run_from_jsonl(line + "\n").error().message; };
  EXPECT_EQ(of_line("{\"a\":"), "line 1 is not an event of a flight record: invalid JSON at byte 6");
  EXPECT_EQ(of_line("{\"a\":1}"), "line 1 is not an event of a flight record: `event` is missing");
  EXPECT_EQ(of_line(std::string(100000, '[')), "line 1 is not an event of a flight record: it is nested too deep");
  EXPECT_EQ(of_line("[]"), "line 1 is not an event of a flight record: it is not a JSON object");
}

// A record of two ranks, and `line` before its last line.
Result<SavedRun> with_line(const std::string& line) {
  return run_from_jsonl(
      "{\"event\":\"run\"}\n"
      "{\"event\":\"call\",\"rank\":0,\"id\":3,\"layer\":\"program\",\"name\":\"barrier\",\"state\":\"issued\"}\n"
      "{\"event\":\"end\",\"rank\":0,\"end\":\"running\"}\n" +
      line + "\n{\"event\":\"end\",\"rank\":1,\"end\":\"running\"}\n");
}

std::string call_with(const std::string& members) {
  return "{\"event\":\"call\",\"rank\":1,\"layer\":\"collective\",\"name\":\"all_reduce\",\"state\":\"issued\"," +
         members + "}";
}

TEST(RecordJson, LeavesOutALineWithANumberBeyondItsRangeAndSaysWhichRangeThatIs) {
  struct Case {
    std::string line, problem;
  };
  const Case cases[] = {
      {call_with(R"("id":0,"issued_ps":-9223372036854775808)"),
       "`issued_ps` is -9223372036854775808, and must be a whole number from -4611686018427387904 to "
       "4611686018427387903"},
      {call_with(R"("id":0,"finished_ps":1e300)"), "`finished_ps` is 1e+300, and must be a whole number from"},
      {call_with(R"("id":0,"finished_ps":18446744073709551615)"), "`finished_ps` is 18446744073709551615, and must"},
      {call_with(R"("id":0,"site":{"op":"x","column":2000000000})"),
       "`site.column` is 2000000000, and must be a whole number from 0 to 1048576"},
      {call_with(R"("id":-1)"), "`id` is -1, and must"},
      {call_with(R"("id":true)"), "`id` is true, and must"},
      {call_with(R"("id":5,"parent":5)"), "`parent` is 5, and must be a whole number from -1 to 4"},
      {call_with(R"("id":5,"count":1099511627777)"), "`count` is 1099511627777, and must"},
      {call_with(R"("id":5,"peer":2)"), "`peer` is 2, and must be a whole number from -2 to 1"},
      {call_with(R"("id":5,"root":131072)"), "`root` is 131072, and must"},
      {call_with(R"("id":5,"launch":7)"), "line 4: launch 7 of rank 1 has no `end`"},
      {R"({"event":"call","rank":0,"id":3,"layer":"store","name":"get","state":"issued"})", "`id` is 3, and must"},
      {R"({"event":"note","rank":1,"kind":"fault","at_ps":4611686018427387904})",
       "`at_ps` is 4611686018427387904, and"},
      {R"({"event":"note","rank":-2,"kind":"fault"})", "`rank` is -2, and must be a whole number from 0 to 131071"},
      {R"({"event":"note","rank":1,"kind":5})", "`kind` is 5, and must be a text"},
      {R"({"event":"note","rank":1,"kind":"invented"})", "`invented` is not a kind of note"},
      {R"({"event":"note","rank":1,"kind":"fault","attributes":[]})", "`attributes` is a list, and must be an object"},
      {R"({"event":"note","rank":1,"kind":"fault","attributes":{"fault":"fire"}})", "`fire` is not one of delay, drop"},
      {R"({"event":"note","rank":1,"kind":"fault","attributes":{"to":1e10}})", "`to` is 10000000000.0, and must"},
      {R"({"event":"note","rank":1,"kind":"fault","attributes":{"whom":1}})", "`attributes` has no `whom`"},
      {R"({"event":"note","rank":1,"kind":"group-made","attributes":{"ranks":[0,"a"]}})",
       "`ranks` is a text, and must"},
      {call_with(R"("id":0,"details":{"tag":-1})"), "`tag` is -1, and must be a whole number from 0 on"},
      {call_with(R"("id":0,"purpose":"fun")"), "`fun` is not one of none, label"},
      {call_with(R"("id":0,"site":{"op":"x","phase":"party"})"), "`party` is not one of none, initialization"},
      {R"({"event":"run","elapsed_ps":9223372036854775807})", "`elapsed_ps` is 9223372036854775807, and must"},
      {R"({"event":"origin","seed":-1})", "`seed` is -1, and must be a whole number from 0 to 18446744073709551615"},
      {"junk", "line 4 is not an event of a flight record: invalid JSON at byte 1"},
  };
  for (const auto& [line, problem] : cases) {
    const Result<SavedRun> saved = with_line(line);
    ASSERT_TRUE(saved.ok()) << line << saved.error().message;
    EXPECT_EQ(saved->run.ranks.size(), 2U) << line;
    EXPECT_TRUE(saved->run.ranks[1].log.calls.empty()) << line;
    ASSERT_EQ(saved->left_out.count(), 1U) << line;
    EXPECT_NE(saved->left_out.named()[0].find("line 4"), std::string::npos) << saved->left_out.named()[0];
    EXPECT_NE(saved->left_out.named()[0].find(problem), std::string::npos) << saved->left_out.named()[0];
  }
}

TEST(RecordJson, NamesAFewOfManyLinesThatAreLeftOutAndCountsTheRest) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "{}\n";
  const Result<SavedRun> saved = with_line(lines);
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->left_out.count(), 100U);
  EXPECT_EQ(saved->left_out.named().size(), LeftOut::most_named);
}

TEST(RecordJson, QuotesTheBeginningOfALongTextThatItRefuses) {
  const Result<SavedRun> bad =
      run_from_jsonl("{\"event\":\"run\"}\n{\"event\":\"" + std::string(100'000, 'A') + "\"}\n");
  ASSERT_FALSE(bad.ok());
  EXPECT_LT(bad.error().message.size(), 300U);
  EXPECT_NE(bad.error().message.find("`AAAA"), std::string::npos);
}

TEST(RecordJson, ReadsNamesAsOnePrintableLine) {
  const Result<SavedRun> saved = with_line(call_with(
      R"("id":5,"group":"a\nPASS  forged","purpose":"store key","purpose_detail":"\u001b[2J","details":{"shape":"\u202e7"},"site":{"op":"\u009b31m"})"));
  ASSERT_TRUE(saved.ok());
  const Call& call = saved->run.ranks[1].log.calls.at(0);
  EXPECT_EQ(call.group, "a PASS  forged");
  EXPECT_EQ(text_of(call.purpose), "?[2J");
  EXPECT_EQ(call.details->shape, "?7");
  EXPECT_EQ(call.site.op, "?31m");
}

}  // namespace
}  // namespace pdsim::scenarios
