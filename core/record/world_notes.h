// Notes on groups, stores, files, identities, results and faults (core/record/notes.h).
#pragma once

#include "core/base/enum_names.h"
#include "core/base/quantity.h"
#include "core/base/types.h"
#include "core/record/fault_kinds.h"
#include "core/record/note_field.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::notes {

enum class Waited : std::uint8_t { no, by_stream, yes };

enum class WarningKind : std::uint8_t {
  rank_ignored,           // by MPI
  world_size_ignored,     // by MPI: `number` was given
  check_reduction,        // is deprecated
  fewer_inputs,           // than other ranks, by at least `number`
  unused_search_in_vain,  // find_unused_parameters found none
};

// Nothing is known about the rank, not even that it ran. `unreadable`: it left a damaged record.
struct NoRecord {
  bool unreadable = false;
  static constexpr std::string_view kind = "no-record";
  static constexpr void fields(auto field) { field("unreadable", &NoRecord::unreadable); }
  bool operator==(const NoRecord&) const = default;
};

// The record is a dump of PyTorch, without the operations of the program. Times of the run count from `epoch_ns` since 1970;
// `written` is the time of its file on that clock, -1 where the file's time cannot be that of the dump. The rank's `messages` are
// not in it.
struct Dumped {
  std::string host;  // from the file's name; empty where it names none
  std::int64_t epoch_ns = 0, written_ns = -1;
  int messages = 0;
  static constexpr std::string_view kind = "dumped";
  static constexpr void fields(auto field) {
    field("host", &Dumped::host), field("epoch_ns", &Dumped::epoch_ns), field("written_ns", &Dumped::written_ns),
    field("messages", &Dumped::messages);
  }
  bool operator==(const Dumped&) const = default;
};

// A rank's own account of its progress in a group: the numbers of its newest call, and of the newest that was done; -1: none.
struct GroupProgress {
  std::string group;
  std::int64_t enqueued = -1, completed = -1;
  static constexpr std::string_view kind = "group-progress";
  static constexpr void fields(auto field) {
    field("group", &GroupProgress::group), field("enqueued", &GroupProgress::enqueued), field("completed", &GroupProgress::completed);
  }
  bool operator==(const GroupProgress&) const = default;
};

// Launch `now` read a value that `launch` had written; refused: it could not be overwritten.
struct StoreRead {
  std::string key;
  int launch = 0, now = 0;
  bool refused = false;
  static constexpr std::string_view kind = "store-read";
  static constexpr void fields(auto field) {
    field("key", &StoreRead::key), field("launch", &StoreRead::launch), field("now", &StoreRead::now),
    field("refused", &StoreRead::refused);
  }
  bool operator==(const StoreRead&) const = default;
};

struct StoreWrote {
  std::string key;
  int launch = 0;
  static constexpr std::string_view kind = "store-wrote";
  static constexpr void fields(auto field) { field("key", &StoreWrote::key), field("launch", &StoreWrote::launch); }
  bool operator==(const StoreWrote&) const = default;
};

// Created by the `number`-th call of new_group (from 1; 0: the group is known from elsewhere). `open_ended`: it has at least
// these ranks.
struct GroupMade {
  std::string group;
  int number = 0;
  std::vector<Rank> ranks;
  bool open_ended = false;
  static constexpr std::string_view kind = "group-made";
  static constexpr void fields(auto field) {
    field("group", &GroupMade::group), field("number", &GroupMade::number), field("ranks", &GroupMade::ranks),
    field("open_ended", &GroupMade::open_ended);
  }
  bool operator==(const GroupMade&) const = default;
};

// A rank outside the group called this.
struct NotAMember {
  std::string group, operation;
  static constexpr std::string_view kind = "not-a-member";
  static constexpr void fields(auto field) { field("group", &NotAMember::group), field("operation", &NotAMember::operation); }
  bool operator==(const NotAMember&) const = default;
};

// The program used the result of the call with this label.
struct ResultRead {
  std::string label;
  Waited waited = Waited::no;
  bool member = true;
  static constexpr std::string_view kind = "result-read";
  static constexpr void fields(auto field) {
    field("label", &ResultRead::label), field("waited", &ResultRead::waited), field("member", &ResultRead::member);
  }
  bool operator==(const ResultRead&) const = default;
};

// The program overwrote the tensor of the call with this label.
struct BufferWritten {
  std::string label;
  Waited waited = Waited::no;
  static constexpr std::string_view kind = "buffer-written";
  static constexpr void fields(auto field) { field("label", &BufferWritten::label), field("waited", &BufferWritten::waited); }
  bool operator==(const BufferWritten&) const = default;
};

// The GPU of a group's first collective.
struct DeviceUsed {
  int node = 0, device = 0;
  static constexpr std::string_view kind = "device-used";
  static constexpr void fields(auto field) { field("node", &DeviceUsed::node), field("device", &DeviceUsed::device); }
  bool operator==(const DeviceUsed&) const = default;
};

// A tensor that is not contiguous.
struct TensorPassed {
  std::int64_t stride = 1;
  static constexpr std::string_view kind = "tensor-passed";
  static constexpr void fields(auto field) { field("stride", &TensorPassed::stride); }
  bool operator==(const TensorPassed&) const = default;
};

// The interfaces in GLOO_SOCKET_IFNAME.
struct InterfacesUsed {
  std::int64_t count = 1;
  static constexpr std::string_view kind = "interfaces-used";
  static constexpr void fields(auto field) { field("count", &InterfacesUsed::count); }
  bool operator==(const InterfacesUsed&) const = default;
};

// The world size that init was given, and the number of ranks that were started.
struct RanksExpected {
  std::int64_t count = 0, started = 0;
  static constexpr std::string_view kind = "ranks-expected";
  static constexpr void fields(auto field) { field("count", &RanksExpected::count), field("started", &RanksExpected::started); }
  bool operator==(const RanksExpected&) const = default;
};

// A mere warning of PyTorch or the library.
struct Warning {
  WarningKind about = WarningKind::rank_ignored;
  std::int64_t number = 0;
  static constexpr std::string_view kind = "warning";
  static constexpr void fields(auto field) { field("about", &Warning::about), field("number", &Warning::number); }
  bool operator==(const Warning&) const = default;
};

struct Fault {
  FaultKind fault = FaultKind::crash;
  std::string before;  // the operation it struck before; empty: by time
  Rank to = no_rank;   // for messages
  Time late{};
  bool by_signal = false;
  static constexpr std::string_view kind = "fault";
  static constexpr void fields(auto field) {
    field("fault", &Fault::fault), field("before", &Fault::before), field("to", &Fault::to), field("late_ps", &Fault::late),
    field("by_signal", &Fault::by_signal);
  }
  bool operator==(const Fault&) const = default;
};

// The library whose semantics a group has, where the world's own name does not say.
struct BackendUsed {
  std::string backend;
  std::string group;  // empty: all groups that no other note names
  static constexpr std::string_view kind = "backend-used";
  static constexpr void fields(auto field) { field("backend", &BackendUsed::backend), field("group", &BackendUsed::group); }
  bool operator==(const BackendUsed&) const = default;
};

// Links lose messages, and the record does not say which.
struct LossyLinks {
  static constexpr std::string_view kind = "lossy-links";
  static constexpr void fields(auto) {}
  bool operator==(const LossyLinks&) const = default;
};

// The process did not hand over its record.
struct NoAnswer {
  bool stopped = false;
  static constexpr std::string_view kind = "no-answer";
  static constexpr void fields(auto field) { field("stopped", &NoAnswer::stopped); }
  bool operator==(const NoAnswer&) const = default;
};

// A second thread of the rank delays this call until the first thread's is over: pdsim carries one at a time.
struct ThreadHeldBack {
  std::string call;
  static constexpr std::string_view kind = "thread-held-back";
  static constexpr void fields(auto field) { field("call", &ThreadHeldBack::call); }
  bool operator==(const ThreadHeldBack&) const = default;
};

// Calls and notes that were being written when the process ended.
struct HalfWritten {
  std::int64_t count = 0;
  static constexpr std::string_view kind = "half-written";
  static constexpr void fields(auto field) { field("count", &HalfWritten::count); }
  bool operator==(const HalfWritten&) const = default;
};

// The rank said at init that it is `rank` of `of`.
struct IdentityClaimed {
  Rank rank = 0;
  int of = 0;
  std::int64_t port = 0;
  Rank taken_by = no_rank;  // the rank that has already claimed it
  bool local = false;       // it is the rank's number within its node
  static constexpr std::string_view kind = "identity-claimed";
  static constexpr void fields(auto field) {
    field("rank", &IdentityClaimed::rank), field("of", &IdentityClaimed::of), field("port", &IdentityClaimed::port),
    field("taken_by", &IdentityClaimed::taken_by), field("local", &IdentityClaimed::local);
  }
  bool operator==(const IdentityClaimed&) const = default;
};

// init's store file.
struct StoreOpened {
  std::string path;
  static constexpr std::string_view kind = "store-opened";
  static constexpr void fields(auto field) { field("path", &StoreOpened::path); }
  bool operator==(const StoreOpened&) const = default;
};

// The rank tried to listen there.
struct PortTaken {
  std::int64_t port = 0;
  Rank held_by = no_rank;
  static constexpr std::string_view kind = "port-taken";
  static constexpr void fields(auto field) { field("port", &PortTaken::port), field("held_by", &PortTaken::held_by); }
  bool operator==(const PortTaken&) const = default;
};

// A variable missing from the environment, for env://.
struct VariableMissing {
  std::string variable;
  static constexpr std::string_view kind = "variable-missing";
  static constexpr void fields(auto field) { field("variable", &VariableMissing::variable); }
  bool operator==(const VariableMissing&) const = default;
};

// The GPU that a first barrier guessed, and the one the rank works on.
struct BarrierDevice {
  int node = 0, guess = 0, own = 0;
  static constexpr std::string_view kind = "barrier-device";
  static constexpr void fields(auto field) {
    field("node", &BarrierDevice::node), field("guess", &BarrierDevice::guess), field("own", &BarrierDevice::own);
  }
  bool operator==(const BarrierDevice&) const = default;
};

// A checkpoint whose writing takes time.
struct FileBegun {
  std::string path;
  static constexpr std::string_view kind = "file-begun";
  static constexpr void fields(auto field) { field("path", &FileBegun::path); }
  bool operator==(const FileBegun&) const = default;
};

struct FileWritten {
  std::string path;
  static constexpr std::string_view kind = "file-written";
  static constexpr void fields(auto field) { field("path", &FileWritten::path); }
  bool operator==(const FileWritten&) const = default;
};

struct FileRead {
  std::string path;
  bool whole = true;
  static constexpr std::string_view kind = "file-read";
  static constexpr void fields(auto field) { field("path", &FileRead::path), field("whole", &FileRead::whole); }
  bool operator==(const FileRead&) const = default;
};

// A reduce whose result this rank does not receive.
struct ResultElsewhere {
  std::string label;
  Rank root = no_rank;
  static constexpr std::string_view kind = "result-elsewhere";
  static constexpr void fields(auto field) { field("label", &ResultElsewhere::label), field("root", &ResultElsewhere::root); }
  bool operator==(const ResultElsewhere&) const = default;
};

// The call was given a copy, and the result stays there.
struct CopyPassed {
  std::string label;
  static constexpr std::string_view kind = "copy-passed";
  static constexpr void fields(auto field) { field("label", &CopyPassed::label); }
  bool operator==(const CopyPassed&) const = default;
};

// The cases of a check of a collective (core/measure) on this rank, with one element type and operation.
struct CasesChecked {
  // An element that was wrong, or, with element -1, an input that was written. Bits as in the tensor, the lowest first.
  struct Wrong {
    Rank rank = no_rank;
    std::int64_t count = 0;  // of the call
    Rank root = 0;
    bool in_place = false;
    std::int64_t element = 0, expected_bits = 0, got_bits = 0;
    static constexpr void fields(auto field) {
      field("rank", &Wrong::rank), field("count", &Wrong::count), field("root", &Wrong::root),
      field("in_place", &Wrong::in_place), field("element", &Wrong::element),
      field("expected_bits", &Wrong::expected_bits), field("got_bits", &Wrong::got_bits);
    }
    bool operator==(const Wrong&) const = default;
  };
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  std::int64_t cases = 0, wrong = 0, max_ulp = 0, skipped = 0;
  std::vector<Wrong> first;  // at most one
  static constexpr std::string_view kind = "cases-checked";
  static constexpr void fields(auto field) {
    field("dtype", &CasesChecked::dtype), field("op", &CasesChecked::op), field("cases", &CasesChecked::cases),
    field("wrong", &CasesChecked::wrong), field("max_ulp", &CasesChecked::max_ulp),
    field("skipped", &CasesChecked::skipped), field("first", &CasesChecked::first);
  }
  bool operator==(const CasesChecked&) const = default;
};

// A benchmark or check left out so many cases, for this reason (core/measure).
struct CasesSkipped {
  std::string reason;
  std::int64_t cases = 0;
  static constexpr std::string_view kind = "cases-skipped";
  static constexpr void fields(auto field) { field("reason", &CasesSkipped::reason), field("cases", &CasesSkipped::cases); }
  bool operator==(const CasesSkipped&) const = default;
};

}  // namespace pdsim::notes

namespace pdsim {

template <>
inline constexpr auto enum_rows<notes::Waited> = std::to_array<EnumRow<notes::Waited>>({
    {notes::Waited::no, "no"},
    {notes::Waited::by_stream, "by the stream"},
    {notes::Waited::yes, "yes"},
});
template <>
inline constexpr auto enum_rows<notes::WarningKind> = std::to_array<EnumRow<notes::WarningKind>>({
    {notes::WarningKind::rank_ignored, "rank ignored"},
    {notes::WarningKind::world_size_ignored, "world size ignored"},
    {notes::WarningKind::check_reduction, "check_reduction"},
    {notes::WarningKind::fewer_inputs, "fewer inputs"},
    {notes::WarningKind::unused_search_in_vain, "unused search in vain"},
});

}  // namespace pdsim
