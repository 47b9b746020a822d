// Plan: a collective algorithm as a coroutine that yields rounds of steps on named buffers. It never touches a
// transport, so one definition is run, proven, costed, drawn and explored.
//
//   round    its messages are in flight together; receive_reduce combines after the whole round arrived, in step order
//   slices   offset and count in elements of the named buffer; `input` is read only, `scratch` is sized by the
//            algorithm's row
//   order    receive_reduce computes  slice = slice op received,  so the plan fixes the floating-point order
//   threads  none; a Plan is moved, never copied
#pragma once

#include "core/base/types.h"
#include "core/collectives/collective.h"

#include <array>
#include <coroutine>
#include <cstdint>
#include <span>
#include <utility>

namespace pdsim {

enum class BufferId : std::uint8_t { input, output, scratch };

struct Slice {
  std::int64_t offset = 0;  // elements
  std::int64_t count = 0;   // elements
  BufferId buffer = BufferId::output;
  // Returns chunk i of `of` contiguous chunks (i taken modulo `of`); the first count % of are one element longer.
  Slice chunk(int of, int i) const {
    int wrapped = i < 0 ? i + of : i;  // most are in range then
    if (wrapped < 0 || wrapped >= of) wrapped = ((i % of) + of) % of;
    const std::int64_t index = wrapped;
    const std::int64_t base = count / of;
    const std::int64_t longer = count % of;
    return {offset + index * base + (index < longer ? index : longer), base + (index < longer ? 1 : 0), buffer};
  }
  // Chunks first .. first + many - 1 of `of`, which are contiguous.
  Slice chunks(int of, int first, int many) const;
  bool operator==(const Slice&) const = default;
};

struct Step {
  enum class Kind : std::uint8_t { send, receive, receive_reduce, copy, reduce };
  Kind kind = Kind::send;
  Rank peer = no_rank;  // send and the receives
  Slice slice{};        // the data sent, or its destination
  Slice from{};         // copy and reduce: the local source
};

inline Step send(Rank to, Slice s) { return {Step::Kind::send, to, s, {}}; }
inline Step receive(Rank from, Slice s) { return {Step::Kind::receive, from, s, {}}; }
inline Step receive_reduce(Rank from, Slice s) { return {Step::Kind::receive_reduce, from, s, {}}; }
inline Step copy(Slice to, Slice from) { return {Step::Kind::copy, no_rank, to, from}; }
inline Step reduce_into(Slice to, Slice from) { return {Step::Kind::reduce, no_rank, to, from}; }

template <std::size_t N>
struct Round {
  std::array<Step, N> steps;
};
template <class... S>
Round<sizeof...(S)> round(S... steps) {
  return {{steps...}};
}

class [[nodiscard]] Plan {
 public:
  struct promise_type {
    std::span<const Step> steps{};
    Plan get_return_object() { return Plan(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }  // out of next(); the plan has ended then
    template <std::size_t N>
    std::suspend_always yield_value(const Round<N>& r) {
      steps = r.steps;
      return {};
    }
    std::suspend_always yield_value(std::span<const Step> r) {
      steps = r;
      return {};
    }
  };

  Plan(Plan&& o) noexcept : handle_(std::exchange(o.handle_, {})) {}
  Plan& operator=(Plan&& o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Plan() {
    if (handle_) handle_.destroy();
  }

  // Advances to the next round; false when the plan has ended. The span of steps() is valid until the next call.
  // Rethrows the exceptions of the plan's own code; next_round() (plan_room.h) turns them into errors.
  bool next() {
    handle_.resume();
    return !handle_.done();
  }
  std::span<const Step> steps() const { return handle_.promise().steps; }

 private:
  explicit Plan(std::coroutine_handle<promise_type> h) : handle_(h) {}
  std::coroutine_handle<promise_type> handle_;
};

// The facts an algorithm may use: its rank, the number of ranks and their placement, the amount of data.
struct PlanArgs {
  Rank rank = 0;
  int size = 1;
  std::int64_t count = 0;  // elements, as Collective::count
  Rank root = 0;
  const Splits* splits = nullptr;  // as Collective::splits
  int ranks_per_node = 1;          // rank r is on node r / ranks_per_node; 1 where that does not hold, or is not known

  // The input part that goes to rank i, and the output part that comes from rank i, in collectives of one part per rank
  // (i taken modulo size). Without splits every part has `count` elements.
  Slice input_part(int i) const;
  Slice output_part(int i) const;
  Slice whole() const { return {0, count, BufferId::output}; }
  Slice chunk(int i) const { return whole().chunk(size, i); }  // of the output, one for each rank
};

using PlanFunction = Plan (*)(PlanArgs);

}  // namespace pdsim
