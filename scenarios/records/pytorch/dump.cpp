#include "scenarios/records/pytorch/dump.h"

#include "core/base/printable.h"
#include "core/record/record_check.h"
#include "scenarios/records/pytorch/json.h"
#include "scenarios/records/pytorch/pickle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

namespace pdsim::scenarios::pytorch {
namespace {

constexpr std::int64_t latest_ns = latest_recorded_ps;  // since 1970: in the year 2116
constexpr std::int64_t longest_timeout_ms = std::int64_t{1} << 43;

// clang-format off
constexpr std::array entry_numbers{
    NumberField<Entry>{"record_id", &Entry::record_id, -1, most_recorded_calls},
    NumberField<Entry>{"pg_id", &Entry::pg_id, -1, most_recorded_calls},
    NumberField<Entry>{"seq_id", &Entry::collective_seq, -1, most_recorded_calls},  // as older versions call it
    NumberField<Entry>{"collective_seq_id", &Entry::collective_seq, -1, most_recorded_calls},
    NumberField<Entry>{"p2p_seq_id", &Entry::p2p_seq, -1, most_recorded_calls},
    NumberField<Entry>{"op_id", &Entry::op_id, -1, most_recorded_calls},
    NumberField<Entry>{"time_created_ns", &Entry::created_ns, 0, latest_ns},
    NumberField<Entry>{"time_discovered_started_ns", &Entry::started_ns, 0, latest_ns},
    NumberField<Entry>{"time_discovered_completed_ns", &Entry::completed_ns, 0, latest_ns},
    NumberField<Entry>{"timeout_ms", &Entry::timeout_ms, -1, longest_timeout_ms},
};
constexpr std::array status_numbers{
    NumberField<GroupStatus>{"last_enqueued_collective", &GroupStatus::enqueued, -1, most_recorded_calls},
    NumberField<GroupStatus>{"last_started_collective", &GroupStatus::started, -1, most_recorded_calls},
    NumberField<GroupStatus>{"last_completed_collective", &GroupStatus::completed, -1, most_recorded_calls},
};
constexpr std::array frame_numbers{
    NumberField<Frame>{"line", &Frame::line, -1, std::numeric_limits<std::int32_t>::max()},
};
// clang-format on

// Reads members of dictionaries; the first that is wrong is kept.
class Members {
 public:
  bool ok() const { return problem_.empty(); }
  Error error() const { return {Code::input_invalid, problem_, {}}; }
  void enter(std::string place) { place_ = std::move(place); }
  // What is wrong with one entry costs that entry; false when it costs the dump.
  bool forgive(LeftOut& left_out) {
    if (ok()) return true;
    if (left_ < 0) return false;
    left_out.add(std::exchange(problem_, {}));
    return true;
  }

  void refuse(const std::string& why) {
    if (ok()) problem_ = fmt::format("{}: {}", place_, why);
  }
  void wrong(std::string_view key, const Value& value, std::string_view wanted) {
    refuse(fmt::format("`{}` is {}, and must be {}", key, value.kind(), wanted));
  }
  // A dictionary, and none so long that to look through it again and again would take for ever.
  bool is_record(std::string_view key, const Value& value) {
    constexpr std::size_t most_members = 256;
    const bool fits = value.dict() != nullptr && value.dict()->items.size() <= 2 * most_members;
    if (!fits) wrong(key, value, value.dict() == nullptr ? "a dictionary" : "one of at most 256 members");
    return fits;
  }
  // Counts what is copied out of the tree: a hostile dump may name one list a million times.
  bool afford() {
    if (--left_ < 0 && ok()) problem_ = fmt::format("the dump names more than {} values", most_values);
    return ok();
  }

  void get(const Value& of, std::string_view key, std::string& into) {
    const std::optional<Value> value = of.find(key);
    if (!value || value->is_none() || !afford()) return;
    if (const std::string* text = value->text()) {
      into = printable(*text);
    } else {
      wrong(key, *value, "a text");
    }
  }
  template <class Of, std::size_t N>
  void get(const Value& of, const std::array<NumberField<Of>, N>& rows, Of& into) {
    for (const NumberField<Of>& row : rows) {
      const std::optional<Value> value = of.find(row.name);
      if (!value || value->is_none() || !afford()) continue;
      std::int64_t number = 0;
      const auto integer = value->integer();
      const std::string* text = value->text();
      if (!integer && (text == nullptr || !parsed(*text, number))) {
        wrong(row.name, *value, fmt::format("an integer from {} to {}", row.lowest, row.highest));
      } else if (const std::int64_t is = integer.value_or(number); !row.allows(is)) {
        refuse(number_problem(row.name, std::to_string(is), row.lowest, row.highest));
      } else {
        row.set(into, is);
      }
    }
  }
  void get(const Value& of, std::string_view key, bool& into) {
    const std::optional<Value> value = of.find(key);
    if (!value || value->is_none() || !afford()) return;
    if (const auto truth = value->truth()) {
      into = *truth;
    } else {
      wrong(key, *value, "a truth value");
    }
  }
  void get(const Value& of, std::string_view key, std::vector<std::string>& into) {
    for (const Value& item : items(of, key)) {
      if (!afford()) return;
      if (item.text() == nullptr) return wrong(key, item, "a list of texts");
      into.push_back(printable(*item.text()));
    }
  }
  void get(const Value& of, std::string_view key, Sizes& into) {
    for (const Value& item : items(of, key)) {
      if (!afford()) return;
      if (item.list() == nullptr) return wrong(key, item, "a list of lists of integers");
      std::vector<std::int64_t>& sizes = into.emplace_back();
      for (const NodeId id : item.list()->items) {
        const auto size = item.at(id).integer();
        if (!afford()) return;
        if (!size) return wrong(key, item, "a list of lists of integers from 0 on");
        if (*size < 0 || *size > most_recorded_elements)
          return refuse(number_problem(key, std::to_string(*size), 0, most_recorded_elements));
        sizes.push_back(*size);
      }
    }
  }
  std::vector<Value> items(const Value& of, std::string_view key) {
    const std::optional<Value> value = of.find(key);
    std::vector<Value> found;
    if (!value || value->is_none()) return found;
    if (value->list() == nullptr) return wrong(key, *value, "a list"), found;
    for (const NodeId id : value->list()->items) {
      if (!afford()) break;
      found.push_back(value->at(id));
    }
    return found;
  }
  static bool parsed(std::string_view text, std::int64_t& into) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    return error == std::errc{} && end == text.data() + text.size();
  }

 private:
  std::string place_ = "the dump";
  std::string problem_;
  std::int64_t left_ = most_values;
};

bool is_rank(std::int64_t rank) { return rank >= 0 && rank < most_recorded_ranks; }
std::string rank_problem(std::int64_t rank) {
  return number_problem("ranks", std::to_string(rank), 0, most_recorded_ranks - 1);
}

// "[0, 1, 2]", as the recorder writes it, or a list of integers.
void read_ranks(Members& members, const Value& of, std::vector<std::int64_t>& ranks) {
  const std::optional<Value> value = of.find("ranks");
  if (!value || value->is_none()) return;
  if (const List* list = value->list()) {
    for (const NodeId id : list->items) {
      const auto rank = value->at(id).integer();
      if (!members.afford()) return;
      if (!rank) return members.wrong("ranks", value->at(id), "a rank from 0 on");
      if (!is_rank(*rank)) return members.refuse(rank_problem(*rank));
      ranks.push_back(*rank);
    }
  } else if (const std::string* text = value->text()) {
    std::string_view rest = *text;
    while (!rest.empty()) {
      const std::size_t from = rest.find_first_not_of("[], ");
      if (from == std::string_view::npos) break;
      rest.remove_prefix(from);
      const std::size_t end = std::min(rest.find_first_of("[], "), rest.size());
      std::int64_t rank = -1;
      if (!members.afford()) return;
      if (!Members::parsed(rest.substr(0, end), rank))
        return members.wrong("ranks", *value, "a list of ranks, as [0, 1]");
      if (!is_rank(rank)) return members.refuse(rank_problem(rank));
      ranks.push_back(rank);
      rest.remove_prefix(end);
    }
  } else {
    return members.wrong("ranks", *value, "a list of ranks");
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

void read_groups(Members& members, const Value& dump, Dump& into) {
  const std::optional<Value> config = dump.find("pg_config");
  if (!config || config->is_none()) return;
  if (config->dict() == nullptr) return members.wrong("pg_config", *config, "a dictionary");
  const std::vector<NodeId>& entries = config->dict()->items;
  for (std::size_t i = 0; i + 1 < entries.size() && members.ok(); i += 2) {
    const Value key = config->at(entries[i]), value = config->at(entries[i + 1]);
    Group group;
    if (key.text() != nullptr) group.name = printable(*key.text());
    members.enter(fmt::format("group {} of pg_config", group.name));
    if (members.is_record(group.name, value)) {
      members.get(value, "name", group.name);
      members.get(value, "desc", group.desc);
      read_ranks(members, value, group.ranks);
    }
    if (members.ok()) into.groups.push_back(std::move(group));
    if (!members.forgive(into.left_out)) return;
  }
}

void read_status(Members& members, const Value& dump, Dump& into) {
  const std::optional<Value> status = dump.find("pg_status");
  if (!status || status->dict() == nullptr) return;  // read for what it tells, and needed for nothing
  const std::vector<NodeId>& entries = status->dict()->items;
  for (std::size_t i = 0; i + 1 < entries.size() && members.ok(); i += 2) {
    const Value key = status->at(entries[i]), value = status->at(entries[i + 1]);
    GroupStatus row;
    if (key.text() != nullptr) row.pg_id = printable(*key.text());
    members.enter(fmt::format("group {} of pg_status", row.pg_id));
    if (members.is_record("pg_status", value)) members.get(value, status_numbers, row);
    if (members.ok()) into.status.push_back(std::move(row));
    if (!members.forgive(into.left_out)) return;
  }
}

void read_group_name(Members& members, const Value& of, Entry& entry) {
  const std::optional<Value> pair = of.find("process_group");
  if (!pair || pair->is_none()) return members.get(of, "pg_name", entry.group);  // as older versions call it
  if (pair->text() != nullptr) return members.get(of, "process_group", entry.group);
  if (pair->list() == nullptr) return members.wrong("process_group", *pair, "a pair of texts");
  std::vector<std::string> names;
  members.get(of, "process_group", names);
  if (!names.empty()) entry.group = std::move(names[0]);
  if (names.size() > 1) entry.group_desc = std::move(names[1]);
}

void read_state(Members& members, const Value& of, Entry& entry) {
  const std::optional<Value> value = of.find("state");
  if (!value || value->is_none()) return;
  const std::string* text = value->text();
  const auto* const end = std::end(entry_state_names);
  const auto* const name = text == nullptr ? end : std::find(std::begin(entry_state_names), end, *text);
  if (name == end) return members.wrong("state", *value, fmt::format("one of {}", fmt::join(entry_state_names, ", ")));
  entry.state = static_cast<EntryState>(name - std::begin(entry_state_names));
}

void read_frames(Members& members, const Value& of, Entry& entry) {
  constexpr std::size_t most_frames = 256;
  for (const Value& value : members.items(of, "frames")) {
    if (entry.frames.size() == most_frames || !members.ok()) return;
    if (!members.is_record("frames", value)) return;
    Frame& frame = entry.frames.emplace_back();
    members.get(value, "name", frame.name);
    members.get(value, "filename", frame.file);
    members.get(value, frame_numbers, frame);
  }
}

void read_entry(Members& members, const Value& of, Entry& entry) {
  members.get(of, entry_numbers, entry);
  read_group_name(members, of, entry);
  members.get(of, "profiling_name", entry.name);
  members.get(of, "input_sizes", entry.input_sizes);
  members.get(of, "input_dtypes", entry.input_dtypes);
  members.get(of, "output_sizes", entry.output_sizes);
  members.get(of, "output_dtypes", entry.output_dtypes);
  read_state(members, of, entry);
  members.get(of, "is_p2p", entry.is_p2p);
  members.get(of, "retired", entry.retired);
  read_frames(members, of, entry);
}

}  // namespace

bool looks_like_dump(std::string_view text) { return looks_like_pickle(text) || looks_like_json(text); }

bool is_dump(const Tree& tree) {
  const Value root(tree);
  const bool about_groups = root.find("pg_config").has_value() || root.find("pg_status").has_value();
  return root.dict() != nullptr && root.find("version").has_value() &&
         (root.find("entries").has_value() || about_groups);
}

Result<Tree> read_tree(std::string_view text) { return looks_like_pickle(text) ? read_pickle(text) : read_json(text); }

Result<Dump> dump_of(const Tree& tree, Rank rank) {
  const Value root(tree);
  if (!is_dump(tree))
    return Error{
        Code::input_invalid,
        "it is not a dump of PyTorch's Flight Recorder, which is a dictionary with version, pg_config and entries",
        {}};
  Members members;
  Dump dump;
  dump.rank = rank;
  members.get(root, "version", dump.version);
  read_groups(members, root, dump);
  read_status(members, root, dump);
  members.enter("the dump");
  const std::vector<Value> entries = members.items(root, "entries");
  for (std::size_t i = 0; i < entries.size() && members.ok(); ++i) {
    members.enter(fmt::format("entry {}", i));
    Entry entry;
    if (members.is_record("entries", entries[i])) read_entry(members, entries[i], entry);
    if (members.ok()) dump.entries.push_back(std::move(entry));
    if (!members.forgive(dump.left_out)) break;
  }
  if (!members.ok()) return members.error();
  if (dump.entries.empty() && !entries.empty()) return Error{Code::input_invalid, dump.left_out.named().front(), {}};
  return dump;
}

}  // namespace pdsim::scenarios::pytorch
