#include "scenarios/engine/pytorch/dump.h"

#include "scenarios/engine/pytorch/json.h"
#include "scenarios/engine/pytorch/pickle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace pdsim::scenarios::pytorch {
namespace {

std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return text;
}

// Reads members of dictionaries; the first that is wrong is kept.
class Members {
 public:
  bool ok() const { return problem_.empty(); }
  Error error() const { return {Code::input_invalid, problem_, {}}; }
  void enter(std::string place) { place_ = std::move(place); }

  void wrong(std::string_view key, const Value& value, std::string_view wanted) {
    if (ok()) problem_ = fmt::format("{}: `{}` is {}, and must be {}", place_, key, value.kind(), wanted);
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
  void get(const Value& of, std::string_view key, std::int64_t& into) {
    const std::optional<Value> value = of.find(key);
    if (!value || value->is_none() || !afford()) return;
    if (const auto number = value->integer()) {
      into = *number;
    } else if (const std::string* text = value->text(); text == nullptr || !parsed(*text, into)) {
      wrong(key, *value, "an integer");
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
        if (!size || *size < 0) return wrong(key, item, "a list of lists of integers from 0 on");
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

// "[0, 1, 2]", as the recorder writes it, or a list of integers.
void read_ranks(Members& members, const Value& of, std::vector<std::int64_t>& ranks) {
  const std::optional<Value> value = of.find("ranks");
  if (!value || value->is_none()) return;
  if (const List* list = value->list()) {
    for (const NodeId id : list->items) {
      const auto rank = value->at(id).integer();
      if (!members.afford()) return;
      if (!rank || *rank < 0) return members.wrong("ranks", value->at(id), "a rank from 0 on");
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
      if (!Members::parsed(rest.substr(0, end), rank) || rank < 0)
        return members.wrong("ranks", *value, "a list of ranks, as [0, 1]");
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
    if (!members.is_record(group.name, value)) return;
    members.get(value, "name", group.name);
    members.get(value, "desc", group.desc);
    read_ranks(members, value, group.ranks);
    into.groups.push_back(std::move(group));
  }
}

void read_status(Members& members, const Value& dump, Dump& into) {
  const std::optional<Value> status = dump.find("pg_status");
  if (!status || status->dict() == nullptr) return;  // read for what it tells, and needed for nothing
  const std::vector<NodeId>& entries = status->dict()->items;
  for (std::size_t i = 0; i + 1 < entries.size() && members.ok(); i += 2) {
    const Value key = status->at(entries[i]), value = status->at(entries[i + 1]);
    if (!members.is_record("pg_status", value)) return;
    GroupStatus& row = into.status.emplace_back();
    if (key.text() != nullptr) row.pg_id = printable(*key.text());
    members.enter(fmt::format("group {} of pg_status", row.pg_id));
    members.get(value, "last_enqueued_collective", row.enqueued);
    members.get(value, "last_started_collective", row.started);
    members.get(value, "last_completed_collective", row.completed);
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
    members.get(value, "line", frame.line);
  }
}

void read_entry(Members& members, const Value& of, Entry& entry) {
  members.get(of, "record_id", entry.record_id);
  members.get(of, "pg_id", entry.pg_id);
  read_group_name(members, of, entry);
  members.get(of, "seq_id", entry.collective_seq);  // as older versions call it
  members.get(of, "collective_seq_id", entry.collective_seq);
  members.get(of, "p2p_seq_id", entry.p2p_seq);
  members.get(of, "op_id", entry.op_id);
  members.get(of, "profiling_name", entry.name);
  members.get(of, "time_created_ns", entry.created_ns);
  members.get(of, "time_discovered_started_ns", entry.started_ns);
  members.get(of, "time_discovered_completed_ns", entry.completed_ns);
  members.get(of, "input_sizes", entry.input_sizes);
  members.get(of, "input_dtypes", entry.input_dtypes);
  members.get(of, "output_sizes", entry.output_sizes);
  members.get(of, "output_dtypes", entry.output_dtypes);
  read_state(members, of, entry);
  members.get(of, "is_p2p", entry.is_p2p);
  members.get(of, "retired", entry.retired);
  members.get(of, "timeout_ms", entry.timeout_ms);
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
        "it is no dump of PyTorch's Flight Recorder, which is a dictionary with version, pg_config and entries",
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
    if (members.is_record("entries", entries[i])) read_entry(members, entries[i], dump.entries.emplace_back());
  }
  if (!members.ok()) return members.error();
  return dump;
}

}  // namespace pdsim::scenarios::pytorch
