// A rank's newest calls and notes in memory that outlives the rank: the launcher reads it when the rank can no longer report,
// because it was killed, aborted, or is stopped.
//
//   layout   a header, then slots of one size for calls and for notes; call n is in slot n modulo their number, and is written
//            again in place when it starts and when it ends
//   bounded  the oldest are overwritten; the counts in the header say how many
//   writer   one at a time, in one process (the flight recorder writes under its own lock); never waits, never allocates, makes
//            no system call. A call costs one write of 232 bytes, up to 384 with attributes, and two of 32; figures:
//            docs/benchmarks.md
//   reader   any process, at any time. A slot's counter is odd while it is written and differs before and after: a reader that
//            sees this retries while the writer may live, and finally counts the slot as torn and leaves it out.
//   texts    are cut: names and groups at 31 bytes, details of purposes at 42, operations at 23; attributes have 152 bytes, and
//            those that do not fit are left out whole
#pragma once

#include "core/base/left_out.h"
#include "core/base/result.h"
#include "core/record/flight_record.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pdsim {

struct RingShape {
  std::uint32_t calls = 4096;  // slots; at least 1
  std::uint32_t notes = 512;
};

class RecordRing {
 public:
  // The shape that fills this much memory, with eight calls to a note.
  static RingShape shape_of(std::size_t bytes);
  // Bytes of memory that a ring of this shape needs.
  static std::size_t bytes_for(RingShape shape);
  // Lays the ring out in `memory`: zeroed, as the system provides it, aligned to 8 bytes, of at least bytes_for(shape). It must
  // outlive the ring.
  RecordRing(std::span<std::byte> memory, RingShape shape, Rank rank, int launch);

  // Call ids count from 0; a call that was overwritten meanwhile is not written again.
  void write(const Call& call);
  // Writes the fields that change when a call starts and ends: state, error and times. A few words.
  void update(const Call& call);
  // `number` counts notes from 0.
  void write(std::int64_t number, const Note& note);

 private:
  std::uint64_t* slot_of(std::int64_t call) const;

  std::uint64_t* words_;  // of the header; slots follow
  RingShape shape_;
};

// How the rank's process ended, as the process that started it saw it.
struct RingEnd {
  int signal = 0;  // 0: it exited
  int exit_status = 0;
  bool stopped = false;  // it was found stopped (SIGSTOP, a debugger), and killed for that
};
// Marks memory that holds a ring; does nothing to other memory. Call it after the process has ended or was found stopped.
void mark_end(std::span<std::byte> memory, const RingEnd& end);

struct RingRecord {
  RankLog log;            // `dropped` counts the overwritten ones; the rank's end is not in it
  std::int64_t torn = 0;  // slots that were being written
  LeftOut left_out;       // invalid calls and notes (core/record/record_check.h)
  std::optional<RingEnd> end;
};
// Grows with every write, so a watcher sees whether the rank makes progress; 0 without a ring. Cost: reads one word of each slot.
std::uint64_t ring_progress(std::span<const std::byte> memory);

// input_invalid when the memory holds no ring (the process did not get that far), a ring of another version, or one with an
// impossible header. Texts are returned as one printable line each.
Result<RingRecord> read_record_ring(std::span<const std::byte> memory);

}  // namespace pdsim
