#include "scenarios/records/pytorch/write.h"

#include "core/collectives/collective.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/pytorch/calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace pdsim::scenarios::pytorch {
namespace {

constexpr std::int64_t epoch_ns = 1'000'000'000;

std::int64_t wall_ns(Time t) { return epoch_ns + t.ns(); }

struct NumberedGroup {
  std::int64_t number = 0;
  std::vector<std::int64_t> ranks;
};
using NumberedGroups = std::map<std::string, NumberedGroup>;

NumberedGroups groups_of(const RunRecord& run) {
  NumberedGroups groups;
  groups["world"];
  for (const RankResult& rank : run.ranks) {
    for (const Call& call : rank.log.calls)
      if (call.layer == Layer::collective || call.layer == Layer::point_to_point) groups[call.group];
    for (const Note* made : notes_of<notes::GroupMade>(rank.log)) groups[made->as<notes::GroupMade>().group];
  }
  std::int64_t number = 0;
  for (auto& [name, group] : groups) {
    group.number = name == "world" ? 0 : ++number;
    const std::vector<char> members = group_members(run, name);
    for (std::size_t r = 0; r < members.size(); ++r)
      if (members[r] != 0) group.ranks.push_back(static_cast<std::int64_t>(r));
  }
  return groups;
}

class Writer {
 public:
  Writer(const RankLog& log, const NumberedGroups& groups, const WriteOptions& options)
      : log_(log), groups_(groups), options_(options) {}

  Dump run() {
    dump_.rank = log_.rank;
    dump_.version = "2.9";
    for (const auto& [name, group] : groups_)
      dump_.groups.push_back({std::to_string(group.number), desc_of(name), group.ranks});
    std::sort(dump_.groups.begin(), dump_.groups.end(),
              [](const Group& a, const Group& b) { return std::stoll(a.name) < std::stoll(b.name); });
    for (const Call& call : log_.calls)
      if (call.layer == Layer::collective || call.layer == Layer::point_to_point) add(call);
    for (const auto& [number, status] : status_) dump_.status.push_back(status);
    return std::move(dump_);
  }

 private:
  static std::string desc_of(const std::string& name) { return name == "world" ? "default_pg" : name; }

  void add(const Call& call) {
    const NumberedGroup& group = groups_.at(call.group);
    Entry entry;
    entry.record_id = log_.dropped + static_cast<std::int64_t>(dump_.entries.size());
    entry.pg_id = group.number;
    entry.group = std::to_string(group.number);
    entry.group_desc = desc_of(call.group);
    entry.op_id = entry.record_id + 1;
    entry.is_p2p = call.layer == Layer::point_to_point;
    std::int64_t& last_seq = seqs_[group.number];
    if (!entry.is_p2p) last_seq = call.seq;
    entry.collective_seq = last_seq;
    entry.p2p_seq = p2p_seqs_[group.number] += entry.is_p2p ? 1 : 0;
    entry.name = fmt::format("{}:{}{}", options_.backend, call.peer == any_source ? "recvAnySource" : call.name,
                             peers_of(call, group));
    add_times(entry, call);
    add_sizes(entry, call, static_cast<std::int64_t>(group.ranks.size()));
    entry.timeout_ms = options_.timeout.ns() / 1'000'000;
    entry.frames = frames_of(call.site);
    if (!entry.is_p2p) note_status(entry);
    dump_.entries.push_back(std::move(entry));
  }

  std::vector<Frame> frames_of(const Site& site) const {
    if (!site.op.empty())
      return {{site.step < 0 ? site.op : fmt::format("{} (step {})", site.op, site.step), options_.file, site.line}};
    std::vector<Frame> frames;
    for (const StackFrame& frame : site.origin->frames) frames.push_back({frame.function, frame.file, frame.line});
    return frames;
  }

  // " 0->1" of a send and " 1<-0" of a recv, in ranks of the group.
  std::string peers_of(const Call& call, const NumberedGroup& group) const {
    if (call.layer != Layer::point_to_point || call.peer < 0) return {};
    const auto index = [&group](Rank rank) {
      return std::lower_bound(group.ranks.begin(), group.ranks.end(), std::int64_t{rank}) - group.ranks.begin();
    };
    return fmt::format(" {}{}{}", index(log_.rank), call.name == "send" ? "->" : "<-", index(call.peer));
  }

  static void add_times(Entry& entry, const Call& call) {
    entry.created_ns = wall_ns(call.issued);
    if (call.state != CallState::issued && call.started > Time{}) entry.started_ns = wall_ns(call.started);
    if (call.state == CallState::started) entry.state = EntryState::started;
    if (call.state == CallState::completed) {
      entry.state = EntryState::completed;
      entry.completed_ns = wall_ns(call.finished);
    }
    const bool gave_up = call.state == CallState::timed_out || call.state == CallState::failed;
    entry.retired = gave_up || call.state == CallState::completed;
    if (gave_up && entry.started_ns != 0) entry.state = EntryState::started;
  }

  static void add_sizes(Entry& entry, const Call& call, std::int64_t ranks) {
    if (call.count < 0) return;
    const std::string type(torch_dtype_name(call));
    const CollectiveRow* kind = collective_named(call.name);
    const auto elements = [&](bool in_parts) { return in_parts ? call.count * ranks : call.count; };
    const bool sends = kind == nullptr || !kind->point_to_point || kind->has_input;
    const bool receives = kind == nullptr || !kind->point_to_point || kind->has_output;
    if (sends) entry.input_sizes = {{elements(kind != nullptr && kind->input_in_parts)}}, entry.input_dtypes = std::vector{type};
    if (receives)
      entry.output_sizes = {{elements(kind != nullptr && kind->output_in_parts)}}, entry.output_dtypes = std::vector{type};
  }

  void note_status(const Entry& entry) {
    GroupStatus& status = status_[entry.pg_id];
    status.pg_id = std::to_string(entry.pg_id);
    status.enqueued = entry.collective_seq;
    if (entry.started_ns != 0) status.started = entry.collective_seq;
    if (entry.state == EntryState::completed) status.completed = entry.collective_seq;
  }

  const RankLog& log_;
  const NumberedGroups& groups_;
  const WriteOptions& options_;
  Dump dump_;
  std::map<std::int64_t, std::int64_t> seqs_, p2p_seqs_;
  std::map<std::int64_t, GroupStatus> status_;
};

}  // namespace

std::vector<Dump> dumps_of(const RunRecord& run, const WriteOptions& options) {
  const NumberedGroups groups = groups_of(run);
  std::vector<Dump> dumps;
  for (const RankResult& rank : run.ranks)
    if (!is_lost(rank.log)) dumps.push_back(Writer(rank.log, groups, options).run());
  return dumps;
}

}  // namespace pdsim::scenarios::pytorch
