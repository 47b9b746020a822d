// Members of a dump's dictionaries, by name, with errors that say which one is wrong.
//
//   order  the names are known beforehand, and looked up once for each key that the dump shares
//   twice  where a key occurs twice the last one counts, as in Python
#pragma once

#include "core/base/left_out.h"
#include "core/base/result.h"
#include "core/record/record_check.h"
#include "scenarios/records/pytorch/forms/value.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::scenarios::pytorch {

// The names of all members that are read, sorted.
constexpr std::array<std::string_view, 33> member_names{"collective_seq_id",
                                                        "desc",
                                                        "entries",
                                                        "filename",
                                                        "frames",
                                                        "input_dtypes",
                                                        "input_sizes",
                                                        "is_p2p",
                                                        "last_completed_collective",
                                                        "last_enqueued_collective",
                                                        "last_started_collective",
                                                        "line",
                                                        "name",
                                                        "op_id",
                                                        "output_dtypes",
                                                        "output_sizes",
                                                        "p2p_seq_id",
                                                        "pg_config",
                                                        "pg_id",
                                                        "pg_name",
                                                        "pg_status",
                                                        "process_group",
                                                        "profiling_name",
                                                        "ranks",
                                                        "record_id",
                                                        "retired",
                                                        "seq_id",
                                                        "state",
                                                        "time_created_ns",
                                                        "time_discovered_completed_ns",
                                                        "time_discovered_started_ns",
                                                        "timeout_ms",
                                                        "version"};
static_assert(std::is_sorted(member_names.begin(), member_names.end()));

// The index of a name in the list.
class Key {
 public:
  consteval Key(const char* name) : Key(std::string_view(name)) {}
  consteval Key(std::string_view name) {
    index_ = static_cast<std::uint8_t>(std::lower_bound(member_names.begin(), member_names.end(), name) -
                                       member_names.begin());
    if (index_ == member_names.size() || member_names[index_] != name) throw "not a name of the list";
  }
  constexpr std::size_t index() const { return index_; }
  constexpr std::string_view name() const { return member_names[index_]; }

 private:
  std::uint8_t index_ = 0;
};

template <class Of>
struct NumberMember {
  Key key;
  NumberField<Of> field;
};
template <class Of>
consteval NumberMember<Of> number(const char* name, std::int64_t Of::*member, std::int64_t lowest,
                                  std::int64_t highest) {
  return {Key(name), {name, member, lowest, highest}};
}

// Maps the keys of one tree to names.
class KeyIndex {
 public:
  explicit KeyIndex(const Tree& tree) : known_(tree.nodes.size(), unknown) {}
  // The index in the list; member_names.size() when it is not in it.
  std::size_t of(const Value& key);

 private:
  static constexpr std::uint8_t unknown = std::numeric_limits<std::uint8_t>::max();
  std::vector<std::uint8_t> known_;  // by node
};

// The members of one dictionary. Cost: its length once; then one step for each query.
class Record {
 public:
  Record(const Value& dict, KeyIndex& keys);
  std::optional<Value> find(Key key) const {
    const NodeId id = members_[key.index()];
    return id == absent ? std::nullopt : std::optional(dict_.at(id));
  }
  static constexpr NodeId absent = std::numeric_limits<NodeId>::max();
  NodeId node(Key key) const { return members_[key.index()]; }

 private:
  Value dict_;
  std::array<NodeId, member_names.size()> members_;
};

using Sizes = std::vector<std::vector<std::int64_t>>;  // per tensor

constexpr std::int64_t most_values = std::int64_t{1} << 22;

// Reads members and keeps the first error.
class Members {
 public:
  bool ok() const { return problem_.empty(); }
  Error error() const { return {Code::input_invalid, problem_, {}}; }
  // Names the object that is read from now on, for errors: "entry ", "3"; or "group ", "0", " of pg_config".
  void enter(std::string_view before, std::string name = {}, std::string_view behind = {}) {
    place_ = {before, std::move(name), behind};
  }
  // An error in one entry drops only that entry; false when it invalidates the dump.
  bool forgive(LeftOut& left_out);
  void refuse(const std::string& why);
  void wrong(std::string_view name, const Value& value, std::string_view wanted);
  bool is_dictionary(std::string_view name, const Value& value);
  // Counts values copied out of the tree: a hostile dump may name one list a million times.
  bool afford();

  // An absent member, or None, leaves `into` unchanged.
  void get(const Record& of, Key key, std::string& into);
  void get(const Record& of, Key key, bool& into);
  void get(const Record& of, Key key, std::vector<std::string>& into);
  void get(const Record& of, Key key, Sizes& into);
  template <class Of, std::size_t N>
  void get(const Record& of, const std::array<NumberMember<Of>, N>& rows, Of& into) {
    for (const NumberMember<Of>& row : rows)
      if (const auto number = number_of(of, row.key, row.field.lowest, row.field.highest)) row.field.set(into, *number);
  }
  std::span<const NodeId> items(const Record& of, Key key);

 private:
  std::optional<std::int64_t> number_of(const Record& of, Key key, std::int64_t lowest, std::int64_t highest);
  // The member, if there is one within the limits.
  std::optional<Value> present(const Record& of, Key key);

  struct Place {
    std::string_view before = "the dump";
    std::string name;
    std::string_view behind;
  };
  Place place_;
  std::string problem_;
  std::int64_t left_ = most_values;
};

// Parses a text that is nothing but a number.
std::optional<std::int64_t> number_in(std::string_view text);

}  // namespace pdsim::scenarios::pytorch
