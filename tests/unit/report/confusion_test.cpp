// Generated programs with one planted defect each, run in the simulated world: which diagnosis speaks, and whom it names.
//
//   table   printed: one row per planted defect, one column per diagnosis
//   holds   correct programs are never diagnosed; nobody but the culprit is named; every defect that did harm is explained

#include "core/base/random.h"
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

struct Op {
  std::string name;
  int count = 4;
  std::string dtype = "f32";
  std::string reduce = "sum";
  int root = 0;
  int from = 0, to = 1;  // of a message
};

bool is_rooted(const Op& op) { return op.name == "broadcast" || op.name == "reduce"; }
bool reduces(const Op& op) { return op.name == "all_reduce" || op.name == "reduce"; }

std::string entry(const Op& op, const std::string& ranks) {
  std::string options = op.name == "barrier" ? "" : fmt::format("count: {}, dtype: {}", op.count, op.dtype);
  if (reduces(op)) options += ", op: " + op.reduce;
  if (is_rooted(op)) options += fmt::format(", {}: {}", op.name == "broadcast" ? "src" : "dst", op.root);
  const std::string text = fmt::format("  - {}: {{{}}}\n", op.name, options);
  return ranks.empty() ? text : text + fmt::format("    when: {{rank: {}}}\n", ranks);
}

enum class Defect {
  none,
  slow_rank,
  delayed_message,
  duplicated_message,
  reordered_message,
  other_operation,
  other_root,
  other_reduce,
  other_dtype,
  other_count,
  left_out,
  one_more,
  swapped,
  unmatched_send,
  crash,
  hang,
  lost_message,
  corrupted_message,
  short_timeout
};
struct Row {
  Defect defect;
  std::string_view name;
  std::set<std::string> right;  // diagnoses that explain it; empty: nothing must be said
  bool names_culprit;           // and nobody else
};
const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {Defect::none, "none", {}, false},
      {Defect::slow_rank, "slow rank", {}, false},
      {Defect::delayed_message, "delayed message", {}, false},
      {Defect::duplicated_message, "duplicated message", {}, false},
      {Defect::reordered_message, "reordered message", {}, false},
      {Defect::other_operation, "other operation", {"collective-mismatch"}, true},
      {Defect::other_root, "other root", {"root-mismatch"}, true},
      {Defect::other_reduce, "other reduce op", {"parameter-mismatch"}, true},
      {Defect::other_dtype, "other dtype", {"parameter-mismatch"}, true},
      {Defect::other_count, "other count", {"parameter-mismatch"}, true},
      // Beside a call of the same kind, when nobody gets further, they look like another argument.
      {Defect::left_out,
       "call left out",
       {"collective-mismatch", "missing-call", "root-mismatch", "parameter-mismatch"},
       true},
      {Defect::one_more,
       "one call more",
       {"collective-mismatch", "missing-call", "root-mismatch", "parameter-mismatch"},
       true},
      {Defect::swapped, "calls swapped", {"collective-mismatch"}, true},
      {Defect::unmatched_send, "unmatched recv", {"unmatched-message"}, false},
      {Defect::crash, "crash", {"rank-died"}, true},
      {Defect::hang, "hang", {"rank-hung"}, true},
      {Defect::lost_message, "lost message", {"message-lost"}, false},
      {Defect::corrupted_message, "corrupted message", {"message-corrupted"}, false},
      {Defect::short_timeout, "short timeout", {"delayed-enter"}, true},
  };
  return all;
}

class DefectCase {
 public:
  DefectCase(std::uint64_t seed, Defect defect) : random_(seed), defect_(defect) {
    constexpr const char* backends[] = {"gloo", "nccl", "mpi", "ideal"};
    backend_ = backends[random_.below(4)];
    ranks_ = 3 + static_cast<int>(random_.below(3));
    culprit_ = static_cast<int>(random_.below(static_cast<std::uint64_t>(ranks_)));
    const int size = 5 + static_cast<int>(random_.below(6));
    for (int i = 0; i < size; ++i) program_.push_back(any(i));
    at_ = random_.below(static_cast<std::uint64_t>(size - 1));
    program_[at_] = collective();
    program_[at_ + 1] = collective();
  }

  Rank culprit() const { return culprit_; }

  std::string text() {
    std::string program;
    for (std::size_t i = 0; i < program_.size(); ++i) program += i == at_ ? planted() : plain(program_[i]);
    std::string timeout = defect_ == Defect::short_timeout ? ", timeout: 1ms" : "";
    return fmt::format(
        "pdsim: 1\nname: generated\nsummary: One planted defect.\nseed: 7\n"
        "world: {{ranks: {}, backend: {}, link: {{latency: 5us, bandwidth: 25GB/s}}{}}}\nprogram:\n  - "
        "init_process_group\n{}{}"
        "expect: {{outcome: ok}}\n",
        ranks_, backend_, timeout, program, faults());
  }

 private:
  Op any(int i) {
    if (i % 3 != 2) return collective();
    Op op{"message"};
    op.from = static_cast<int>(random_.below(static_cast<std::uint64_t>(ranks_)));
    op.to = (op.from + 1) % ranks_;
    return op;
  }

  Op collective() {
    constexpr const char* names[] = {"all_reduce", "broadcast", "reduce", "all_gather", "barrier"};
    constexpr int counts[] = {1, 5, 64, 4096};
    Op op{names[random_.below(5)]};
    op.count = counts[random_.below(4)];
    op.root = static_cast<int>(random_.below(static_cast<std::uint64_t>(ranks_)));
    return op;
  }

  std::string plain(const Op& op) const {
    if (op.name != "message") return entry(op, "");
    return fmt::format("  - send: {{dst: {}, count: 8}}\n    when: {{rank: {}}}\n", op.to, op.from) +
           fmt::format("  - recv: {{src: {}, count: 8}}\n    when: {{rank: {}}}\n", op.from, op.to);
  }

  std::string others() const {
    std::string list;
    for (int r = 0; r < ranks_; ++r)
      if (r != culprit_) list += fmt::format("{}{}", list.empty() ? "" : ", ", r);
    return "[" + list + "]";
  }

  std::string differing(const Op& right, const Op& wrong) const {
    return entry(right, others()) + entry(wrong, std::to_string(culprit_));
  }

  std::string planted() {
    Op& op = program_[at_];
    const std::string mine = std::to_string(culprit_);
    if (defect_ == Defect::other_root || defect_ == Defect::other_reduce || defect_ == Defect::other_dtype ||
        defect_ == Defect::other_count)
      op.name = defect_ == Defect::other_root ? "broadcast" : "all_reduce";
    Op wrong = op;
    switch (defect_) {
      case Defect::other_operation:
        wrong.name = op.name == "all_reduce" ? "broadcast" : "all_reduce";
        return differing(op, wrong);
      case Defect::other_root:
        wrong.root = (op.root + 1) % ranks_;
        return differing(op, wrong);
      case Defect::other_reduce:
        wrong.reduce = "max";
        return differing(op, wrong);
      case Defect::other_dtype:
        wrong.dtype = random_.below(2) == 0 ? "f64" : "i32";
        return differing(op, wrong);
      case Defect::other_count:
        wrong.count = op.count + 3;
        return differing(op, wrong);
      case Defect::left_out:
        return entry(op, others());
      case Defect::one_more:
        return entry(op, mine) + entry(op, "");
      case Defect::swapped:
        op.name = "all_gather";
        wrong.name = "barrier";
        return entry(op, others()) + entry(wrong, "") + entry(op, mine);
      case Defect::unmatched_send:
        return fmt::format("  - recv: {{src: {}, count: 8, tag: 9}}\n    when: {{rank: {}}}\n", (culprit_ + 1) % ranks_,
                           mine) +
               entry(op, "");
      case Defect::short_timeout:
        return "  - compute: {time: 80ms}\n    when: {rank: " + mine + "}\n" + entry({"barrier"}, "");
      default:
        return entry(op, "");
    }
  }

  std::string faults() {
    const auto nth = [&] { return 1 + random_.below(6); };
    const std::uint64_t time = 20 + random_.below(80);
    switch (defect_) {
      case Defect::slow_rank:
        return fmt::format("faults:\n  - slow: {{factor: 20}}\n    match: {{rank: {}}}\n", culprit_);
      case Defect::delayed_message:
        return fmt::format("faults:\n  - delay: {{by: 3ms}}\n    match: {{from: {}, nth: {}}}\n", culprit_, nth());
      case Defect::duplicated_message:
        return fmt::format("faults:\n  - duplicate: {{}}\n    match: {{from: {}, nth: {}}}\n", culprit_, nth());
      case Defect::reordered_message:
        return fmt::format("faults:\n  - reorder: {{}}\n    match: {{from: {}, nth: {}}}\n", culprit_, nth());
      case Defect::lost_message:
        return fmt::format("faults:\n  - drop: {{}}\n    match: {{from: {}, nth: {}}}\n", culprit_, nth());
      case Defect::corrupted_message:
        return fmt::format("faults:\n  - corrupt: {{}}\n    match: {{from: {}, nth: {}}}\n", culprit_, nth());
      case Defect::crash:
      case Defect::hang:
        return fmt::format("faults:\n  - {}: {{}}\n    match: {{rank: {}}}\n    at: {{time: {}us}}\n",
                           defect_ == Defect::crash ? "crash" : "hang", culprit_, time);
      default:
        return "";
    }
  }

  Random random_;
  Defect defect_;
  std::string backend_;
  int ranks_ = 3;
  int culprit_ = 0;
  std::vector<Op> program_;
  std::size_t at_ = 0;
};

struct GeneratedRun {
  std::string diagnosis = "none", headline;
  Outcome outcome = Outcome::ok;
  std::vector<Rank> ranks;
};

GeneratedRun run_generated(const std::string& text) {
  const LoadedFile file = load_text("generated.yaml", text);
  if (file.errors > 0) {
    ADD_FAILURE() << render(file, file.diagnostics.front()) << text;
    return {};
  }
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  if (!report.ok()) {
    ADD_FAILURE() << report.error().message << "\n" << text;
    return {};
  }
  GeneratedRun ran;
  ran.outcome = report->outcome;
  if (report->diagnosis()) {
    ran.diagnosis = report->diagnosis()->id;
    ran.ranks = report->diagnosis()->ranks;
    ran.headline = report->diagnosis()->headline;
  }
  return ran;
}

TEST(Confusion, EveryPlantedDefectIsExplainedAndNothingElseIs) {
  constexpr std::uint64_t each = 24;
  std::map<std::string_view, std::map<std::string, int>> table;
  for (const Row& row : rows()) {
    for (std::uint64_t seed = 0; seed < each; ++seed) {
      DefectCase the_case(1000 + seed, row.defect);
      const std::string text = the_case.text();
      const GeneratedRun ran = run_generated(text);
      const bool harmless = ran.outcome == Outcome::ok && ran.diagnosis == "none";
      ++table[row.name][harmless && !row.right.empty() ? "no harm" : ran.diagnosis];
      if (harmless) continue;
      EXPECT_TRUE(row.right.count(ran.diagnosis) == 1)
          << row.name << " of rank " << the_case.culprit() << ": " << name_of(ran.outcome) << ", " << ran.diagnosis
          << ", " << ran.headline << "\n"
          << text;
      if (row.names_culprit)
        EXPECT_EQ(ran.ranks, std::vector<Rank>{the_case.culprit()}) << row.name << ": " << ran.headline << "\n" << text;
      else
        EXPECT_TRUE(std::find(ran.ranks.begin(), ran.ranks.end(), the_case.culprit()) != ran.ranks.end() ||
                    row.right.empty())
            << row.name << " of rank " << the_case.culprit() << ": " << ran.headline << "\n"
            << text;
    }
  }
  for (const auto& [name, said] : table) {
    std::cout << fmt::format("{:<20}", name);
    for (const auto& [id, count] : said) std::cout << fmt::format("  {} {}", id, count);
    std::cout << "\n";
  }
}

}  // namespace
}  // namespace pdsim::scenarios
