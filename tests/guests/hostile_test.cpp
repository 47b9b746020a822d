// What a process may send that is not a rank of pdsim's: frames of the socket and files of records that are wrong, damaged or meant to
// hurt. Each is refused or left out; nothing is allocated for what is only announced.

#include "scenarios/guests/simulated/call.h"
#include "scenarios/guests/connection.h"
#include "scenarios/guests/real/record_file.h"
#include "scenarios/guests/real/recorded_rank.h"
#include "scenarios/guests/request.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace pdsim::guest_tests {
namespace {

using namespace scenarios::guests;

template <class T>
std::string bytes_of(T number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string frame_of(const std::string& object) {
  return bytes_of(static_cast<std::uint32_t>(object.size())) + bytes_of(std::uint64_t{0}) + object;
}

TEST(HostileRequests, TextsThatAreNotRequestsAreRefused) {
  for (const std::string text :
       {"", "{", "[]", "7", "null", "{}", R"({"op": 3})", R"({"op": "no such"})", R"({"op": "start", "count": "many"})",
        R"({"op": "start", "count": 1e300})", R"({"op": "start", "count": 18446744073709551615})",
        R"({"op": "start", "count": true})", R"({"op": "join", "ranks": [4294967296]})", R"({"op": "join", "ranks": "01"})",
        R"({"op": "join", "ranks": [0.5]})", R"({"op": "start", "frames": [["f", "t.py"]]})",
        R"({"op": "start", "frames": [["f", "t.py", 1e30]]})", R"({"op": "start", "frames": 7})",
        R"({"op": "start", "step": 99999999999})", R"({"op": "start", "keys": [1]})", R"({"op": "wait", "seconds": "soon"})"})
    EXPECT_FALSE(request_of(text, {}).ok()) << text;
}

TEST(HostileRequests, NestingIsBoundedAndBracketsInTextsAreNotCounted) {
  const std::string deep = R"({"op": "wait", "x": )" + std::string(500'000, '[') + std::string(500'000, ']') + "}";
  EXPECT_FALSE(request_of(deep, {}).ok());
  EXPECT_TRUE(request_of(R"({"op": "Raised", "text": ")" + std::string(1000, '[') + R"(\"[{"})", {}).ok());
}

TEST(HostileRequests, LargeSizesAreRefusedBeforeAnythingIsAllocated) {
  const std::string head = bytes_of(std::uint32_t{0xffffffffU}) + bytes_of(std::uint64_t{1} << 62);
  EXPECT_FALSE(frame_size(reinterpret_cast<const std::byte*>(head.data())).ok());
}

TEST(HostileRequests, CallsThatNoTensorCanHaveAreRefused) {
  for (const std::string call :
       {R"({"op": "start", "kind": "recv", "count": 4611686018427387904, "dtype": "f64", "root": 1})",
        R"({"op": "start", "kind": "all_gather", "count": -1})", R"({"op": "start", "kind": "recv", "root": 4294967297})",
        R"({"op": "start", "kind": "all_to_all_v", "count": 4, "sends": [-4, 8], "receives": [4, 4]})",
        R"({"op": "start", "kind": "all_to_all_v", "count": 4, "sends": [4], "receives": [4, 4]})",
        R"({"op": "start", "kind": "send", "count": 4, "root": 1})", R"({"op": "start", "kind": "what", "count": 1})"}) {
    Result<Request> request = request_of(call, {});
    ASSERT_TRUE(request.ok()) << call;
    EXPECT_FALSE(call_of(*request, 0, 2).ok()) << call;
  }
}

TEST(HostileRequests, DataInSharedMemoryHaveToFitIntoIt) {
  const auto made = [] {
    Result<SharedMemory> memory = SharedMemory::make(4096);
    EXPECT_TRUE(memory.ok());
    return std::make_shared<SharedMemory>(std::move(*memory));
  };
  for (const auto& [call, fits] : std::vector<std::pair<std::string, bool>>{
           {R"({"op": "start", "kind": "all_reduce", "count": 1024, "memory": 7})", true},
           {R"({"op": "start", "kind": "all_reduce", "count": 1025, "memory": 7})", false},
           {R"({"op": "start", "kind": "all_reduce", "count": 4, "memory": 7, "output_at": 64})", false},
           {R"({"op": "start", "kind": "all_gather", "count": 256, "memory": 7, "output_at": 1024})", true},
           {R"({"op": "start", "kind": "all_gather", "count": 256, "memory": 7, "output_at": 1000})", false},
           {R"({"op": "start", "kind": "all_gather", "count": 256, "memory": 7, "output_at": 3072})", false},
           {R"({"op": "start", "kind": "all_gather", "count": 256, "memory": 7, "output_at": -1024})", false},
           {R"({"op": "start", "kind": "recv", "count": 1, "memory": 7, "output_at": 4608})", false}}) {
    Result<Request> request = request_of(call, {});
    ASSERT_TRUE(request.ok()) << call;
    EXPECT_EQ(call_of(*request, 0, 2, made()).ok(), fits) << call;
  }
}

// What a connection makes of these bytes, which come in pieces.
struct Heard {
  int requests = 0;
  bool open = false, has_problem = false;
};

Heard heard_of(const std::string& bytes, std::size_t piece) {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  Connection connection{Descriptor(ends[0])};
  const Descriptor theirs(ends[1]);
  Heard heard;
  for (std::size_t at = 0; at < bytes.size() && connection.open(); at += piece) {
    const std::string part = bytes.substr(at, piece);
    EXPECT_EQ(::send(theirs.get(), part.data(), part.size(), MSG_NOSIGNAL), static_cast<ssize_t>(part.size()));
    connection.read_some();
    for (; connection.has_request(); connection.take()) ++heard.requests;
  }
  heard.open = connection.open();
  heard.has_problem = !connection.problem().ok();
  return heard;
}

TEST(HostileConnections, RequestsAreWholeHoweverTheirBytesCome) {
  const std::string two = frame_of(R"({"op": "hello", "slot": 0})") + frame_of(R"({"op": "poll", "work": 1})");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, two.size()}) EXPECT_EQ(heard_of(two, piece).requests, 2);
}

TEST(HostileConnections, WhatIsNotAFrameClosesTheConnectionAndNothingElse) {
  for (const std::string& bytes : {std::string(64, '\xff'), frame_of("{}"), frame_of("not JSON"),
                                   frame_of(R"({"op": "hello"})") + std::string(12, '\xff')}) {
    const Heard heard = heard_of(bytes, 16);
    EXPECT_FALSE(heard.open);
    EXPECT_TRUE(heard.has_problem);
  }
  EXPECT_TRUE(heard_of(bytes_of(std::uint32_t{1000}), 4).open) << "half a frame may still become whole";
}

// A record as the Python package lays it out (tools/guest/pdsim_guest/record_file.py), but smaller.
std::string record_of(const std::vector<std::string>& kept, const std::vector<std::string>& newest) {
  const auto framed = [](const std::vector<std::string>& frames) {
    std::string bytes;
    for (const std::string& frame : frames) bytes += bytes_of(static_cast<std::uint32_t>(frame.size())) + frame;
    return bytes;
  };
  constexpr std::size_t head_bytes = 512, kept_bytes = 1024, ring_bytes = 2048;
  const std::string about = R"({"host": "one", "rank": 0, "size": 2, "pid": 1, "backend": "gloo"})";
  std::string first = framed(kept), ring = framed(newest);
  std::string file = "pdsimrec" + bytes_of(std::uint32_t{1}) + bytes_of(static_cast<std::uint32_t>(head_bytes)) +
                     bytes_of(std::uint64_t{kept_bytes}) + bytes_of(std::uint64_t{ring_bytes}) +
                     bytes_of(std::uint64_t{first.size()}) + bytes_of(std::uint64_t{ring.size()}) +
                     bytes_of(std::uint64_t{0}) + bytes_of(std::uint64_t{kept.size() + newest.size()}) +
                     bytes_of(std::uint64_t{5}) + bytes_of(static_cast<std::uint32_t>(about.size())) + about;
  file.resize(head_bytes);
  first.resize(kept_bytes);
  ring.resize(ring_bytes);
  return file + first + ring;
}

std::span<const std::byte> bytes_in(const std::string& file) { return std::as_bytes(std::span(file)); }

std::string good_record() {
  return record_of({R"({"op": "Site", "number": 0, "frames": [["f", "t.py", 3]], "column": 1, "at": 1, "n": 0})",
                    R"({"op": "join", "name": "world", "ranks": [0, 1], "rank": 0, "size": 2, "at": 1, "n": 1})"},
                   {R"({"op": "start", "group": 1, "kind": "all_reduce", "count": 4, "site": 0, "at": 2, "n": 2})",
                    R"({"op": "Done", "work": 2, "at": 3, "n": 3})", R"({"op": "Goodbye", "number": 0, "at": 4, "n": 4})"});
}

TEST(DamagedRecords, AWholeOneIsReadToItsLastFrame) {
  const std::string file = good_record();
  const Result<RecordedProcess> process = read_record(bytes_in(file));
  ASSERT_TRUE(process.ok()) << process.error().message;
  EXPECT_EQ(process->requests.size(), 4U);
  EXPECT_TRUE(process->left_out.empty());
  EXPECT_EQ(process->requests[1].request.site.line, 3);
}

TEST(DamagedRecords, FilesThatWereCutShortAreRefused) {
  const std::string file = good_record();
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{75}, std::size_t{600}, file.size() - 1})
    EXPECT_FALSE(read_record(bytes_in(file.substr(0, size))).ok()) << size;
}

TEST(DamagedRecords, FramesThatAreNotOnesAreLeftOutAndCounted) {
  const std::string file =
      record_of({"", "7", R"({"op": "Site", "n": 1.5})", std::string(200, '[')},
                {"{", R"({"n": "one"})", R"({"op": "start", "count": 1e300, "n": 2})", R"({"op": "poll", "n": 1, "at": 1e300})"});
  const Result<RecordedProcess> process = read_record(bytes_in(file));
  ASSERT_TRUE(process.ok()) << process.error().message;
  EXPECT_TRUE(process->requests.empty());
  EXPECT_EQ(process->left_out.count(), 8U);
}

// Every place with every one of a few values, and many changes at once.
TEST(DamagedRecords, NoChangeOfBytesDoesMoreThanLeaveSomethingOut) {
  const std::string file = good_record();
  std::uint64_t random = 88172645463325252ULL;
  const auto next = [&random] {
    random ^= random << 13;
    random ^= random >> 7;
    return random ^= random << 17;
  };
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = file;
    const std::uint64_t changes = 1 + next() % 6;
    for (std::uint64_t c = 0; c < changes; ++c) {
      const std::size_t place = next() % 2 == 0 ? next() % 160 : next() % damaged.size();
      damaged[place] = static_cast<char>(next());
    }
    const Result<RecordedProcess> process = read_record(bytes_in(damaged));
    if (process.ok()) (void)replayed(*process, 0, process->began_ns, FoundProcess{});
  }
}

}  // namespace
}  // namespace pdsim::guest_tests
