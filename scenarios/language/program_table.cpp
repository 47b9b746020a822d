// program_table (loader.h): the program as the finite table of rank x step that it is.
#include "scenarios/language/loader.h"
#include "scenarios/language/tables/operations_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

struct Line {
  std::string operation;
  std::string ranks;
  bool operator==(const Line&) const = default;
};
using Lines = std::vector<Line>;

class Table {
 public:
  explicit Table(const Scenario& s) : s_(s), spec_(s.world.spec) {}

  std::string text() {
    out_ = fmt::format("{}{}{}   {} {}\n", s_.name, s_.variant.empty() ? "" : "/", s_.variant, spec_.ranks(),
                       spec_.ranks() == 1 ? "rank" : "ranks");
    int launch = 1;
    for (const Operation& op : s_.program) {
      entry(op, {});
      if (op.name == "relaunch") flush(), out_ += fmt::format("launch {}\n", ++launch);
    }
    flush();
    return out_;
  }

 private:
  using Around = std::vector<const Operation*>;  // from the outermost inwards

  static bool is_loop(const Operation& op) { return op.name == "train" || op.name == "eval" || op.name == "repeat"; }

  static bool holds_loops(const std::vector<Operation>& body) {
    return std::any_of(body.begin(), body.end(),
                       [](const Operation& op) { return op.has_body && (is_loop(op) || holds_loops(op.body)); });
  }

  void entry(const Operation& op, Around around) {
    around.push_back(&op);
    if (!op.has_body) return add("-", {line(around, -1)});
    const std::vector<Operation>& body = op.body;
    if (is_loop(op) && (op.name != "repeat" || !holds_loops(body))) return loop(around, body);
    for (const Operation& each : body)
      if (is_loop(op) && !is_loop(each) && !holds_loops({each})) {
        loop(around, {each});
      } else {
        entry(each, around);
      }
  }

  // Steps that are alike stand together.
  void loop(const Around& around, const std::vector<Operation>& body) {
    const std::int64_t steps = around.back()->rounds();
    std::int64_t first = 0;
    Lines last;
    for (std::int64_t step = 0; step <= steps; ++step) {
      Lines lines;
      if (step < steps) step_lines(lines, around, body, static_cast<int>(step));
      if (step > 0 && (step == steps || lines != last)) {
        add(first == step - 1 ? fmt::format("{}", first) : fmt::format("{}..{}", first, step - 1), last);
        first = step;
      }
      last = std::move(lines);
      if (everything_is_alike(around, body) && step == 0 && steps > 1) step = steps - 1;
    }
  }

  void step_lines(Lines& lines, const Around& around, const std::vector<Operation>& body, int step) const {
    for (const Operation& op : body) {
      Around inside = around;
      inside.push_back(&op);
      if (op.has_body) {
        step_lines(lines, inside, op.body, step);
      } else {
        forwards(lines, inside, step);
      }
    }
  }

  static bool same_in_every_step(const std::vector<Operation>& body) {
    return std::all_of(body.begin(), body.end(),
                       [](const Operation& op) { return same_in_every_step(op.when) && same_in_every_step(op.body); });
  }

  static bool same_in_every_step(const When& when) {
    return std::all_of(when.any.begin(), when.any.end(), [](const Selector& s) { return s.step.is_all(); });
  }

  bool everything_is_alike(const Around& around, const std::vector<Operation>& body) const {
    return std::all_of(around.begin(), around.end(),
                       [](const Operation* op) { return same_in_every_step(op->when); }) &&
           same_in_every_step(body) && std::all_of(s_.model.branches.begin(), s_.model.branches.end(), [](const Branch& t) {
             return same_in_every_step(t.when);
           });
  }

  // A forward takes a path; ranks that take different ones stand apart.
  void forwards(Lines& lines, const Around& around, int step) const {
    const Operation& op = *around.back();
    const auto* forward = op.if_is<ForwardOptions>();
    if (forward == nullptr || forward->path || s_.model.branches.empty()) return lines.push_back(line(around, step));
    std::vector<std::pair<std::string, std::vector<int>>> paths;
    for (int rank = 0; rank < spec_.ranks(); ++rank) {
      if (!runs(around, rank, step)) continue;
      const std::string path = path_of(rank, step);
      const auto found = std::find_if(paths.begin(), paths.end(), [&](const auto& p) { return p.first == path; });
      if (found == paths.end()) {
        paths.push_back({path, {rank}});
      } else {
        found->second.push_back(rank);
      }
    }
    for (auto& [path, ranks] : paths)
      lines.push_back({fmt::format("{}  path {}", text_around(around), path), ranks_text(std::move(ranks))});
  }

  std::string path_of(int rank, int step) const {
    for (const Branch& take : s_.model.branches)
      if (take.when.selects(rank, spec_.node_of(rank), step)) return *take.path;
    return s_.model.spec.paths.empty() ? "full" : s_.model.spec.paths.front().name;
  }

  static bool selects_in_some_step(const When& when, int rank, int node) {
    return when.any.empty() || std::any_of(when.any.begin(), when.any.end(), [&](const Selector& s) {
             return s.rank.contains(rank) && s.node.contains(node);
           });
  }

  // `step` is that of the innermost loop; what stands around a loop is chosen before it.
  bool runs(const Around& around, int rank, int step) const {
    const int node = spec_.node_of(rank);
    const auto innermost =
        std::find_if(around.rbegin() + 1, around.rend(), [](const Operation* op) { return is_loop(*op); });
    const auto loops = static_cast<std::size_t>(around.rend() - innermost);  // up to it
    bool in_loop = false;
    for (std::size_t i = 0; i < around.size(); ++i) {
      const When& when = around[i]->when;
      const bool outer = in_loop && i < loops;
      if (outer ? !selects_in_some_step(when, rank, node) : !when.selects(rank, node, in_loop ? step : -1))
        return false;
      in_loop = in_loop || is_loop(*around[i]);
    }
    return true;
  }

  // With the contexts it runs in, but the loop whose steps are told.
  static std::string text_around(const Around& around) {
    std::string text;
    bool in_train = false;
    for (const Operation* op : around) {
      if (op == around.back()) break;
      const bool repeats = op->name == "repeat";
      if (repeats && (in_train || holds_loops(op->body))) text += operation_text(*op) + " ";
      if (!is_loop(*op)) text += op->name + " ";
      in_train = in_train || (is_loop(*op) && !repeats);
    }
    return text + operation_text(*around.back());
  }

  Line line(const Around& around, int step) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < spec_.ranks(); ++rank)
      if (runs(around, rank, step)) ranks.push_back(rank);
    return {text_around(around), ranks.empty() ? "nobody" : ranks_text(std::move(ranks))};
  }

  void add(const std::string& step, const Lines& lines) {
    bool first = true;
    for (const Line& l : lines) {
      rows_.push_back({first ? step : "", l});
      first = false;
    }
  }

  void flush() {
    std::size_t steps = 4, operations = 9;
    for (const auto& [step, l] : rows_) {
      steps = std::max(steps, step.size());
      operations = std::max(operations, l.operation.size());
    }
    operations = std::min<std::size_t>(operations, 60);
    if (!rows_.empty()) out_ += fmt::format("  {:>{}}  {:<{}}  ranks\n", "step", steps, "operation", operations);
    for (const auto& [step, l] : rows_)
      out_ += fmt::format("  {:>{}}  {:<{}}  {}\n", step, steps, l.operation, operations, l.ranks);
    rows_.clear();
  }

  const Scenario& s_;
  const sim::WorldSpec& spec_;
  std::vector<std::pair<std::string, Line>> rows_;
  std::string out_;
};

}  // namespace

std::string operation_text(const Operation& op) {
  std::string text = op.name;
  if (!op.written.empty()) text += " {" + op.written + "}";
  if (!op.label.empty()) text += fmt::format("  ({})", op.label);
  return text;
}

std::string program_table(const Scenario& scenario) { return Table(scenario).text(); }

}  // namespace pdsim::scenarios
