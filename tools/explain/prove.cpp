// pdsim prove: an algorithm, or a plan of the user's own, for every number of ranks, or the smallest case that goes wrong.

#include "core/base/nearest.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/text/plan_print.h"
#include "scenarios/plans/own_plan.h"
#include "scenarios/text/printable_json.h"
#include "tools/command.h"
#include "tools/explain/explained_names.h"
#include "tools/shell/likely_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr int ranks_of_text = 32, ranks_of_program = 6, most_ranks = 1024;
constexpr std::array costed{2, 3, 4, 8, 13, 16, 64};
constexpr std::int64_t costed_elements = 1024;

struct ProveOptions {
  std::string plan, ranks;
  std::int64_t count = -1;
  bool print = false, json = false;
};

struct Range {
  int first = 1, last = ranks_of_text;
};

// "32" is 1..32. Nothing: it is not a range.
std::optional<Range> range_of(const std::string& text, int otherwise) {
  if (text.empty()) return Range{1, otherwise};
  const std::size_t dots = text.find("..");
  const auto number = [](std::string_view digits, int& value) {
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return code == std::errc() && end == digits.data() + digits.size() && value >= 1 && value <= most_ranks;
  };
  const std::string_view all = text;
  Range range;
  const bool good = dots == std::string::npos
                        ? number(all, range.last)
                        : number(all.substr(0, dots), range.first) && number(all.substr(dots + 2), range.last);
  return good && range.first <= range.last ? std::optional(range) : std::nullopt;
}

struct CostLine {
  int ranks = 0;
  PlanCost cost;
  std::int64_t least = 0;
};

std::vector<CostLine> costs_of(const Algorithm& row, const Range& range) {
  std::vector<CostLine> lines;
  for (const int ranks : costed) {
    const std::int64_t count = pdsim::row(row.kind).has_input ? costed_elements : 0;
    const bool proven = ranks >= range.first && ranks <= range.last;
    if (!proven || (row.rounds != nullptr && !row.rounds->is_for({0, ranks, count, 0}))) continue;
    lines.push_back(
        {ranks, trace_plan(row, {ranks, count, 0, 1, false}).counted, least_elements_sent(row.kind, ranks, count)});
  }
  return lines;
}

class Prover {
 public:
  Prover(const ProveOptions& options, const Algorithm& row, const scenarios::OwnPlan* own, const Range& range,
         Console& console)
      : options_(options), row_(row), own_(own), range_(range), console_(console) {}

  int run() {
    ProofOptions options;
    options.min_size = range_.first;
    options.max_size = range_.last;
    options.count = options_.count;
    options.ranks_per_node = own_ != nullptr ? 1 : 0;  // texts and programs do not know of nodes
    options.every_root = own_ == nullptr || !own_->is_program();
    const PlanProof proof = prove(row_, options);
    if (proof.ok && proof.cases == 0) {
      console_.problem(
          fmt::format("{}: its `needs` excludes every case; choose others with --ranks and --count", options_.plan));
      return exit_wrong_input;
    }
    if (!proof.ok && own_ != nullptr) {
      const scenarios::PlanFlaw flaw = own_->flaw(proof);
      if (!flaw.is_plan) {
        console_.problem(own_->refusal(proof), {flaw.file, flaw.diagnostic});
        return exit_wrong_input;
      }
    }
    if (options_.json) {
      tell_json(proof);
    } else if (proof.ok) {
      tell_text(proof);
    } else if (own_ != nullptr) {
      console_.print(own_->refusal(proof));
    } else {
      console_.print(fmt::format("error[plan]: {}\n{}", proof.problem, proof.drawn));
    }
    return proof.ok ? exit_held : exit_did_not_hold;
  }

 private:
  void tell_text(const PlanProof& proof) const {
    std::string text = fmt::format("{} {}: proven for {} to {} ranks, {} cases\n", name_of(row_.kind), row_.name,
                                   range_.first, range_.last, proof.cases);
    const std::vector<CostLine> lines = costs_of(row_, range_);
    if (!lines.empty())
      text += pdsim::row(row_.kind).has_input
                  ? fmt::format("\nof {} elements\n{:>7}{:>9}{:>11}{:>15}{:>11}\n", costed_elements, "ranks", "rounds",
                                "messages", "busiest sends", "at least")
                  : fmt::format("\n{:>7}{:>9}{:>11}\n", "ranks", "rounds", "messages");
    for (const CostLine& line : lines) {
      text += fmt::format("{:>7}{:>9}{:>11}", line.ranks, line.cost.rounds, line.cost.messages);
      if (pdsim::row(row_.kind).has_input) text += fmt::format("{:>15}{:>11}", line.cost.elements_sent, line.least);
      text += "\n";
    }
    console_.print(text);
  }

  void tell_json(const PlanProof& proof) const {
    Json json{{"version", scenarios::json_version},   {"collective", name_of(row_.kind)},     {"algorithm", row_.name},
              {"ok", proof.ok}, {"ranks", {range_.first, range_.last}}, {"cases", proof.cases}};
    if (proof.ok) {
      json["costs"] = Json::array();
      for (const CostLine& line : costs_of(row_, range_))
        json["costs"].push_back({{"ranks", line.ranks},
                                 {"rounds", line.cost.rounds},
                                 {"messages", line.cost.messages},
                                 {"busiest_sends", line.cost.elements_sent},
                                 {"at_least", line.least}});
    } else {
      json["counterexample"] = {{"ranks", proof.at.size},        {"count", proof.at.count},  {"root", proof.at.root},
                                {"in_place", proof.at.in_place}, {"problem", proof.problem}, {"rank", proof.rank},
                                {"round", proof.round},          {"drawn", proof.drawn}};
      if (own_ != nullptr)
        json["counterexample"]["place"] =
            row_.rounds->place({proof.rank, proof.at.size, proof.at.count, proof.at.root}, proof.round);
    }
    console_.print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  const ProveOptions& options_;
  const Algorithm& row_;
  const scenarios::OwnPlan* own_;
  Range range_;
  Console& console_;
};

// The rounds as a text with numbers in it, for the last number of ranks.
int print_rounds(const ProveOptions& options, const Algorithm& row, const Range& range, Console& console) {
  PlanCase at;
  at.size = range.last;
  at.count = !pdsim::row(row.kind).has_input ? 0 : options.count >= 0 ? options.count : range.last;
  const std::string text = printed_plan(row, at);
  if (text.empty()) {
    console.problem(
        fmt::format("{} with {} ranks has too many steps to print, or none that can be read; --ranks chooses fewer",
                    options.plan, range.last));
    return exit_wrong_input;
  }
  console.print(text);
  return exit_held;
}

std::string unknown_plan(const std::string& name) {
  std::vector<std::string> names;
  for (const Algorithm& row : algorithms())
    if (!pdsim::row(row.kind).point_to_point) names.insert(names.end(), {std::string(row.name), qualified(row)});
  if (const auto close = nearest(name, std::span<const std::string>(names)))
    return fmt::format("unknown algorithm `{}`; did you mean `{}`?", name, *close);
  if (name.find('/') != std::string::npos) return fmt::format("there is no file `{}`", name);
  return fmt::format("`{}` is neither a plan's file (FILE.plan, ./PROGRAM) nor an algorithm; `pdsim list --what "
                     "algorithms` has the names",
                     name);
}

int prove_named(const ProveOptions& options, Console& console) {
  scenarios::LoadedPlan loaded;
  const Algorithm* row = nullptr;
  if (const std::string better = better_command_than_a_plan(options.plan); !better.empty()) {
    console.problem(better);
    return exit_wrong_input;
  }
  if (scenarios::names_plan_file(options.plan)) {
    loaded = scenarios::load_plan(options.plan);
    if (loaded.plan == nullptr) {
      console.problem(loaded.problem, {options.plan, loaded.diagnostic});
      return exit_wrong_input;
    }
    row = &loaded.plan->algorithm();
  } else if (const auto found = algorithms_named(options.plan); !found.empty()) {
    row = found.front();
  } else if (const std::string better = better_command(options.plan, "prove"); !better.empty()) {
    console.problem(better);
    return exit_wrong_input;
  } else {
    console.problem(unknown_plan(options.plan));
    return exit_wrong_input;
  }
  const bool program = loaded.plan != nullptr && loaded.plan->is_program();
  const auto range = range_of(options.ranks, options.print ? 4 : program ? ranks_of_program : ranks_of_text);
  if (!range) {
    console.problem(
        fmt::format("--ranks {}: expected a number or a range such as 2..8, from 1 to {}", options.ranks, most_ranks));
    return exit_wrong_input;
  }
  if (options.print && options.json) {
    console.problem("--print writes a plan as text; remove --json");
    return exit_wrong_input;
  }
  if (options.print) return print_rounds(options, *row, *range, console);
  return Prover(options, *row, loaded.plan.get(), *range, console).run();
}

}  // namespace

Action declare_prove(CLI::App& app) {
  const auto options = std::make_shared<ProveOptions>();
  app.add_option("PLAN", options->plan,
                 "a file with a plan (FILE.plan, docs/plans.md), a program that prints one (./PROGRAM), or an "
                 "algorithm, such as ring or all_reduce/ring")
      ->required();
  app.add_option("--ranks", options->ranks, "the largest number of ranks, or a range such as 2..8; default: 32, for a program 6");
  app.add_option("--count", options->count, "elements, besides the counts around the number of ranks")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 20));
  app.add_flag("--print", options->print,
               "the rounds as a plan's text, with the numbers of one case (4 ranks, or the last of --ranks)");
  app.add_flag("--json", options->json, "one JSON object");
  return [options](Console& console) { return prove_named(*options, console); };
}

}  // namespace pdsim::tools
