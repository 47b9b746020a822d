// One rank's dump of PyTorch's Flight Recorder, as typed values.
//
//   forms    the pickle that PyTorch writes per rank, and its JSON (versions 2.0 and later of the dump; older names of fields
//            are understood)
//   lenient  an absent member keeps its default; an entry or group with a member of another type, or a number beyond its range,
//            is left out, with a sentence that names both
//   texts    printable, one line each (core/base/printable.h)
//   limits   most_values numbers and texts, however often the dump repeats the same ones, except for stacks that it shares
#pragma once

#include "core/base/left_out.h"
#include "core/base/result.h"
#include "core/base/shared_value.h"
#include "core/base/types.h"
#include "scenarios/records/pytorch/members.h"
#include "scenarios/records/pytorch/forms/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::pytorch {

struct Frame {
  std::string name;
  std::string file;
  std::int64_t line = 0;
  bool operator==(const Frame&) const = default;
};

enum class EntryState : std::uint8_t { scheduled, started, completed };
constexpr std::string_view entry_state_names[] = {"scheduled", "started", "completed"};

using TypeNames = SharedValue<std::vector<std::string>>;  // Float, Long ...; most calls of a job share them

struct Entry {
  std::int64_t record_id = -1;  // counts all entries of this rank, from 0; those before the first were overwritten
  std::int64_t pg_id = 0;       // of this rank alone
  std::string group, group_desc;
  std::int64_t collective_seq = -1;  // of the group; calls of one coalesced batch share it
  std::int64_t p2p_seq = -1;
  std::int64_t op_id = -1;
  std::string name;  // nccl:all_reduce, nccl:send 0->1 (ranks of the group)
  std::int64_t created_ns = 0, started_ns = 0, completed_ns = 0;  // since 1970; 0: not known
  Sizes input_sizes, output_sizes;
  TypeNames input_dtypes, output_dtypes;
  EntryState state = EntryState::scheduled;
  bool is_p2p = false;
  bool retired = false;
  bool failed = false;  // proven by the dumps of others (failed_calls.h)
  std::int64_t timeout_ms = 0;
  SharedValue<std::vector<Frame>> frames;  // innermost first; calls from one place share them
  bool operator==(const Entry&) const = default;
};

struct Group {
  std::string name, desc;
  std::vector<std::int64_t> ranks;  // global ones, sorted; empty when unknown
  bool operator==(const Group&) const = default;
};

struct GroupStatus {
  std::string pg_id;
  std::int64_t enqueued = -1, started = -1, completed = -1;  // the newest sequence number so far
  bool operator==(const GroupStatus&) const = default;
};

struct Dump {
  Rank rank = 0;                           // not in the dump itself: taken from its file's name
  std::string host;                        // likewise
  std::string file;                        // the path of that file; empty: none
  std::optional<std::int64_t> written_ns;  // when the file was written, since 1970
  std::string version;
  std::vector<Group> groups;
  std::vector<GroupStatus> status;
  std::vector<Entry> entries;  // oldest first
  LeftOut left_out;
};

// Whether a file that begins like this can be such a dump; cheap, and true for other pickles and JSON as well.
bool looks_like_dump(std::string_view text);
// Whether the tree is that of a dump at all, before its members are read.
bool is_dump(const Tree& tree);
// input_invalid, saying what is wrong and where; also for a dump none of whose entries can be read.
Result<Tree> read_tree(std::string text);
Result<Dump> dump_of(const Tree& tree, Rank rank);

}  // namespace pdsim::scenarios::pytorch
