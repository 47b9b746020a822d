#include "scenarios/diagnosis/analysis/recorded_sequences.h"

#include "scenarios/records/own_frame.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace pdsim::scenarios {
namespace {

// Numbers of places: equal ones have one number, and frames that calls share are compared once.
class Places {
 public:
  int number_of(const Call& call) {
    const int origin = origin_of(call);
    const bool is_known = origin > 0 || !call.purpose.empty();
    const Key key{call.name, origin, call.purpose, is_known ? std::int64_t{-1} : call.count, is_known ? DType::f32 : call.dtype};
    const auto last = last_.find(&*call.site.origin);  // most calls of a place follow one of the same place and size
    if (last != last_.end() && last->second.first == key) return last->second.second;
    const int number = numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
    last_[&*call.site.origin] = {key, number};
    return number;
  }

  // By the innermost line of the program alone.
  int line_of(const Call& call) {
    if (call.site.origin->frames.empty()) return -1;
    const auto [known, is_new] = line_by_origin_.try_emplace({&*call.site.origin, call.name}, 0);
    if (is_new) {
      const StackFrame& frame = *place_frame(call.site.origin->frames);
      known->second = lines_.try_emplace({call.name, frame.file, frame.function, frame.line}, static_cast<int>(lines_.size())).first->second;
    }
    return known->second;
  }

 private:
  struct Key {
    std::string_view name;
    int origin = 0;
    Purpose purpose;
    std::int64_t count = -1;
    DType dtype = DType::f32;
    bool operator==(const Key&) const = default;
    bool operator<(const Key& other) const {
      if (std::tie(name, origin, count, dtype) != std::tie(other.name, other.origin, other.count, other.dtype))
        return std::tie(name, origin, count, dtype) < std::tie(other.name, other.origin, other.count, other.dtype);
      return text_of(purpose) < text_of(other.purpose);
    }
  };

  int origin_of(const Call& call) {
    if (call.site.origin->frames.empty()) return 0;
    const auto [known, is_new] = by_identity_.try_emplace(&*call.site.origin, 0);
    if (is_new) {
      std::vector<std::tuple<std::string, std::string, int>> frames;
      for (const StackFrame& frame : call.site.origin->frames) frames.emplace_back(frame.file, frame.function, frame.line);
      known->second = by_content_.try_emplace(std::move(frames), static_cast<int>(by_content_.size()) + 1).first->second;
    }
    return known->second;
  }

  std::unordered_map<const CallOrigin*, int> by_identity_;
  std::map<std::vector<std::tuple<std::string, std::string, int>>, int> by_content_;
  std::map<Key, int> numbers_;
  std::map<std::pair<const CallOrigin*, std::string_view>, int> line_by_origin_;
  std::map<std::tuple<std::string, std::string, std::string, int>, int> lines_;
  std::unordered_map<const CallOrigin*, std::pair<Key, int>> last_;
};

// A group's calls by rank, each in the order of their numbers; nothing where one has gaps.
std::optional<GroupSequences> compared(std::string_view name, std::vector<RecordedSequence> sequences) {
  GroupSequences group;
  group.group = std::string(name);
  for (RecordedSequence& sequence : sequences) {
    const auto by_number = [](const Call* a, const Call* b) { return a->seq < b->seq; };
    if (!std::is_sorted(sequence.calls.begin(), sequence.calls.end(), by_number)) return std::nullopt;
    for (std::size_t i = 1; i < sequence.calls.size(); ++i)
      if (sequence.calls[i]->seq != sequence.calls[i - 1]->seq + 1) return std::nullopt;
    group.first = std::max(group.first, sequence.calls.front()->seq);
  }
  for (RecordedSequence& sequence : sequences) {
    const auto from = std::find_if(sequence.calls.begin(), sequence.calls.end(),
                                   [&](const Call* call) { return call->seq >= group.first; });
    sequence.calls.erase(sequence.calls.begin(), from);
    if (!sequence.calls.empty()) group.sequences.push_back(std::move(sequence));
  }
  if (group.sequences.size() < 2) return std::nullopt;
  return group;
}

std::vector<std::uint64_t> prefix_hashes(const std::vector<int>& places) {
  std::vector<std::uint64_t> hashes{0};
  hashes.reserve(places.size() + 1);
  for (const int place : places)
    hashes.push_back((hashes.back() ^ (static_cast<std::uint64_t>(place) + 0x9e3779b97f4a7c15ULL)) * 0x100000001b3ULL +
                     (hashes.back() >> 29));
  return hashes;
}

}  // namespace

std::vector<SequenceClass> GroupSequences::classes(std::size_t most) const {
  std::vector<const RecordedSequence*> by_length;
  for (const RecordedSequence& sequence : sequences) by_length.push_back(&sequence);
  std::stable_sort(by_length.begin(), by_length.end(), [](const RecordedSequence* a, const RecordedSequence* b) {
    return a->places.size() > b->places.size();
  });
  std::vector<SequenceClass> found;
  std::vector<std::vector<std::uint64_t>> hashes;  // by class, of the longest
  for (const RecordedSequence* sequence : by_length) {
    const std::uint64_t mine = prefix_hashes(sequence->places).back();
    SequenceClass* best = nullptr;
    for (std::size_t c = 0; c < found.size(); ++c)
      if (hashes[c][sequence->places.size()] == mine && (best == nullptr || found[c].ranks.size() > best->ranks.size()))
        best = &found[c];
    if (best == nullptr) {
      if (found.size() == most) return {};
      found.push_back({{}, sequence});
      hashes.push_back(prefix_hashes(sequence->places));
      best = &found.back();
    }
    best->ranks.push_back(sequence->rank);
  }
  for (SequenceClass& one : found) std::sort(one.ranks.begin(), one.ranks.end());
  std::stable_sort(found.begin(), found.end(),
                   [](const SequenceClass& a, const SequenceClass& b) { return a.ranks.size() > b.ranks.size(); });
  return found;
}

std::vector<GroupSequences> recorded_sequences(const RunRecord& run) {
  std::map<std::string_view, std::vector<RecordedSequence>> groups;
  for (const RankResult& result : run.ranks) {
    std::vector<RecordedSequence>* group = nullptr;
    std::string_view name;
    for (const Call& call : result.log.calls) {
      if (call.layer != Layer::collective || call.seq < 0) continue;
      if (group == nullptr || name != call.group) {
        group = &groups[call.group];
        name = call.group;
        if (group->empty() || group->back().rank != result.log.rank) group->push_back({result.log.rank, {}, {}, {}});
      }
      group->back().calls.push_back(&call);
    }
  }
  Places places;
  std::vector<GroupSequences> all;
  for (auto& [name, sequences] : groups) {
    if (sequences.size() < 2) continue;
    std::optional<GroupSequences> group = compared(name, std::move(sequences));
    if (!group) continue;
    for (RecordedSequence& sequence : group->sequences)
      for (const Call* call : sequence.calls) {
        sequence.places.push_back(places.number_of(*call));
        sequence.lines.push_back(places.line_of(*call));
      }
    all.push_back(std::move(*group));
  }
  return all;
}

}  // namespace pdsim::scenarios
