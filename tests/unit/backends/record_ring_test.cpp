// The record that survives its rank: in order, bounded, readable while it is written and after its writer died anywhere.

#include "core/record/record_ring.h"

#include "backends/os/shared_memory.h"
#include "tests/helpers/same_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

class Memory {
 public:
  explicit Memory(RingShape shape) : words_(RecordRing::bytes_for(shape) / 8) {}
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words_)); }
  std::uint64_t& word(std::size_t i) { return words_[i]; }

 private:
  std::vector<std::uint64_t> words_;
};

Call call_number(std::int64_t id) {
  Call call;
  call.id = id;
  call.parent = id - 1;
  call.layer = Layer::collective;
  call.name = "all_reduce";
  call.group = "world";
  call.seq = id;
  call.purpose = {PurposeKind::bucket, id % 7, "part"};
  call.state = CallState::started;
  call.issued = {id * 1000};
  call.started = {id * 1000 + 1};
  call.site = {"train", static_cast<int>(id), 12, 3};
  call.dtype = DType::bf16;
  call.op = ReduceOp::max;
  call.count = id * 3;
  call.root = 2;
  call.peer = 1;
  call.async = true;
  call.site.phase = Phase::backward;
  call.site.origin = CallOrigin{"train.py", "last", {{"step", "train.py", 12}}};
  CallDetails details;
  details.tag = 7;
  details.sends = {{1, 2}, 2, 3, 0};
  call.details = std::move(details);
  return call;
}

SharedValue<CallDetails> with_texts(std::string shape, std::string dtype) {
  CallDetails details;
  details.shape = std::move(shape);
  details.dtype = std::move(dtype);
  if (details == CallDetails{}) return {};
  return details;
}

RingRecord read(std::span<const std::byte> memory) {
  Result<RingRecord> record = read_record_ring(memory);
  EXPECT_TRUE(record.ok()) << record.error().message;
  return record.ok() ? std::move(*record) : RingRecord{};
}

TEST(RecordRing, ItsProgressGrowsWithEverythingThatIsWritten) {
  Memory memory({2, 1});
  EXPECT_EQ(ring_progress(memory.bytes()), 0U);
  RecordRing ring(memory.bytes(), {2, 1}, 0, 1);
  std::uint64_t last = 0;
  const auto grows = [&] {
    const std::uint64_t now = ring_progress(memory.bytes());
    return std::exchange(last, now) < now && ring_progress(memory.bytes()) == now;
  };
  EXPECT_TRUE(grows());
  for (std::int64_t id = 0; id < 5; ++id) {
    ring.write(call_number(id));
    EXPECT_TRUE(grows());
    ring.update(call_number(id));
    EXPECT_TRUE(grows());
    ring.write(id, Note{});
    EXPECT_TRUE(grows());
  }
}

TEST(RecordRing, TellsHowTheProcessEndedAsItsParentHasMarked) {
  constexpr int launch = 3;
  Memory memory({2, 1});
  mark_end(memory.bytes(), {SIGKILL, 0, false});
  EXPECT_FALSE(read_record_ring(memory.bytes()).ok());  // there is no ring yet, and the mark makes none
  const RecordRing ring(memory.bytes(), {2, 1}, 5, launch);
  EXPECT_FALSE(read(memory.bytes()).end.has_value());
  for (const RingEnd& end : {RingEnd{SIGKILL, 0, false}, RingEnd{0, 255, false}, RingEnd{0, 0, true}}) {
    mark_end(memory.bytes(), end);
    const RingRecord seen = read(memory.bytes());
    ASSERT_TRUE(seen.end.has_value());
    EXPECT_EQ(seen.end->signal, end.signal);
    EXPECT_EQ(seen.end->exit_status, end.exit_status);
    EXPECT_EQ(seen.end->stopped, end.stopped);
    EXPECT_EQ(seen.log.launch, launch);
  }
}

TEST(RecordRing, GivesBackWhatWasWritten) {
  const RingShape shape{8, 4};
  Memory memory(shape);
  RecordRing ring(memory.bytes(), shape, 3, 2);
  for (std::int64_t id = 0; id < 5; ++id) ring.write(call_number(id));
  Call failed = call_number(4);
  failed.state = CallState::failed;
  failed.error = Code::peer_closed;
  failed.finished = {9999};
  ring.update(failed);
  const notes::Fault hang{FaultKind::hang, "barrier", 2, {5}, true};
  ring.write(0, {3, {77}, {"train", 1, 2, 3}, hang});
  const RingRecord record = read(memory.bytes());
  EXPECT_EQ(record.log.rank, 3);
  EXPECT_EQ(record.log.launch, 2);
  EXPECT_EQ(record.log.dropped, 0);
  EXPECT_EQ(record.torn, 0);
  ASSERT_EQ(record.log.calls.size(), 5U);
  for (std::int64_t id = 0; id < 4; ++id) expect_same(record.log.calls[static_cast<std::size_t>(id)], call_number(id));
  expect_same(record.log.calls[4], failed);
  ASSERT_EQ(record.log.notes.size(), 1U);
  EXPECT_EQ(record.log.notes[0].call, 3);
  EXPECT_EQ(record.log.notes[0].at, Time{77});
  EXPECT_EQ(record.log.notes[0].body, NoteBody(hang));
}

TEST(RecordRing, KeepsTheNewestAndTellsHowManyWereOverwritten) {
  const RingShape shape{8, 4};
  Memory memory(shape);
  RecordRing ring(memory.bytes(), shape, 0, 1);
  for (std::int64_t id = 0; id < 100; ++id) ring.write(call_number(id));
  for (std::int64_t n = 0; n < 9; ++n) ring.write(n, {n, {}, {}, notes::OptimizerStep{}});
  ring.write(call_number(50));  // of one that was overwritten long ago
  ring.update(call_number(50));
  const RingRecord record = read(memory.bytes());
  ASSERT_EQ(record.log.calls.size(), 8U);
  EXPECT_EQ(record.log.calls.front().id, 92);
  EXPECT_EQ(record.log.calls.back().id, 99);
  ASSERT_EQ(record.log.notes.size(), 4U);
  EXPECT_EQ(record.log.notes.front().call, 5);
  EXPECT_EQ(record.log.dropped, 92 + 5);
}

TEST(RecordRing, ShowsNothingOfTheLongerCallWhoseSlotACallTakes) {
  const RingShape shape{1, 1};
  Memory memory(shape);
  RecordRing ring(memory.bytes(), shape, 0, 1);
  for (std::size_t size = 0; size < 160; ++size) {
    Call longer = call_number(static_cast<std::int64_t>(2 * size));
    longer.name = longer.group = longer.purpose.detail = longer.site.op = std::string(20, 'x');
    longer.details = with_texts(std::string(60, 'y'), std::string(50, 'z'));
    ring.write(longer);
    Call shorter = call_number(longer.id + 1);
    shorter.site.origin = {};
    shorter.details = with_texts(std::string(size, 'v'), {});
    ring.write(shorter);
    constexpr std::size_t longest = 146;  // with its number, two lengths and the end of both parts
    if (size > longest) shorter.details = {};
    expect_same(read(memory.bytes()).log.calls.at(0), shorter);
  }
}

TEST(RecordRing, CutsTextsThatAreTooLongAndLeavesOutWhatDoesNotFitWhole) {
  const RingShape shape{2, 1};
  Memory memory(shape);
  RecordRing ring(memory.bytes(), shape, 0, 1);
  Call call = call_number(0);
  call.name = call.group = call.purpose.detail = call.site.op = std::string(500, 'x');
  CallDetails details;
  details.tag = 1;
  details.shape = std::string(500, 'y');
  details.dtype = "Half";
  call.details = std::move(details);
  ring.write(call);
  const Call back = read(memory.bytes()).log.calls.at(0);
  EXPECT_EQ(back.name, std::string(31, 'x'));
  EXPECT_EQ(back.group, std::string(31, 'x'));
  EXPECT_EQ(back.purpose.detail, std::string(43, 'x'));
  EXPECT_EQ(back.site.op, std::string(23, 'x'));
  EXPECT_EQ(back.details->tag, 1U);
  EXPECT_EQ(back.details->shape, "");
  EXPECT_EQ(back.details->dtype, "Half");
}

TEST(RecordRing, LeavesOutASlotThatItsWriterDiedIn) {
  const RingShape shape{4, 1};
  Memory memory(shape);
  RecordRing ring(memory.bytes(), shape, 0, 1);
  for (std::int64_t id = 0; id < 3; ++id) ring.write(call_number(id));
  const std::size_t slot_words = (RecordRing::bytes_for({5, 1}) - RecordRing::bytes_for({4, 1})) / 8;
  const std::size_t header_words = RecordRing::bytes_for({1, 1}) / 8 - 2 * slot_words;
  ++memory.word(header_words + slot_words);  // the counter of slot 1 is odd now
  const RingRecord record = read(memory.bytes());
  EXPECT_EQ(record.torn, 1);
  ASSERT_EQ(record.log.calls.size(), 2U);
  EXPECT_EQ(record.log.calls[0].id, 0);
  EXPECT_EQ(record.log.calls[1].id, 2);
}

TEST(RecordRing, OfRubbishIsRefusedOrReadWithoutHarm) {
  const RingShape shape{4, 2};
  Memory empty(shape);
  EXPECT_EQ(read_record_ring(empty.bytes()).error().message, "the memory holds no record ring");
  EXPECT_FALSE(read_record_ring({}).ok());
  for (std::size_t word = 0; word < RecordRing::bytes_for(shape) / 8; ++word)
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
      Memory memory(shape);
      RecordRing ring(memory.bytes(), shape, 0, 1);
      for (std::int64_t id = 0; id < 6; ++id) ring.write(call_number(id));
      ring.write(0, {0, {}, {}, notes::StoreRead{"key", 1, 2, true}});
      memory.word(word) = value;
      const Result<RingRecord> record = read_record_ring(memory.bytes());
      if (record.ok()) {
        EXPECT_LE(record->log.calls.size(), 4U);
      }
    }
}

// Every number at an extreme costs the call that has it, and no other.
TEST(RecordRing, LeavesOutACallWithANumberBeyondItsRangeAndSaysWhich) {
  const RingShape shape{4, 2};
  const auto extreme = [](void (*change)(Call&)) {
    Call call = call_number(1);
    change(call);
    return call;
  };
  const std::pair<Call, std::string> cases[] = {
      {extreme([](Call& c) { c.issued = {INT64_MIN}; }), "call 1: `issued_ps` is -9223372036854775808, and must"},
      {extreme([](Call& c) { c.finished = Time::max(); }), "call 1: `finished_ps` is 9223372036854775807, and must"},
      {extreme([](Call& c) { c.parent = 1; }), "call 1: `parent` is 1, and must be a whole number from -1 to 0"},
      {extreme([](Call& c) { c.site.column = INT32_MAX; }), "call 1: `site.column` is 2147483647, and must"},
      {extreme([](Call& c) { c.peer = -5; }), "call 1: `peer` is -5, and must be a whole number from -2 to 131071"},
  };
  for (const auto& [call, problem] : cases) {
    Memory memory(shape);
    RecordRing ring(memory.bytes(), shape, 0, 1);
    ring.write(call_number(0));
    ring.write(call);
    ring.write(call_number(2));
    const RingRecord record = read(memory.bytes());
    EXPECT_EQ(record.log.calls.size(), 2U);
    EXPECT_EQ(record.torn, 0);
    ASSERT_EQ(record.left_out.count(), 1U) << problem;
    EXPECT_EQ(record.left_out.named()[0].find(problem), 0U) << record.left_out.named()[0];
  }
}

TEST(RecordRing, GivesTextsAsOnePrintableLine) {
  const RingShape shape{4, 2};
  Memory memory(shape);
  RecordRing ring(memory.bytes(), shape, 0, 1);
  Call call = call_number(0);
  call.group = "\x1b[2J\n";
  ring.write(call);
  EXPECT_EQ(read(memory.bytes()).log.calls.at(0).group, "?[2J ");
}

TEST(RecordRing, IsReadWholeWhileItIsWritten) {
  const RingShape shape{4, 1};
  Memory memory(shape);
  RecordRing ring(memory.bytes(), shape, 0, 1);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (std::int64_t id = 0; !stop.load(); ++id) ring.write(call_number(id));
  });
  for (int i = 0; i < 2000; ++i)
    for (const Call& call : read(memory.bytes()).log.calls) expect_same(call, call_number(call.id));
  stop = true;
  writer.join();
}

TEST(RecordRing, InSharedMemoryOutlivesAProcessThatIsKilledWhileItWrites) {
  const RingShape shape{64, 8};
  for (int round = 0; round < 20; ++round) {
    Result<SharedMemory> memory = SharedMemory::make(RecordRing::bytes_for(shape));
    ASSERT_TRUE(memory.ok()) << memory.error().message;
    const pid_t child = fork();
    if (child == 0) {
      Result<SharedMemory> theirs = SharedMemory::open(Descriptor(dup(memory->fd())));
      if (!theirs.ok()) _exit(1);
      RecordRing ring(theirs->bytes(), RecordRing::shape_of(theirs->bytes().size()), 1, 1);
      for (std::int64_t id = 0;; ++id) ring.write(call_number(id));
    }
    const auto calls_in = [&] {
      const Result<RingRecord> record = read_record_ring(std::as_const(*memory).bytes());
      return record.ok() ? record->log.calls.size() + static_cast<std::size_t>(record->torn) : 0;
    };
    while (calls_in() < 32) sched_yield();
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const RingRecord record = read(std::as_const(*memory).bytes());
    EXPECT_LE(record.torn, 1);
    EXPECT_GE(record.log.calls.size() + static_cast<std::size_t>(record.torn), 32U);
    for (const Call& call : record.log.calls) expect_same(call, call_number(call.id));
  }
}

TEST(SharedMemory, IsSealedAgainstOtherSizesAndNamedNowhere) {
  Result<SharedMemory> memory = SharedMemory::make(4096);
  ASSERT_TRUE(memory.ok());
  EXPECT_NE(ftruncate(memory->fd(), 0), 0);
  EXPECT_NE(ftruncate(memory->fd(), 8192), 0);
  EXPECT_FALSE(SharedMemory::open(Descriptor(-1)).ok());
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const Descriptor other(pipes[1]);
  const Result<SharedMemory> none = SharedMemory::open(Descriptor(pipes[0]));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::unavailable);
}

}  // namespace
}  // namespace pdsim
