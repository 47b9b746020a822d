#include "scenarios/diagnosis/analysis/divergence.h"

#include "core/collectives/collective.h"
#include "scenarios/diagnosis/analysis/split_sizes.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace pdsim::scenarios {
namespace {

using Row = std::vector<const Call*>;  // by rank; null: the rank did not call it

struct GroupTable {
  std::vector<char> members;
  std::vector<Seq> oldest;  // by rank: the first number its record still holds
  std::map<Seq, Row> rows;
  bool is_whole = false;  // all members are known, and each has a record
};

std::map<std::string, GroupTable> tables_of(const RunRecord& run) {
  const std::size_t ranks = run.ranks.size();
  std::map<std::string, GroupTable> tables;
  for (const RankResult& result : run.ranks)
    for (const Note* note : notes_of<notes::GroupMade>(result.log)) {
      const auto& made = note->as<notes::GroupMade>();
      GroupTable& table = tables[made.group];
      table.members.resize(ranks, 0);
      table.oldest.resize(ranks, 0);
      table.is_whole = true;
      for (const Rank rank : made.ranks)
        if (rank >= 0 && static_cast<std::size_t>(rank) < ranks) table.members[static_cast<std::size_t>(rank)] = 1;
    }
  for (std::size_t r = 0; r < ranks; ++r) {
    for (const Call& call : run.ranks[r].log.calls) {
      if (call.layer != Layer::collective || call.seq < 0) continue;
      GroupTable& table = tables[call.group];
      if (table.members.empty()) {
        table.members.assign(ranks, call.group == "world" ? 1 : 0);
        table.oldest.assign(ranks, 0);
        table.is_whole = call.group == "world";
      }
      table.members[r] = 1;
      Row& row = table.rows[call.seq];
      if (row.empty()) row.resize(ranks, nullptr);
      if (row[r] == nullptr) row[r] = &call;
    }
  }
  for (std::size_t r = 0; r < ranks; ++r)
    if (is_lost(run.ranks[r].log))
      for (auto& [name, table] : tables) {
        table.is_whole = table.is_whole && table.members[r] == 0;
        table.members[r] = 0;
      }
  for (auto& [name, table] : tables)
    for (std::size_t r = 0; r < ranks; ++r)
      if (run.ranks[r].log.dropped > 0)
        for (auto it = table.rows.begin(); it != table.rows.end() && it->second[r] == nullptr; ++it)
          table.oldest[r] = it->first + 1;
  return tables;
}

// Each rank's own count differs in uneven calls; the list of all is what they must pass alike. What all_to_all_v sends and
// receives is each pair's matter (split_sizes.h).
bool same_count(const Call& a, const Call& b) {
  const bool uneven = !a.details->sends.empty() || !a.details->receives.empty();
  if (!uneven) return a.count == b.count;
  if (row(CollectiveKind::all_to_all_v).name == a.name || row(CollectiveKind::all_to_all).name == a.name) return true;
  return a.details->sends == b.details->sends && a.details->receives == b.details->receives;
}

struct Field {
  DivergenceKind kind;
  bool (*same)(const Call&, const Call&);
};
constexpr Field fields[] = {
    {DivergenceKind::operation, [](const Call& a, const Call& b) { return a.name == b.name; }},
    {DivergenceKind::root, [](const Call& a, const Call& b) { return a.root == b.root; }},
    {DivergenceKind::reduce_operation, [](const Call& a, const Call& b) { return a.op == b.op; }},
    {DivergenceKind::dtype,
     [](const Call& a, const Call& b) {
       return a.dtype == b.dtype && a.details->dtype == b.details->dtype;  // one that has no DType
     }},
    {DivergenceKind::count, same_count},
    {DivergenceKind::purpose, [](const Call& a, const Call& b) { return a.purpose == b.purpose; }},
};

bool splits_fit(const GroupTable& table, const Row& row) {
  if (!table.is_whole) return true;
  std::vector<std::pair<Rank, const Call*>> calls;  // by rank of the group
  for (std::size_t r = 0; r < row.size(); ++r)
    if (table.members[r] != 0) calls.emplace_back(static_cast<Rank>(r), row[r]);
  return !split_mismatch(calls);
}

bool is_compared(const GroupTable& table, std::size_t rank, Seq seq) {
  return table.members[rank] != 0 && seq >= table.oldest[rank];
}

// What differs in this row; nothing when they agree.
std::optional<DivergenceKind> differing_field(const GroupTable& table, Seq seq, const Row& row) {
  const auto first = std::find_if(row.begin(), row.end(), [](const Call* c) { return c != nullptr; });
  for (const Field& field : fields)
    for (const Call* call : row)
      if (call != nullptr && !field.same(**first, *call)) return field.kind;
  if (!splits_fit(table, row)) return DivergenceKind::count;
  for (std::size_t r = 0; r < row.size(); ++r)
    if (row[r] == nullptr && is_compared(table, r, seq)) return DivergenceKind::missing;
  return std::nullopt;
}

bool are_same(const Call* a, const Call* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return same_call(*a, *b);
}

std::vector<Rank> minority_of(const std::vector<std::pair<Rank, const Call*>>& entries) {
  std::vector<std::vector<std::size_t>> camps;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto camp = std::find_if(camps.begin(), camps.end(), [&](const std::vector<std::size_t>& c) {
      return are_same(entries[c.front()].second, entries[i].second);
    });
    if (camp == camps.end()) {
      camps.push_back({i});
    } else {
      camp->push_back(i);
    }
  }
  const auto largest =
      std::max_element(camps.begin(), camps.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto as_large =
      std::count_if(camps.begin(), camps.end(), [&](const auto& c) { return c.size() == largest->size(); });
  std::vector<Rank> ranks;
  if (as_large > 1) return ranks;
  for (const auto& camp : camps)
    if (&camp != &*largest)
      for (const std::size_t i : camp) ranks.push_back(entries[i].first);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

Divergence describe(const std::string& group, const GroupTable& table, Seq seq, const Row& row, DivergenceKind field) {
  Divergence d;
  d.group = group;
  d.seq = seq;
  d.field = field;
  d.at = Time::max();
  std::vector<std::pair<Rank, const Call*>> entries;
  for (std::size_t r = 0; r < row.size(); ++r) {
    if (!is_compared(table, r, seq)) continue;
    const Call* call = row[r];
    entries.emplace_back(static_cast<Rank>(r), call);
    d.entries.push_back({static_cast<Rank>(r), call != nullptr ? call_text(*call) : "did not call it",
                         call != nullptr ? call->id : -1});
    if (call != nullptr) d.at = std::min(d.at, call->issued);
  }
  d.minority = minority_of(entries);
  return d;
}

}  // namespace

bool same_call(const Call& a, const Call& b) {
  return a.details->sends == b.details->sends &&
         std::all_of(std::begin(fields), std::end(fields), [&](const Field& f) { return f.same(a, b); });
}

std::optional<Divergence> first_divergence(const RunRecord& run) {
  std::optional<Divergence> first;
  for (const auto& [group, table] : tables_of(run)) {
    for (const auto& [seq, row] : table.rows) {
      const std::optional<DivergenceKind> field = differing_field(table, seq, row);
      if (!field) continue;
      Divergence found = describe(group, table, seq, row, *field);
      if (!first || found.at < first->at) first = std::move(found);
      break;
    }
  }
  return first;
}

}  // namespace pdsim::scenarios
