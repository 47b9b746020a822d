#include "scenarios/diagnosis/analysis/divergence.h"

#include "core/collectives/collective.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace pdsim::scenarios {
namespace {

// The calls of one number, in the order of the members. Those who did not make it are not listed, so that a hostile record of
// many ranks and numbers costs what it holds.
struct MemberCall {
  std::size_t member = 0;
  const Call* call = nullptr;
};
using Row = std::vector<MemberCall>;

struct GroupTable {
  std::vector<Rank> members;  // sorted
  std::vector<char> known;    // by member: its record is there
  std::vector<Seq> oldest;    // by member: the first number its record still holds
  std::vector<Seq> begins;    // those of the known members, sorted
  std::map<Seq, Row> rows;
  bool is_whole = false;  // all members are known, and each has a record
};
using Tables = std::map<std::string, GroupTable, std::less<>>;

// The groups in which anybody made a collective, or that anybody made, with their members.
Tables members_of(const RunRecord& run) {
  Tables tables;
  const auto size = static_cast<Rank>(run.ranks.size());
  for (const RankResult& result : run.ranks)
    for (const Note* note : notes_of<notes::GroupMade>(result.log)) {
      const auto& made = note->as<notes::GroupMade>();
      GroupTable& table = tables[made.group];
      table.is_whole = true;
      for (const Rank rank : made.ranks)
        if (rank >= 0 && rank < size) table.members.push_back(rank);
    }
  std::set<std::string_view> noted;
  for (const auto& [name, table] : tables) noted.insert(name);
  for (const RankResult& result : run.ranks)
    for (const Call& call : result.log.calls) {
      if (call.layer != Layer::collective || call.seq < 0) continue;
      GroupTable& table = tables[call.group];
      if (table.members.empty() || table.members.back() != result.log.rank) table.members.push_back(result.log.rank);
    }
  if (const auto world = tables.find("world"); world != tables.end() && noted.count("world") == 0) {
    world->second.is_whole = true;
    for (Rank r = 0; r < size; ++r) world->second.members.push_back(r);
  }
  for (auto& [name, table] : tables) {
    std::vector<Rank>& members = table.members;
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    table.known.assign(members.size(), 1);
    table.oldest.assign(members.size(), 0);
  }
  return tables;
}

std::size_t place_of(const GroupTable& table, Rank rank) {
  return static_cast<std::size_t>(std::lower_bound(table.members.begin(), table.members.end(), rank) -
                                  table.members.begin());
}

// Where each rank's record begins in this group, and of whom there is none.
void find_oldest(const RunRecord& run, const std::vector<char>& lost, GroupTable& table) {
  std::vector<Seq> begin(table.members.size(), table.rows.empty() ? 0 : table.rows.rbegin()->first + 1);
  Seq before = 0;  // the number after the row before
  for (const auto& [seq, row] : table.rows) {
    for (const MemberCall& c : row) begin[c.member] = std::min(begin[c.member], before);
    before = seq + 1;
  }
  for (std::size_t m = 0; m < table.members.size(); ++m) {
    if (lost[static_cast<std::size_t>(table.members[m])] != 0) {
      table.is_whole = false;
      table.known[m] = 0;
    }
    if (log_of(run, table.members[m]).dropped != 0) table.oldest[m] = begin[m];
    if (table.known[m] != 0) table.begins.push_back(table.oldest[m]);
  }
  std::sort(table.begins.begin(), table.begins.end());
}

Tables tables_of(const RunRecord& run) {
  Tables tables = members_of(run);
  for (const RankResult& result : run.ranks) {
    GroupTable* table = nullptr;
    std::string_view name;
    std::size_t place = 0;
    for (const Call& call : result.log.calls) {
      if (call.layer != Layer::collective || call.seq < 0) continue;
      if (table == nullptr || name != call.group) {
        table = &tables.find(call.group)->second;
        name = call.group;
        place = place_of(*table, result.log.rank);
      }
      Row& row = table->rows[call.seq];
      if (row.empty() || row.back().member != place) row.push_back({place, &call});
    }
  }
  std::vector<char> lost;  // by rank: a rank of thousands of groups is asked once
  for (const RankResult& result : run.ranks) lost.push_back(is_lost(result.log) ? 1 : 0);
  for (auto& [name, table] : tables) find_oldest(run, lost, table);
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

// By rank of the group.
RankCalls calls_of_all(const GroupTable& table, const Row& row) {
  RankCalls calls;
  calls.reserve(table.members.size());
  for (const Rank rank : table.members) calls.emplace_back(rank, nullptr);
  for (const MemberCall& c : row) calls[c.member].second = c.call;
  return calls;
}

bool splits_fit(const GroupTable& table, const Row& row) {
  const bool has_splits =
      std::any_of(row.begin(), row.end(), [](const MemberCall& c) { return !c.call->details->sends.empty(); });
  return !table.is_whole || !has_splits || !split_mismatch(calls_of_all(table, row));
}

bool is_compared(const GroupTable& table, std::size_t member, Seq seq) {
  return table.known[member] != 0 && seq >= table.oldest[member];
}

// Returns the field that differs in this row; nothing if all agree.
std::optional<DivergenceKind> differing_field(const GroupTable& table, Seq seq, const Row& row) {
  for (const Field& field : fields)
    for (const MemberCall& c : row)
      if (!field.same(*row.front().call, *c.call)) return field.kind;
  if (!splits_fit(table, row)) return DivergenceKind::count;
  const auto compared = std::upper_bound(table.begins.begin(), table.begins.end(), seq) - table.begins.begin();
  const auto made =
      std::count_if(row.begin(), row.end(), [&](const MemberCall& c) { return is_compared(table, c.member, seq); });
  if (made < compared) return DivergenceKind::missing;
  return std::nullopt;
}

std::vector<Rank> minority_of(const RankCalls& entries) {
  const std::vector<CallCamp> camps = camps_of(entries);
  const auto largest = std::max_element(camps.begin(), camps.end(), [](const CallCamp& a, const CallCamp& b) {
    return a.ranks.size() < b.ranks.size();
  });
  const auto as_large = std::count_if(camps.begin(), camps.end(),
                                      [&](const CallCamp& c) { return c.ranks.size() == largest->ranks.size(); });
  std::vector<Rank> ranks;
  if (as_large > 1) return ranks;
  for (const CallCamp& camp : camps)
    if (&camp != &*largest) ranks.insert(ranks.end(), camp.ranks.begin(), camp.ranks.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

Divergence describe(const std::string& group, const GroupTable& table, Seq seq, const Row& row, DivergenceKind field) {
  Divergence d;
  d.group = group;
  d.seq = seq;
  d.field = field;
  d.at = Time::max();
  const RankCalls calls = calls_of_all(table, row);
  RankCalls entries;
  for (std::size_t m = 0; m < calls.size(); ++m) {
    if (!is_compared(table, m, seq)) continue;
    const auto& [rank, call] = entries.emplace_back(calls[m]);
    d.entries.push_back({rank, call != nullptr ? call_text(*call) : "did not call it",
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

std::vector<CallCamp> camps_of(const RankCalls& calls) {
  std::vector<CallCamp> camps;
  std::map<std::pair<std::string_view, std::int64_t>, std::vector<std::size_t>> alike;  // what is the same in the same calls
  for (const auto& [rank, call] : calls) {
    const bool is_even = call != nullptr && call->details->sends.empty() && call->details->receives.empty();
    std::vector<std::size_t>& known =
        alike[{call == nullptr ? std::string_view() : std::string_view(call->name), is_even ? call->count : -1}];
    const Call* const mine = call;
    const auto camp = std::find_if(known.begin(), known.end(), [&](std::size_t c) {
      const Call* const theirs = camps[c].call;
      return theirs == nullptr || mine == nullptr ? theirs == mine : same_call(*theirs, *mine);
    });
    if (camp != known.end()) {
      camps[*camp].ranks.push_back(rank);
    } else {
      known.push_back(camps.size());
      camps.push_back({call, {rank}});
    }
  }
  return camps;
}

std::vector<Divergence> first_divergences(const RunRecord& run) {
  std::vector<Divergence> all;
  for (const auto& [group, table] : tables_of(run))
    for (const auto& [seq, row] : table.rows)
      if (const std::optional<DivergenceKind> field = differing_field(table, seq, row)) {
        all.push_back(describe(group, table, seq, row, *field));
        break;
      }
  return all;
}

std::optional<Divergence> first_divergence(const RunRecord& run) {
  std::vector<Divergence> all = first_divergences(run);
  const auto first =
      std::min_element(all.begin(), all.end(), [](const Divergence& a, const Divergence& b) { return a.at < b.at; });
  return first == all.end() ? std::nullopt : std::optional(std::move(*first));
}

Divergence divergence_of_places(const RunRecord& run, const PlacesMet& met) {
  Divergence d;
  d.group = met.group;
  d.seq = met.seq;
  d.field = DivergenceKind::place;
  d.minority = met.minority;
  d.at = Time::max();
  for (const RankResult& result : run.ranks) {
    const Call* call = collective_at(result.log, met.group, met.seq);
    if (call == nullptr) continue;
    d.entries.push_back({result.log.rank, call_text(*call), call->id});
    d.at = std::min(d.at, call->issued);
  }
  return d;
}

}  // namespace pdsim::scenarios
