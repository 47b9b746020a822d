#include "scenarios/guests/saved/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

struct Looped {
  std::size_t operation = 0;  // where `body` is empty
  std::size_t times = 1;
  std::vector<Looped> body;
};

class Loops {
 public:
  explicit Loops(const std::vector<MergedOperation>& program) : waited_by_(program.size(), SavedOperation::nothing) {
    using Key = std::tuple<std::string, std::string, std::string, bool, std::size_t, std::vector<Rank>>;
    std::map<Key, int> known;
    for (std::size_t i = 0; i < program.size(); ++i) {
      const MergedOperation& entry = program[i];
      const std::size_t target = entry.awaits;
      const std::size_t back = target == SavedOperation::nothing ? 0 : i - target;
      if (back != 0) waited_by_[target] = i;
      targets_.push_back(target);
      const SavedOperation& o = entry.operation;
      const auto [found, is_new] =
          known.emplace(Key(o.name, o.options, o.place, o.is_async, back, entry.ranks), static_cast<int>(known.size()));
      keys_.push_back(found->second);
    }
  }

  std::vector<Looped> folded(std::size_t first, std::size_t last) const {
    std::vector<Looped> folded_;
    for (std::size_t at = first; at < last;) {
      const auto [length, rounds] = best_loop(at, last);
      if (rounds < 2) {
        folded_.push_back({at++, 1, {}});
        continue;
      }
      folded_.push_back({0, rounds, folded(at, at + length)});
      at += length * rounds;
    }
    return folded_;
  }

 private:
  // The one that covers most; of several, the shortest.
  std::pair<std::size_t, std::size_t> best_loop(std::size_t at, std::size_t last) const {
    std::pair<std::size_t, std::size_t> best{1, 1};
    for (std::size_t length = 1; length <= most_of_a_round && at + 2 * length <= last; ++length) {
      const std::size_t rounds = rounds_of(at, length, last);
      if (rounds >= 2 && length * rounds > best.first * best.second) best = {length, rounds};
    }
    return best;
  }

  std::size_t rounds_of(std::size_t at, std::size_t length, std::size_t last) const {
    if (keys_[at] != keys_[at + length] || !is_closed(at, length)) return 1;
    std::size_t rounds = 1;
    for (std::size_t next = at + length; next + length <= last; next += length, ++rounds) {
      const auto begin = keys_.begin();
      const auto place = [&](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
      if (!std::equal(place(at), place(at + length), place(next)) || !is_closed(next, length)) break;
    }
    return rounds;
  }

  // Waits and what they wait for are in it together.
  bool is_closed(std::size_t at, std::size_t length) const {
    for (std::size_t i = at; i < at + length; ++i) {
      if (targets_[i] != SavedOperation::nothing && targets_[i] < at) return false;
      if (waited_by_[i] != SavedOperation::nothing && waited_by_[i] >= at + length) return false;
    }
    return true;
  }

  std::vector<int> keys_;
  std::vector<std::size_t> targets_, waited_by_;
};

class Text {
 public:
  Text(const std::vector<MergedOperation>& program, int ranks) : program_(program), ranks_(ranks) {}

  void write(const std::vector<Looped>& entries, std::size_t indent) {
    for (const Looped& entry : entries) {
      if (entry.body.empty()) {
        write(program_[entry.operation], entry.operation, indent);
        continue;
      }
      const std::string space(indent, ' ');
      text_ += fmt::format("{}- repeat:\n{}    times: {}\n{}    do:\n", space, space, entry.times, space);
      write(entry.body, indent + 6);
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void write(const MergedOperation& entry, std::size_t number, std::size_t indent) {
    const SavedOperation& o = entry.operation;
    if (o.stops) {  // faults strike at an operation of a step
      const std::string outer(indent, ' ');
      text_ += fmt::format("{}- repeat:\n{}    times: 1\n{}    do:\n", outer, outer, outer);
      indent += 6;
    }
    std::string options = o.options;
    const bool has_label = o.is_async;
    if (o.is_async && !is_message(o.name))
      options += options.empty() ? "async: true" : ", async: true";
    if (entry.awaits != SavedOperation::nothing) options = "for: " + label_of(entry.awaits);
    const std::string name = o.is_async && is_message(o.name) ? "i" + o.name : o.name;
    const bool on_all = static_cast<int>(entry.ranks.size()) == ranks_;
    const std::string space(indent, ' ');
    text_ += fmt::format("{}- {}", space, name);
    if (!options.empty())
      text_ += fmt::format(": {{{}}}", options);
    else if (has_label || !on_all)
      text_ += ":";
    if (!o.place.empty()) text_ += "  # " + o.place;
    text_ += "\n";
    if (has_label) text_ += fmt::format("{}  label: {}\n", space, label_of(number));
    if (!on_all) text_ += fmt::format("{}  when: {{rank: {}}}\n", space, set_text(entry.ranks));
  }

  static bool is_message(const std::string& name) { return name == "send" || name == "recv"; }

  std::string label_of(std::size_t operation) {
    const auto [found, is_new] = labels_.emplace(operation, labels_.size() + 1);
    return fmt::format("work_{}", found->second);
  }

  const std::vector<MergedOperation>& program_;
  const int ranks_;
  std::map<std::size_t, std::size_t> labels_;
  std::string text_;
};

}  // namespace

std::string set_text(const std::vector<Rank>& ranks) {
  if (ranks.size() == 1) return std::to_string(ranks.front());
  const bool is_range = ranks.back() - ranks.front() + 1 == static_cast<Rank>(ranks.size());
  return is_range ? fmt::format("{}..{}", ranks.front(), ranks.back())
                  : fmt::format("[{}]", fmt::join(ranks, ", "));
}

std::string program_text(const std::vector<MergedOperation>& program, int ranks) {
  Text text(program, ranks);
  text.write(Loops(program).folded(0, program.size()), 2);
  return text.take();
}

}  // namespace pdsim::scenarios::guests
