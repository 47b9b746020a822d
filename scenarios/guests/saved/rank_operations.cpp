#include "scenarios/guests/saved/rank_operations.h"

#include "core/base/printable.h"
#include "core/collectives/collective_kind.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

constexpr std::size_t most_text = 160;

// The number keeps all its digits, as to_string(Time) does not.
std::string exact_time(Time time) {
  if (time.ps % 1'000'000'000 == 0) return fmt::format("{}ms", time.ps / 1'000'000'000);
  return time.ps % 1000 == 0 ? fmt::format("{}ns", time.ps / 1000) : fmt::format("{}ps", time.ps);
}

std::string in_quotes(std::string_view text) {
  std::string text_in = "\"";
  for (const char c : printable(text).substr(0, most_text)) {
    if (c == '"' || c == '\\') text_in += '\\';
    text_in += c;
  }
  return text_in + "\"";
}

bool has_device_key(std::string_view operation) {
  constexpr std::array names{"all_reduce", "broadcast", "gather", "scatter"};
  return std::find(names.begin(), names.end(), operation) != names.end();
}

class Writer {
 public:
  Writer(const RankLog& log, const GroupNames& groups, const SourceLine& source)
      : log_(log), groups_(groups), source_(source) {}

  RankOperations operations() {
    for (const Call& call : log_.calls) {
      if (is_inside_of_another(call)) continue;
      if (went_on_after_failure(call)) break;
      wait_for_what_ended(call.issued);
      use_devices_until(call.issued);
      write(call);
    }
    wait_at_the_end();
    end();
    return std::move(made_);
  }

 private:
  struct Open {
    std::size_t operation = 0;
    const Call* call = nullptr;
  };

  bool is_inside_of(const Call& call, std::string_view name) const {
    for (const Call* around = enclosing(log_, call); around != nullptr; around = enclosing(log_, *around))
      if (around->name == name) return true;
    return false;
  }

  // A call that the operation of the language makes itself.
  bool is_inside_of_another(const Call& call) const {
    return is_inside_of(call, "init_process_group") || is_inside_of(call, "new_group") || is_of_written_batch(call);
  }

  bool is_of_written_batch(const Call& call) const {
    return !batch_.empty() && call.id <= batch_.back()->id && call.parent == batch_.back()->parent;
  }

  // The messages of a batch that is waited for at once, as that of the language is.
  std::vector<const Call*> messages_waited_for(const Call& batch) const {
    std::vector<const Call*> messages;
    const Call* next = &batch + 1;
    const Call* const end = log_.calls.data() + log_.calls.size();
    for (; next != end && next->parent == batch.id && next->layer == Layer::point_to_point; ++next) messages.push_back(next);
    const bool is_waited_for = std::all_of(messages.begin(), messages.end(), [&](const Call* message) {
      const bool ended = !is_unfinished(*message) && (next == end || message->finished <= next->issued);
      return (ended || (next == end && log_.end == RankEnd::running)) && message->details->dtype.empty();
    });
    if (!is_waited_for) messages.clear();
    return messages;
  }

  // In a scenario an error ends its rank.
  bool went_on_after_failure(const Call& call) {
    if (failed_ == nullptr || call.layer == Layer::program) return false;
    leave_out(*failed_, "the script continues after its error, which a scenario cannot do; the rank's later calls are "
                        "not written");
    return true;
  }

  std::string place_of(const Site& site) const {
    if (site.line <= 0 || !site.origin) return {};
    const std::string& path = site.origin->file;
    const std::string text = printable(source_(path, site.line)).substr(0, most_text);
    const std::string place = fmt::format("{}:{}", printable(std::filesystem::path(path).filename().string()), site.line);
    return text.empty() ? place : fmt::format("{}  {}", place, text);
  }

  SavedOperation& add(std::string name, std::string options, const Site& site) {
    SavedOperation& made = made_.operations.emplace_back();
    made.name = std::move(name);
    made.options = std::move(options);
    made.place = place_of(site);
    return made;
  }

  void leave_out(const Call& call, std::string_view why) {
    const std::string place = place_of(call.site);
    std::string line = fmt::format("rank {}: {}{}: {}", log_.rank, printable(call.name),
                                   place.empty() ? "" : fmt::format(" ({})", place), why);
    if (std::find(made_.left_out.begin(), made_.left_out.end(), line) == made_.left_out.end())
      made_.left_out.push_back(std::move(line));
  }

  void write_batch(const Call& call) {
    batch_ = messages_waited_for(call);
    if (batch_.empty()) return;
    std::vector<std::string> messages;
    for (const Call* message : batch_) {
      const CollectiveRow& row = *collective_named(message->name);
      messages.push_back(fmt::format("{{i{}: {{{}}}}}", message->name, fmt::join(options_of_message(row, *message), ", ")));
    }
    const std::string group = groups_.of(log_.rank, batch_.front()->group);
    add(call.name, fmt::format("messages: [{}]{}", fmt::join(messages, ", "), group == "world" ? "" : ", group: " + group), call.site);
    const Call* last = *std::max_element(batch_.begin(), batch_.end(), [](const Call* a, const Call* b) {
      return !is_unfinished(*a) && (is_unfinished(*b) || a->finished < b->finished);
    });
    open_.push_back({made_.operations.size() - 1, last});
    failed_ = last->state == CallState::failed || last->state == CallState::timed_out ? last : nullptr;
  }

  void write(const Call& call) {
    if (call.layer == Layer::store) return write_store_call(call);
    if (call.layer == Layer::program) return write_program_call(call);
    const CollectiveRow* row = collective_named(call.name);
    if (row == nullptr) return leave_out(call, "the language does not support it");
    if (!call.details || call.details->dtype.empty()) {
      SavedOperation& made = add(name_of_call(*row, call), options_of(*row, call), call.site);
      if (!row->point_to_point) {
        made.group = call.group;
        made.seq = call.seq;
        made.is_shadow = is_inside_of(call, "join");
      }
      if (row->kind != CollectiveKind::monitored_barrier) open_.push_back({made_.operations.size() - 1, &call});
      failed_ = call.state == CallState::failed || call.state == CallState::timed_out ? &call : nullptr;
      return;
    }
    leave_out(call, "the language does not support its element type");
  }

  static std::string name_of_call(const CollectiveRow& row, const Call& call) {
    return row.kind == CollectiveKind::all_to_all_v ? "all_to_all_single" : call.name;
  }

  // Without the group, which a batch gives once.
  static std::vector<std::string> options_of_message(const CollectiveRow& row, const Call& call) {
    std::vector<std::string> options;
    const std::string_view key = row.has_input ? "dst" : "src";
    options.push_back(call.peer == any_source ? fmt::format("{}: any", key) : fmt::format("{}: {}", key, call.peer));
    if (call.count >= 0) options.push_back(fmt::format("count: {}", call.count));
    if (call.dtype != DType::f32) options.push_back(fmt::format("dtype: {}", name_of(call.dtype)));
    if (call.details && call.details->tag != 0) options.push_back(fmt::format("tag: {}", call.details->tag));
    return options;
  }

  static std::vector<std::string> options_of_collective(const CollectiveRow& row, const Call& call) {
    std::vector<std::string> options;
    const bool gives_splits = row.kind == CollectiveKind::all_to_all_v && call.details;
    if (row.rooted)
      options.push_back(fmt::format("{}: {}", row.shape.input.holders == Holders::root ? "src" : "dst", call.root));
    const bool has_count = row.has_input || row.has_output;
    if (has_count && !gives_splits && call.count >= 0) options.push_back(fmt::format("count: {}", call.count));
    if (gives_splits) {
      options.push_back(fmt::format("input_split_sizes: [{}]", fmt::join(call.details->sends.sizes, ", ")));
      options.push_back(fmt::format("output_split_sizes: [{}]", fmt::join(call.details->receives.sizes, ", ")));
    }
    if (has_count && call.dtype != DType::f32) options.push_back(fmt::format("dtype: {}", name_of(call.dtype)));
    if (row.reduces && call.op != ReduceOp::sum) options.push_back(fmt::format("op: {}", name_of(call.op)));
    if (row.kind == CollectiveKind::all_reduce && call.purpose.kind == PurposeKind::bucket)
      options.push_back(fmt::format("tensor: bucket_{}", call.purpose.number));
    return options;
  }

  std::string options_of(const CollectiveRow& row, const Call& call) const {
    std::vector<std::string> options = row.point_to_point ? options_of_message(row, call) : options_of_collective(row, call);
    if (const std::string group = groups_.of(log_.rank, call.group); group != "world")
      options.push_back("group: " + group);
    return fmt::format("{}", fmt::join(options, ", "));
  }

  void write_program_call(const Call& call) {
    if (call.name == "init_process_group") {
      add(call.name, options_of_init(call), call.site);
      failed_ = call.state == CallState::failed ? &call : nullptr;
    } else if (call.name == "new_group") {
      write_new_group(call);
    } else if (call.name == "batch_isend_irecv") {
      write_batch(call);
    } else if (call.name == "destroy_process_group") {
      add(call.name, "", call.site);
    } else if (call.name == "time.sleep" || call.name == "compute") {
      if (call.finished > call.issued)
        add("compute", fmt::format("time: {}", exact_time(call.finished - call.issued)), call.site);
    } else if (call.state == CallState::failed && collective_named(call.name) != nullptr) {
      write_refused(call);
    }
  }

  // A call that was refused before it reached its group.
  void write_refused(const Call& call) {
    const bool on_cpu = call.error == Code::unsupported && has_device_key(call.name);
    if (!made_.operations.empty() && made_.operations.back().name == call.name &&
        made_.operations.back().place == place_of(call.site)) {  // its communicator was refused once the call was made
      failed_ = &call;
      return;
    }
    const bool alone = call.error != Code::unsupported && call.error != Code::invalid_argument;
    if (!on_cpu && !alone) return leave_out(call, "it was rejected, which is written as an exception of the program");
    add(call.name, on_cpu ? "device: cpu" : "", call.site);
    failed_ = &call;
  }

  template <class T>
  const T* noted_in(const Call& call) const {
    for (const Note& note : log_.notes)
      if (note.call == call.id && note.is<T>()) return &note.as<T>();
    return nullptr;
  }

  std::string options_of_init(const Call& call) const {
    std::vector<std::string> options;  // the store of the script's world outlives its ranks, as a file does
    const bool is_unset = noted_in<notes::VariableMissing>(call) != nullptr;
    if (!is_unset) options.push_back("method: file, path: store");
    if (const auto* missing = noted_in<notes::VariableMissing>(call))
      options.push_back(fmt::format("method: env, unset: {}", missing->variable));
    if (const auto* expected = noted_in<notes::RanksExpected>(call))
      options.push_back(fmt::format("world_size: {}", expected->count));
    if (const auto* claimed = noted_in<notes::IdentityClaimed>(call); claimed != nullptr && claimed->rank != log_.rank)
      options.push_back(fmt::format("rank: {}", claimed->rank));
    return fmt::format("{}", fmt::join(options, ", "));
  }

  void write_new_group(const Call& call) {
    const auto* group = noted_in<notes::GroupMade>(call);
    if (group == nullptr) return leave_out(call, "the record does not say whose group it is");
    add(call.name,
        fmt::format("name: {}, ranks: [{}]", groups_.made(group->group, group->ranks), fmt::join(group->ranks, ", ")),
        call.site);
  }

  void write_store_call(const Call& call) {
    const std::string key = in_quotes(call.purpose.detail);
    if (call.name == "store_set")
      add(call.name, fmt::format("key: {}, value: \"saved\"", key), call.site);
    else if (call.name == "store_get" || call.name == "store_add" || call.name == "store_wait")
      add(call.name, "key: " + key, call.site);
    else
      leave_out(call, "the language does not support it");
  }

  void use_devices_until(Time moment) {
    for (; note_ < log_.notes.size() && log_.notes[note_].at <= moment; ++note_) {
      const Note& note = log_.notes[note_];
      if (note.is<notes::BarrierDevice>()) {
        const auto& barrier = note.as<notes::BarrierDevice>();
        guessed_ = barrier.guess == barrier.own ? -1 : barrier.guess;
      }
      if (!note.is<notes::DeviceUsed>()) continue;
      const int device = note.as<notes::DeviceUsed>().device;
      if (std::exchange(guessed_, -1) == device || std::exchange(device_, device) == device) continue;
      add("set_device", fmt::format("index: {}", device), note.site);
    }
  }

  // A call that failed without its rank is one that nobody waited for.
  bool is_asynchronous_at(const Open& open, Time moment) const {
    const CallState state = open.call->state;
    const bool failed = state == CallState::failed || state == CallState::timed_out;
    return is_unfinished(*open.call) || open.call->finished > moment || (failed && log_.end == RankEnd::returned);
  }

  void wait_for_what_ended(Time moment) {
    std::vector<Open> left;
    const std::size_t newest = made_.operations.size() - 1;
    for (const Open& open : open_) {
      if (is_asynchronous_at(open, moment)) {
        left.push_back(open);
      } else if (open.operation != newest) {
        wait_for(open);
      }
    }
    open_ = std::move(left);
  }

  void wait_for(const Open& open) {
    const std::string place = made_.operations[open.operation].place;
    SavedOperation& wait = add("wait", "", {});
    wait.place = place;
    wait.awaits = open.operation;
    made_.operations[open.operation].is_async = true;
  }

  // A rank that is still running waits for what is open: for its newest call at once.
  void wait_at_the_end() {
    wait_for_what_ended(Time::max());
    if (open_.empty()) return;
    if (log_.end != RankEnd::running && !is_ended_by_its_library()) {
      for (const Open& open : open_) made_.operations[open.operation].is_async = true;
      return;
    }
    const bool is_at_the_newest = open_.back().operation + 1 == made_.operations.size();
    if (!is_at_the_newest) {
      for (const Open& open : std::exchange(open_, {})) wait_for(open);
      return;
    }
    open_.pop_back();
    for (const Open& open : open_) made_.operations[open.operation].is_async = true;
  }

  bool is_ended_by_its_library() const {
    return log_.end == RankEnd::died && log_.error.code == Code::process_aborted;
  }

  void end() {
    if (is_ended_by_its_library()) return;
    const bool hangs = log_.end == RankEnd::running && stop_of(log_, Time::max()) != nullptr;
    if (hangs || log_.end == RankEnd::died) {
      const Note* stop = stop_of(log_, Time::max());
      made_.stop = hangs ? SavedStop::hang : SavedStop::crash;
      add("raise", "message: " + in_quotes(hangs ? "the rank hangs" : log_.error.message),
          hangs && stop != nullptr ? stop->site : log_.error_site)
          .stops = true;
    } else if (log_.end == RankEnd::raised && failed_ == nullptr) {
      const std::size_t first = log_.error.message.find_first_not_of(" \n");
      const std::string message = first == std::string::npos ? "an error" : log_.error.message.substr(first);
      add("raise", "message: " + in_quotes(message), log_.error_site);
    }
  }

  const RankLog& log_;
  const GroupNames& groups_;
  const SourceLine& source_;
  RankOperations made_;
  std::vector<Open> open_;  // in order; their operations are asynchronous if they stay here
  std::vector<const Call*> batch_;  // the messages of the newest one that is written whole
  const Call* failed_ = nullptr;  // the newest call, where it failed
  std::size_t note_ = 0;
  int device_ = -1, guessed_ = -1;
};

}  // namespace

RankOperations operations_of(const RankLog& log, const GroupNames& groups, const SourceLine& source) {
  return Writer(log, groups, source).operations();
}

}  // namespace pdsim::scenarios::guests
