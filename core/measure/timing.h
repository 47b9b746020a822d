// Timing: one collective with one algorithm at several sizes, out of place and in place, on every rank.
//
//   round    a barrier (or, where virtual time is free, waiting for the next whole `align`), then `warmup` untimed calls and
//            `iterations` timed ones, each waited for
//   check    `checks` calls before them all, each against the expected result; nothing to check without data
//   errors   the first one ends the program, `unsupported` too
#pragma once

#include "core/group/rank_program.h"
#include "core/measure/payload.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pdsim {

struct TimingRequest {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string algorithm = "auto";
  const Algorithm* own = nullptr;  // instead of a name; outlives the request, and travels to no other process
  std::string plan_file, plan_text;  // what own is made of there (scenarios/plans): a text, or without one a program
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;
  std::vector<std::int64_t> counts;  // elements, as Collective::count
  bool in_place_too = true;
  bool moves_data = true;
  int iterations = 20;
  int warmup = 5;
  int checks = 1;
  Time align{};  // zero: a barrier
  Time timeout{60'000'000'000'000};
  // Each rank calls it when its timed calls of a round begin, and when they have ended. May be empty.
  std::function<void(bool begin)> on_timed{};
  // The number of the library's own functions to time too, alternating with ours (raw_timing.h); average is then the median of
  // the blocks, and there is no `whole`. Needs moves_data.
  int raw_forms = 0;
  int blocks = 10;
};

// One of the library's functions, called directly.
struct RawTime {
  Time median{}, least{};  // of one call, over the blocks
  std::int64_t wrong = 0;  // elements, of all ranks
};

// One size, in or out of place.
struct TimedRound {
  std::int64_t count = 0;
  bool in_place = false;
  Time average{};          // of one call, over the ranks
  Time whole{};            // of one call, from the last rank's begin of the round to the last rank's end
  std::int64_t wrong = 0;  // elements, of all ranks and checks
  Time least{};            // beside raw calls only
  std::vector<RawTime> raw{};
  Time of_rank_0{}, of_fastest{}, of_slowest{};  // of one call on these ranks; not beside raw calls
};

// The timed calls' share of the messages of all calls of a request with one count: all its calls send the same number.
std::int64_t timed_messages(const TimingRequest& request, std::int64_t messages);

// `request` must outlive the program. Its times are in the values it returns; timed_rounds() reads them.
RankProgram timing_program(const TimingRequest& request);

// Combines all ranks, in the order in which the rounds ran; ends before the first round that a rank did not finish.
std::vector<TimedRound> timed_rounds(const TimingRequest& request, const std::vector<RankResult>& ranks);

}  // namespace pdsim
