#include "core/record/record_ring.h"

#include "core/record/packed_fields.h"
#include "core/record/record_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

namespace pdsim {
namespace {

constexpr std::uint64_t magic = 0x676e697264736470;  // "pdsdring", little endian
constexpr std::uint64_t version = 2;

enum HeaderWord : std::size_t {
  word_magic,
  word_version,
  word_rank,
  word_launch,  // in the lower half; in the upper one how the process ended
  word_call_slots,
  word_note_slots,
  word_calls,  // written so far
  word_notes,
  header_words = 8
};

constexpr std::size_t attribute_bytes = 152;

// One word: the fields that change while a call runs, and their neighbours.
struct Progress {
  std::int32_t peer;
  std::uint8_t state, error, layer, dtype;
};

// The contents of a slot after its counter; stored word by word, up to the end of its attributes.
struct Slot {
  std::int64_t number, parent, seq, issued, started, finished, count;
  Progress progress;
  std::int32_t step, line, column, root;
  std::int32_t purpose_number;
  std::uint8_t op, async, purpose, phase;
  std::array<char, 32> name, group;
  std::array<char, 44> purpose_detail;
  std::array<char, 24> site;
  std::array<char, attribute_bytes> attributes;  // packed_fields.h, of the note; of a call its details and its origin
  std::array<char, 4> unused;
};
static_assert(sizeof(Slot) == 376 && std::is_trivially_copyable_v<Slot>);
constexpr std::size_t payload_words = sizeof(Slot) / 8;
constexpr std::size_t slot_words = payload_words + 1;  // the counter is first
using Words = std::array<std::uint64_t, payload_words>;

// Cleared piece by piece: clearing a whole slot, and copying it, is a slow instruction of the processor.
template <std::size_t N>
void put(std::array<char, N>& to, std::string_view text) {
  to = {};
  std::memcpy(to.data(), text.data(), std::min(text.size(), N - 1));
}

template <std::size_t N>
std::string text_of(const std::array<char, N>& from) {
  return {from.data(), static_cast<std::size_t>(std::find(from.begin(), from.end() - 1, '\0') - from.begin())};
}

// Packs into the room that a slot has: what belongs to a call or note, and its origin. How many bytes of it count.
template <class T>
std::size_t put_attributes(std::array<char, attribute_bytes>& to, const T& of, const SharedValue<CallOrigin>& origin) {
  std::size_t size = pack_fields(of, std::span(to).first(to.size() - 1));
  if (origin)
    size += pack_fields(*origin, std::span(to).subspan(size));
  else
    to[size++] = '\0';
  std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(size), std::min<std::size_t>(8, to.size() - size), '\0');
  return size;
}

template <class T>
void get_attributes(const std::array<char, attribute_bytes>& from, T& of, SharedValue<CallOrigin>& origin) {
  const std::size_t size = unpack_fields(std::span(from), of);
  CallOrigin its_origin;
  unpack_fields(std::span(from).subspan(size), its_origin);
  if (its_origin != CallOrigin{}) origin = std::move(its_origin);
}

void put_site(Slot& slot, const Site& site) {
  slot.step = site.step;
  slot.line = site.line;
  slot.column = site.column;
  slot.phase = static_cast<std::uint8_t>(site.phase);
  put(slot.site, site.op);
}

std::atomic_ref<std::uint64_t> atomic(std::uint64_t& word) { return std::atomic_ref<std::uint64_t>(word); }

void store(std::uint64_t& word, std::uint64_t value) { atomic(word).store(value, std::memory_order_relaxed); }

// `put_words` stores into the slot while its counter says so.
template <class PutWords>
void change_slot(std::uint64_t* slot, PutWords put_words) {
  const std::uint64_t odd = atomic(slot[0]).load(std::memory_order_relaxed) | 1;
  store(slot[0], odd);
  std::atomic_thread_fence(std::memory_order_release);
  put_words();
  atomic(slot[0]).store(odd + 1, std::memory_order_release);
}

// `attributes`: how many bytes of those count. Nobody reads what an earlier, longer text left behind the end of this one.
void write_slot(std::uint64_t* slot, const Slot& content, std::size_t attributes) {
  const auto* from = reinterpret_cast<const std::byte*>(&content);
  const std::size_t words = (offsetof(Slot, attributes) + attributes + 7) / 8;
  change_slot(slot, [&] {
    for (std::size_t i = 0; i < words; ++i) {
      std::uint64_t word;
      std::memcpy(&word, from + 8 * i, sizeof word);
      store(slot[1 + i], word);
    }
  });
}

Progress progress_of(const Call& call) {
  return {call.peer, static_cast<std::uint8_t>(call.state), static_cast<std::uint8_t>(call.error),
          static_cast<std::uint8_t>(call.layer), static_cast<std::uint8_t>(call.dtype)};
}

// Where a member lies in a slot, the counter counted.
#define PDSIM_WORD_OF(member) (1 + offsetof(Slot, member) / 8)

// Memory that another process writes: loads only, through a pointer that atomic_ref accepts.
std::uint64_t load(const std::uint64_t* word, std::memory_order order) {
  return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t*>(word)).load(order);
}

enum class Seen : std::uint8_t { nothing, whole, torn };

Seen read_slot(const std::uint64_t* slot, Slot& content) {
  constexpr int most_tries = 100;
  for (int i = 0; i < most_tries; ++i) {
    const std::uint64_t before = load(slot, std::memory_order_acquire);
    if (before == 0) return Seen::nothing;
    if ((before & 1) != 0) continue;
    Words words;
    for (std::size_t w = 0; w < words.size(); ++w) words[w] = load(slot + 1 + w, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (load(slot, std::memory_order_relaxed) != before) continue;
    std::memcpy(&content, words.data(), sizeof content);
    return Seen::whole;
  }
  return Seen::torn;
}

Site site_of(const Slot& slot) {
  return {text_of(slot.site), slot.step, slot.line, slot.column, static_cast<Phase>(slot.phase), {}};
}

// A process that went wild may have written anything.
bool is_sane(const Slot& slot) {
  const Progress& p = slot.progress;
  return slot.number >= 0 && p.layer <= static_cast<std::uint8_t>(Layer::rpc) &&
         p.state <= static_cast<std::uint8_t>(CallState::failed) && p.dtype < dtypes.size() &&
         slot.op < reduce_op_names.size() && !name_of(static_cast<PurposeKind>(slot.purpose)).empty() &&
         !name_of(static_cast<Phase>(slot.phase)).empty() && p.error < error_table.size();
}

Call call_of(const Slot& slot) {
  Call call;
  call.id = slot.number;
  call.parent = slot.parent;
  call.layer = static_cast<Layer>(slot.progress.layer);
  call.name = text_of(slot.name);
  call.group = text_of(slot.group);
  call.seq = slot.seq;
  call.purpose = {static_cast<PurposeKind>(slot.purpose), slot.purpose_number, text_of(slot.purpose_detail)};
  call.state = static_cast<CallState>(slot.progress.state);
  call.issued = {slot.issued};
  call.started = {slot.started};
  call.finished = {slot.finished};
  call.site = site_of(slot);
  call.dtype = static_cast<DType>(slot.progress.dtype);
  call.op = static_cast<ReduceOp>(slot.op);
  call.count = slot.count;
  call.root = slot.root;
  call.peer = slot.progress.peer;
  call.async = slot.async != 0;
  CallDetails details;
  get_attributes(slot.attributes, details, call.site.origin);
  if (details != CallDetails{}) call.details = std::move(details);
  call.error = static_cast<Code>(slot.progress.error);
  return call;
}

Note note_of(const Slot& slot) {
  Note note{slot.parent, {slot.issued}, site_of(slot), note_of_kind(text_of(slot.name)).value_or(NoteBody{})};
  std::visit([&](auto& body) { get_attributes(slot.attributes, body, note.site.origin); }, note.body);
  return note;
}

// A call or note that may be read, texts made printable; else why not.
template <class Item>
std::optional<std::string> checked(const Slot& slot, Item& item) {
  if (!is_sane(slot)) return "its slot holds a layer, state, type or error that there is none of";
  if constexpr (std::is_same_v<Item, Call>) {
    item = call_of(slot);
  } else {
    if (!note_of_kind(text_of(slot.name))) return "it is of a kind that this pdsim does not know";
    item = note_of(slot);
  }
  make_printable(item);
  return problem_of(item);
}

// The slots of one kind, oldest first; `word` is what they hold.
template <class Item>
void read_slots(const std::uint64_t* slots, std::uint64_t size, std::uint64_t written, std::string_view word,
                std::vector<Item>& items, RingRecord& record) {
  const std::uint64_t first = written > size ? written - size : 0;
  for (std::uint64_t n = first; n < written; ++n) {
    Slot content;
    const Seen seen = read_slot(slots + (n % size) * slot_words, content);
    if (seen == Seen::nothing) continue;
    if (seen == Seen::torn) {
      ++record.torn;
      continue;
    }
    Item item;
    if (const auto problem = checked(content, item))
      record.left_out.add(fmt::format("{} {}: {}", word, n, *problem));
    else if (static_cast<std::uint64_t>(content.number) == n)  // else overwritten while we read
      items.push_back(std::move(item));
  }
}

}  // namespace

std::size_t RecordRing::bytes_for(RingShape shape) {
  return 8 * (header_words + slot_words * (std::size_t{shape.calls} + shape.notes));
}

RingShape RecordRing::shape_of(std::size_t bytes) {
  const std::size_t words = std::max<std::size_t>(bytes / 8, header_words + 2 * slot_words);
  const std::size_t slots = (words - header_words) / slot_words;
  const auto notes = static_cast<std::uint32_t>(std::max<std::size_t>(slots / 9, 1));
  return {static_cast<std::uint32_t>(slots) - notes, notes};
}

RecordRing::RecordRing(std::span<std::byte> memory, RingShape shape, Rank rank, int launch)
    : words_(reinterpret_cast<std::uint64_t*>(memory.data())), shape_(shape) {
  PDSIM_CHECK(shape.calls > 0 && shape.notes > 0 && memory.size() >= bytes_for(shape),
              "memory for a ring of this shape");
  PDSIM_CHECK(reinterpret_cast<std::uintptr_t>(memory.data()) % 8 == 0, "a ring lies on a multiple of 8 bytes");
  words_[word_version] = version;
  words_[word_rank] = static_cast<std::uint64_t>(rank);
  words_[word_launch] = static_cast<std::uint64_t>(launch);
  words_[word_call_slots] = shape.calls;
  words_[word_note_slots] = shape.notes;
  atomic(words_[word_magic]).store(magic, std::memory_order_release);
}

// Where the number of slots is a power of two, as it is by default, without a division.
std::uint64_t* RecordRing::slot_of(std::int64_t call) const {
  const auto id = static_cast<std::uint64_t>(call);
  const std::uint64_t slots = shape_.calls;
  return words_ + header_words + ((slots & (slots - 1)) == 0 ? id & (slots - 1) : id % slots) * slot_words;
}

void RecordRing::write(const Call& call) {
  const auto id = static_cast<std::uint64_t>(call.id);
  const std::uint64_t written = atomic(words_[word_calls]).load(std::memory_order_relaxed);
  if (id + shape_.calls < written) return;
  Slot slot;  // NOLINT: each member is set below
  slot.number = call.id;
  slot.parent = call.parent;
  slot.seq = call.seq;
  slot.issued = call.issued.ps;
  slot.started = call.started.ps;
  slot.finished = call.finished.ps;
  slot.count = call.count;
  slot.root = call.root;
  slot.progress = progress_of(call);
  slot.op = static_cast<std::uint8_t>(call.op);
  slot.async = call.async ? 1 : 0;
  put_site(slot, call.site);
  put(slot.name, call.name);
  put(slot.group, call.group);
  slot.purpose = static_cast<std::uint8_t>(call.purpose.kind);
  slot.purpose_number = static_cast<std::int32_t>(std::min<std::int64_t>(call.purpose.number, INT32_MAX));
  put(slot.purpose_detail, call.purpose.detail);
  const std::size_t attributes = put_attributes(slot.attributes, *call.details, call.site.origin);
  write_slot(slot_of(call.id), slot, attributes);
  if (id >= written) atomic(words_[word_calls]).store(id + 1, std::memory_order_release);
}

void RecordRing::update(const Call& call) {
  std::uint64_t* slot = slot_of(call.id);
  if (atomic(slot[PDSIM_WORD_OF(number)]).load(std::memory_order_relaxed) != static_cast<std::uint64_t>(call.id))
    return;
  change_slot(slot, [&] {
    store(slot[PDSIM_WORD_OF(started)], static_cast<std::uint64_t>(call.started.ps));
    store(slot[PDSIM_WORD_OF(finished)], static_cast<std::uint64_t>(call.finished.ps));
    store(slot[PDSIM_WORD_OF(progress)], std::bit_cast<std::uint64_t>(progress_of(call)));
  });
}

void RecordRing::write(std::int64_t number, const Note& note) {
  const auto n = static_cast<std::uint64_t>(number);
  Slot slot{};
  slot.number = number;
  slot.parent = note.call;
  slot.issued = note.at.ps;
  put_site(slot, note.site);
  put(slot.name, kind_of(note.body));
  const std::size_t attributes =
      std::visit([&](const auto& body) { return put_attributes(slot.attributes, body, note.site.origin); }, note.body);
  write_slot(words_ + header_words + (shape_.calls + n % shape_.notes) * slot_words, slot, attributes);
  atomic(words_[word_notes]).store(n + 1, std::memory_order_release);
}

// In the upper half of word_launch: known, stopped, then eight bits of the exit status and eight of the signal.
constexpr std::uint64_t end_known = std::uint64_t{1} << 63, end_stopped = std::uint64_t{1} << 62;
constexpr int end_exit_shift = 40, end_signal_shift = 32;
constexpr std::uint64_t end_byte = 0xff;

void mark_end(std::span<std::byte> memory, const RingEnd& end) {
  auto* words = reinterpret_cast<std::uint64_t*>(memory.data());
  if (memory.size() < 8 * header_words || load(words + word_magic, std::memory_order_acquire) != magic) return;
  const std::uint64_t launch = load(words + word_launch, std::memory_order_relaxed) & 0xffffffff;
  store(words[word_launch], launch | end_known | (end.stopped ? end_stopped : 0) |
                                (static_cast<std::uint64_t>(end.exit_status) & end_byte) << end_exit_shift |
                                (static_cast<std::uint64_t>(end.signal) & end_byte) << end_signal_shift);
}

std::uint64_t ring_progress(std::span<const std::byte> memory) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory.data());
  if (memory.size() < 8 * header_words || load(words + word_magic, std::memory_order_acquire) != magic) return 0;
  std::uint64_t progress = 1;
  for (std::size_t slot = header_words; slot + slot_words <= memory.size() / 8; slot += slot_words)
    progress += load(words + slot, std::memory_order_relaxed);
  return progress;
}

Result<RingRecord> read_record_ring(std::span<const std::byte> memory) {
  const auto wrong = [](std::string why) { return Error{Code::input_invalid, std::move(why), {}}; };
  if (memory.size() < 8 * header_words) return wrong("the memory is smaller than the header of a record ring");
  const auto* words = reinterpret_cast<const std::uint64_t*>(memory.data());
  const auto word = [words](std::size_t i) { return load(words + i, std::memory_order_acquire); };
  if (word(word_magic) != magic) return wrong("the memory holds no record ring");
  if (word(word_version) != version)
    return wrong(fmt::format("the record ring is of version {}, and must be of {}", word(word_version), version));
  const std::uint64_t calls = word(word_call_slots), notes = word(word_note_slots);
  const std::uint64_t fit = (memory.size() / 8 - header_words) / slot_words;
  if (calls == 0 || notes == 0 || calls > fit || notes > fit - calls)
    return wrong("the record ring names more slots than its memory holds");
  RingRecord record;
  record.log.rank = static_cast<Rank>(word(word_rank));
  record.log.launch = static_cast<int>(word(word_launch) & 0x7fffffff);
  if (record.log.launch > most_recorded_launches)
    return wrong(number_problem("launch", std::to_string(record.log.launch), 0, most_recorded_launches));
  if (const std::uint64_t end = word(word_launch); (end & end_known) != 0)
    record.end = RingEnd{static_cast<int>(end >> end_signal_shift & end_byte),
                         static_cast<int>(end >> end_exit_shift & end_byte), (end & end_stopped) != 0};
  const std::uint64_t calls_written = word(word_calls), notes_written = word(word_notes);
  if (std::max(calls_written, notes_written) > static_cast<std::uint64_t>(most_recorded_calls))
    return wrong(fmt::format("the record ring counts {} calls and {} notes, and must not count more than {}",
                             calls_written, notes_written, most_recorded_calls));
  read_slots(words + header_words, calls, calls_written, "call", record.log.calls, record);
  read_slots(words + header_words + calls * slot_words, notes, notes_written, "note", record.log.notes, record);
  record.log.dropped = static_cast<std::int64_t>((calls_written > calls ? calls_written - calls : 0) +
                                                 (notes_written > notes ? notes_written - notes : 0));
  return record;
}

}  // namespace pdsim
