// The flight recorder: everything one rank called, and its decisions. The diagnosis reads nothing else.
//
//   Call    something with a beginning and (perhaps) an end: an operation of the program, a collective, a store call. A
//           call that never finished is the evidence of a hang.
//   Note    something that happened at one moment: a path taken, a gradient that is missing, a buffer written in place.
//   memory  a ring: the newest `capacity` calls and notes are kept, and the numbers of dropped ones
//   threads every method may be called from any thread (a watchdog reads the log of a rank that hangs)
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"
#include "core/base/types.h"
#include "core/record/call_details.h"
#include "core/record/notes.h"
#include "core/record/purpose.h"
#include "core/record/site.h"
#include "core/runtime/runtime.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pdsim {

enum class Layer : std::uint8_t { program, collective, point_to_point, store, rpc };
enum class CallState : std::uint8_t { issued, started, completed, timed_out, failed };

template <>
inline constexpr auto enum_rows<Layer> = std::to_array<EnumRow<Layer>>({
    {Layer::program, "program"},
    {Layer::collective, "collective"},
    {Layer::point_to_point, "point_to_point"},
    {Layer::store, "store"},
    {Layer::rpc, "rpc"},
});
template <>
inline constexpr auto enum_rows<CallState> = std::to_array<EnumRow<CallState>>({
    {CallState::issued, "issued"},
    {CallState::started, "started"},
    {CallState::completed, "completed"},
    {CallState::timed_out, "timed_out"},
    {CallState::failed, "failed"},
});

struct Call {
  std::int64_t id = 0;       // per rank, from 0, in order of issue
  std::int64_t parent = -1;  // the program call that issued it
  Layer layer = Layer::program;
  std::string name;   // all_reduce, barrier, forward, backward, store_get ...
  std::string group;  // collectives: the group's name
  Seq seq = -1;       // collectives: the group's sequence number, from 1 as in PyTorch
  Purpose purpose;
  CallState state = CallState::issued;
  Time issued{}, started{}, finished{};
  Site site;
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  std::int64_t count = -1;  // elements
  Rank root = no_rank;      // global rank
  Rank peer = no_rank;      // global rank; any_source for a recv from any rank
  bool async = false;
  SharedValue<CallDetails> details;
  Code error = Code::internal;  // when timed_out or failed
  std::string message;
};

// Whether it has not ended: neither completed nor failed.
inline bool is_unfinished(const Call& call) { return call.state == CallState::issued || call.state == CallState::started; }

// Whether a server thread of RPC serves or issued it, not the rank's program.
inline bool is_of_server_thread(const Call& call) {
  return call.details && (call.details->rpc.side == RpcSide::callee || call.details->rpc.server >= 0);
}

struct Note {
  std::int64_t call = -1;  // the program call inside which it happened
  Time at{};
  Site site;
  NoteBody body;

  template <class T>
  bool is() const {
    return std::holds_alternative<T>(body);
  }
  // The note as a T, if its body is one.
  template <class T>
  const T& as() const {
    return std::get<T>(body);
  }
};

enum class RankEnd : std::uint8_t { running, returned, raised, died };

template <>
inline constexpr auto enum_rows<RankEnd> = std::to_array<EnumRow<RankEnd>>({
    {RankEnd::running, "running"},
    {RankEnd::returned, "returned"},
    {RankEnd::raised, "raised"},
    {RankEnd::died, "died"},
});

// A rank's whole record, as the diagnosis reads it.
struct RankLog {
  Rank rank = 0;
  int launch = 1;  // 2 and up after relaunches
  std::vector<Call> calls;
  std::vector<Note> notes;
  std::int64_t dropped = 0;  // calls and notes overwritten in the ring
  RankEnd end = RankEnd::running;
  Time ended{};
  Error error;  // when raised or died
  Site error_site;
};

class RecordRing;

// The newest of many items, from the oldest one kept. Like std::deque, but small when there are few: in blocks, of which the
// first grows, so that nothing moves again later, and the memory of dropped items is reused for the next ones.
template <class T>
class Newest {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return blocks_[(first_ + i) / per_block][(first_ + i) % per_block]; }
  T& back() { return blocks_.back().back(); }
  void push_back(T&& item) { emplace_back() = std::move(item); }
  T& emplace_back() {
    if (blocks_.empty() || blocks_.back().size() == per_block) add_block();
    ++size_;
    return blocks_.back().emplace_back();
  }
  // Allocates the memory of this many now, and touches it.
  void reserve(std::size_t count) {
    for (std::size_t i = 0; i < count; i += per_block) spare_.emplace_back(per_block).clear();
  }
  void drop_oldest() {
    --size_;
    if (++first_ % per_block != 0) return;
    const std::size_t dropped = first_ / per_block;
    blocks_[dropped - 1].clear();
    spare_.push_back(std::move(blocks_[dropped - 1]));
    if (2 * dropped < blocks_.size()) return;
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(dropped));
    first_ = 0;
  }
  std::vector<T> all() const {
    std::vector<T> items;
    items.reserve(size_);
    for (std::size_t i = 0; i < size_; ++i)
      items.push_back(blocks_[(first_ + i) / per_block][(first_ + i) % per_block]);
    return items;
  }
  std::vector<T> take_all() {
    std::vector<T> items;
    if (blocks_.size() == 1 && first_ == 0) {
      items = std::move(blocks_.front());
    } else {
      items.reserve(size_);
      for (std::size_t i = 0; i < size_; ++i) items.push_back(std::move((*this)[i]));
    }
    *this = {};
    return items;
  }

 private:
  static constexpr std::size_t per_block = 64;
  void add_block() {
    if (!spare_.empty()) {
      blocks_.push_back(std::move(spare_.back()));
      spare_.pop_back();
      return;
    }
    blocks_.emplace_back();
    if (blocks_.size() > 1) blocks_.back().reserve(per_block);
  }

  std::vector<std::vector<T>> blocks_, spare_;  // spare ones are empty, and have memory for a block
  std::size_t first_ = 0, size_ = 0;
};

class FlightRecorder {
 public:
  FlightRecorder(Rank rank, const Runtime& clock, std::size_t capacity = 1 << 16);

  // Allocates the memory of the next `calls` now: the first call in each of the system's pages costs a microsecond.
  void reserve(std::size_t calls);
  // Begins a call now; id, parent, issued and (when empty) site are filled in.
  std::int64_t begin(Call&& call);
  // The same; `fill(Call&)` fills in the call where it is stored. It must not call the recorder, whose lock is held.
  template <class Fill>
  std::int64_t begin_filled(const Fill& fill) {
    const std::lock_guard lock(mutex_);
    fill(calls_.emplace_back());
    return begun();
  }
  void started(std::int64_t id);
  // The same, on this server thread of RPC.
  void served_by(std::int64_t id, int server);
  void finish(std::int64_t id, const Status& status);
  void note(NoteBody body);
  // Adds facts that become known later: about that call, and about the moment when it ended.
  void note_about(std::int64_t call, NoteBody body);

  // Program calls nest: everything recorded between enter and leave has this call as its parent.
  std::int64_t enter(std::string_view name);
  void leave(std::int64_t id, const Status& status);
  void set_site(Site site);
  // Applies to the current site, until the next set_site.
  void set_phase(Phase phase);
  Site site() const;

  Time now() const { return clock_.now(); }
  void set_launch(int launch);
  // Mirrors everything recorded from now on, for readers once the rank can no longer report; null stops it.
  void mirror(RecordRing* ring);
  void ended(RankEnd how, const Error& error = {});
  RankLog log() const;
  RankLog take_log();  // the same, and leaves the record empty
  // Grows with everything recorded: a watchdog that sees it unchanged knows that the rank made no progress.
  std::int64_t progress() const;

 private:
  void add(Note note);   // with the lock held
  std::int64_t begun();  // the newest call; with the lock held
  Call* find(std::int64_t id);
  Rank rank_;
  const Runtime& clock_;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  RankLog ending() const;
  Newest<Call> calls_;
  Newest<Note> notes_;
  std::vector<std::int64_t> open_;
  std::int64_t next_id_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t progress_ = 0;
  Site site_;
  int launch_ = 1;
  RecordRing* ring_ = nullptr;
  std::int64_t notes_made_ = 0;
  RankEnd end_ = RankEnd::running;
  Time ended_{};
  Error error_;
  Site error_site_;
};

}  // namespace pdsim
