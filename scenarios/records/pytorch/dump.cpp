#include "scenarios/records/pytorch/dump.h"

#include "core/base/printable.h"
#include "core/record/record_check.h"
#include "scenarios/records/pytorch/forms/json.h"
#include "scenarios/records/pytorch/forms/pickle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::pytorch {
namespace {

constexpr std::int64_t latest_ns = latest_recorded_ps;  // since 1970: in the year 2116
constexpr std::int64_t longest_timeout_ms = std::int64_t{1} << 43;

constexpr std::array entry_numbers{
    number("record_id", &Entry::record_id, -1, most_recorded_calls),
    number("pg_id", &Entry::pg_id, -1, most_recorded_calls),
    number("seq_id", &Entry::collective_seq, -1, most_recorded_calls),  // as older versions call it
    number("collective_seq_id", &Entry::collective_seq, -1, most_recorded_calls),
    number("p2p_seq_id", &Entry::p2p_seq, -1, most_recorded_calls),
    number("op_id", &Entry::op_id, -1, most_recorded_calls),
    number("time_created_ns", &Entry::created_ns, 0, latest_ns),
    number("time_discovered_started_ns", &Entry::started_ns, 0, latest_ns),
    number("time_discovered_completed_ns", &Entry::completed_ns, 0, latest_ns),
    number("timeout_ms", &Entry::timeout_ms, -1, longest_timeout_ms),
};
constexpr std::array status_numbers{
    number("last_enqueued_collective", &GroupStatus::enqueued, -1, most_recorded_calls),
    number("last_started_collective", &GroupStatus::started, -1, most_recorded_calls),
    number("last_completed_collective", &GroupStatus::completed, -1, most_recorded_calls),
};
constexpr std::array frame_numbers{
    number("line", &Frame::line, -1, std::numeric_limits<std::int32_t>::max()),
};

bool is_rank(std::int64_t rank) { return rank >= 0 && rank < most_recorded_ranks; }
std::string rank_problem(std::int64_t rank) {
  return number_problem("ranks", std::to_string(rank), 0, most_recorded_ranks - 1);
}

// Parses "[0, 1, 2]", as the recorder writes it.
void add_ranks(Members& members, const Value& value, std::vector<std::int64_t>& ranks) {
  std::string_view rest = *value.text();
  while (true) {
    const std::size_t from = rest.find_first_not_of("[], ");
    if (from == std::string_view::npos || !members.afford()) return;
    rest.remove_prefix(from);
    const std::size_t end = std::min(rest.find_first_of("[], "), rest.size());
    const auto rank = number_in(rest.substr(0, end));
    if (!rank) return members.wrong("ranks", value, "a list of ranks such as [0, 1]");
    if (!is_rank(*rank)) return members.refuse(rank_problem(*rank));
    ranks.push_back(*rank);
    rest.remove_prefix(end);
  }
}

void read_ranks(Members& members, const Record& of, std::vector<std::int64_t>& ranks) {
  const std::optional<Value> value = of.find("ranks");
  if (!value || value->is_none()) return;
  if (const auto list = value->list()) {
    for (const NodeId id : *list) {
      const auto rank = value->at(id).integer();
      if (!members.afford()) return;
      if (!rank) return members.wrong("ranks", value->at(id), "a rank from 0 on");
      if (!is_rank(*rank)) return members.refuse(rank_problem(*rank));
      ranks.push_back(*rank);
    }
  } else if (value->text()) {
    add_ranks(members, *value, ranks);
  } else {
    return members.wrong("ranks", *value, "a list of ranks");
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

// Reads one dump.
class DumpReader {
 public:
  DumpReader(const Tree& tree, Rank rank)
      : root_(tree), keys_(tree), record_(root_, keys_), frame_of_(tree.nodes.size()) {
    dump_.rank = rank;
  }

  Result<Dump> read() {
    members_.get(record_, "version", dump_.version);
    read_groups();
    read_status();
    members_.enter("the dump");
    const std::span<const NodeId> entries = members_.items(record_, "entries");
    dump_.entries.reserve(std::min(entries.size(), most_reserved));
    for (std::size_t i = 0; i < entries.size() && members_.ok(); ++i) {
      members_.enter("entry ", std::to_string(i));
      Entry entry;
      if (!members_.afford()) break;
      const Value value = root_.at(entries[i]);
      if (members_.is_dictionary("entries", value)) read_entry({value, keys_}, entry);
      if (members_.ok()) dump_.entries.push_back(std::move(entry));
      if (!members_.forgive(dump_.left_out)) break;
    }
    if (!members_.ok()) return members_.error();
    forget_unnamed_group();
    if (dump_.entries.empty() && !entries.empty())
      return Error{Code::input_invalid, dump_.left_out.named().front(), {}};
    return std::move(dump_);
  }

 private:
  static constexpr std::size_t most_reserved = 1 << 16;  // a hostile list repeats one entry
  using Stack = SharedValue<std::vector<Frame>>;
  using Number = std::uint32_t;  // of a frame, from 1

  void read_groups() {
    const std::optional<Value> config = record_.find("pg_config");
    if (!config || config->is_none()) return;
    const auto entries = config->dict();
    if (!entries) return members_.wrong("pg_config", *config, "a dictionary");
    for (std::size_t i = 0; i + 1 < entries->size() && members_.ok(); i += 2) {
      const Value key = config->at((*entries)[i]), value = config->at((*entries)[i + 1]);
      Group group;
      if (key.text()) group.name = printable(*key.text());
      members_.enter("group ", group.name, " of pg_config");
      if (members_.is_dictionary(group.name, value)) {
        const Record record(value, keys_);
        members_.get(record, "name", group.name);
        members_.get(record, "desc", group.desc);
        read_ranks(members_, record, group.ranks);
      }
      if (members_.ok()) dump_.groups.push_back(std::move(group));
      if (!members_.forgive(dump_.left_out)) return;
    }
  }

  // Gloo writes every group under one empty name, with ranks within the group: with several groups the row is that of the newest, and says
  // nothing of the job.
  void forget_unnamed_group() {
    if (dump_.groups.size() != 1 || !dump_.groups.front().name.empty() || !dump_.groups.front().desc.empty()) return;
    const std::vector<std::int64_t>& ranks = dump_.groups.front().ranks;
    const bool is_gloo = std::any_of(dump_.entries.begin(), dump_.entries.end(),
                                     [](const Entry& e) { return e.name.starts_with("gloo:"); });
    if (is_gloo && (dump_.status.size() > 1 || !std::binary_search(ranks.begin(), ranks.end(), std::int64_t{dump_.rank})))
      dump_.groups.clear();
  }

  void read_status() {
    const std::optional<Value> status = record_.find("pg_status");
    if (!status || !status->dict()) return;  // read for what it tells, and needed for nothing
    const auto entries = status->dict();
    for (std::size_t i = 0; i + 1 < entries->size() && members_.ok(); i += 2) {
      const Value key = status->at((*entries)[i]), value = status->at((*entries)[i + 1]);
      GroupStatus row;
      if (key.text()) row.pg_id = printable(*key.text());
      members_.enter("group ", row.pg_id, " of pg_status");
      if (members_.is_dictionary("pg_status", value)) members_.get(Record(value, keys_), status_numbers, row);
      if (members_.ok()) dump_.status.push_back(std::move(row));
      if (!members_.forgive(dump_.left_out)) return;
    }
  }

  void read_entry(const Record& of, Entry& entry) {
    members_.get(of, entry_numbers, entry);
    read_group_name(of, entry);
    members_.get(of, "profiling_name", entry.name);
    members_.get(of, "input_sizes", entry.input_sizes);
    entry.input_dtypes = read_types(of, "input_dtypes");
    members_.get(of, "output_sizes", entry.output_sizes);
    entry.output_dtypes = read_types(of, "output_dtypes");
    read_state(of, entry);
    members_.get(of, "is_p2p", entry.is_p2p);
    members_.get(of, "retired", entry.retired);
    entry.frames = read_frames(of);
  }

  void read_group_name(const Record& of, Entry& entry) {
    const std::optional<Value> pair = of.find("process_group");
    if (!pair || pair->is_none()) return members_.get(of, "pg_name", entry.group);  // as older versions call it
    if (pair->text()) return members_.get(of, "process_group", entry.group);
    if (!pair->list()) return members_.wrong("process_group", *pair, "a pair of texts");
    std::vector<std::string> names;
    members_.get(of, "process_group", names);
    if (!names.empty()) entry.group = std::move(names[0]);
    if (names.size() > 1) entry.group_desc = std::move(names[1]);
  }

  void read_state(const Record& of, Entry& entry) {
    const std::optional<Value> value = of.find("state");
    if (!value || value->is_none()) return;
    const auto text = value->text();
    const auto* const end = std::end(entry_state_names);
    const auto* const name = !text ? end : std::find(std::begin(entry_state_names), end, *text);
    if (name == end)
      return members_.wrong("state", *value, fmt::format("one of {}", fmt::join(entry_state_names, ", ")));
    entry.state = static_cast<EntryState>(name - std::begin(entry_state_names));
  }

  // A stack is made once, however many entries have it.
  TypeNames read_types(const Record& of, Key key) {
    std::vector<std::string> names;
    members_.get(of, key, names);
    if (names.empty()) return {};
    const auto [known, is_new] = types_.try_emplace(names);
    if (is_new) known->second = TypeNames(std::move(names));
    return known->second;
  }

  Stack read_frames(const Record& of) {
    constexpr std::size_t most_frames = 256;
    std::span<const NodeId> items = members_.items(of, "frames");
    if (items.empty() || !members_.afford()) return {};
    if (items.size() > most_frames) items = items.first(most_frames);
    std::vector<Number> numbers;
    numbers.reserve(items.size());
    for (const NodeId id : items) {
      numbers.push_back(frame_number(root_.at(id)));
      if (!members_.ok()) return {};
    }
    const auto [known, is_new] = stacks_.try_emplace(std::move(numbers));
    if (!is_new) return known->second;
    std::vector<Frame> frames;
    for (const Number number : known->first) frames.push_back(frames_[number - 1]);
    if (!afford(frames.size())) return {};
    return known->second = Stack(std::move(frames));
  }

  bool afford(std::size_t count) {
    for (std::size_t i = 0; i < count && members_.afford(); ++i) {
    }
    return members_.ok();
  }

  Number frame_number(const Value& value) {
    Number& number = frame_of_[value.id()];
    if (number != 0 || !members_.is_dictionary("frames", value)) return number;
    const Record record(value, keys_);
    Frame frame;
    members_.get(record, frame_numbers, frame);
    const auto [known, is_new] = known_frames_.try_emplace({record.node("filename"), record.node("name"), frame.line});
    if (is_new) {
      members_.get(record, "name", frame.name);
      members_.get(record, "filename", frame.file);
      frames_.push_back(std::move(frame));
      known->second = static_cast<Number>(frames_.size());
    }
    return number = known->second;
  }

  Value root_;
  KeyIndex keys_;
  Record record_;
  Members members_;
  Dump dump_;
  std::vector<Number> frame_of_;  // by node; 0: not read yet
  std::vector<Frame> frames_;
  std::map<std::tuple<NodeId, NodeId, std::int64_t>, Number> known_frames_;  // by the nodes of file and name
  std::map<std::vector<Number>, Stack> stacks_;
  std::map<std::vector<std::string>, TypeNames> types_;
};

}  // namespace

bool looks_like_dump(std::string_view text) { return looks_like_pickle(text) || looks_like_json(text); }

bool is_dump(const Tree& tree) {
  const Value root(tree);
  const bool about_groups = root.find("pg_config").has_value() || root.find("pg_status").has_value();
  return root.dict() && root.find("version").has_value() && (root.find("entries").has_value() || about_groups);
}

Result<Tree> read_tree(std::string text) {
  return looks_like_pickle(text) ? read_pickle(std::move(text)) : read_json(text);
}

Result<Dump> dump_of(const Tree& tree, Rank rank) {
  const Value root(tree);
  if (!is_dump(tree))
    return Error{
        Code::input_invalid,
        "it is not a dump of PyTorch's Flight Recorder, which is a dictionary with version, pg_config and entries",
        {}};
  return DumpReader(tree, rank).read();
}

}  // namespace pdsim::scenarios::pytorch
