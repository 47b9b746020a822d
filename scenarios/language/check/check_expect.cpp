#include "core/base/errors.h"
#include "core/collectives/collective.h"
#include "core/parallel/ddp_logging.h"
#include "core/semantics/libraries.h"
#include "scenarios/language/build.h"
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/diagnosis_ids.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  for (const Key& row : operation_table()) names.push_back(row.name);
  return names;
}

void check_operation(const Node* node, Problems& problems) {
  if (node == nullptr || operation_named(node->text) != nullptr) return;
  problems.error(node->mark, fmt::format("unknown operation `{}`", node->text),
                 suggestion(node->text, operation_names(), "there are"));
}

// The labels of collectives whose inputs the file states.
void add_stated_calls(const std::vector<Operation>& program, std::vector<std::string>& names) {
  for (const Operation& op : program) {
    const auto* call = op.if_is<CollectiveOptions>();
    if (call != nullptr && call->input.kind != CallInput::Kind::pattern && !op.label.empty()) names.push_back(op.label);
    add_stated_calls(op.body, names);
  }
}

// Returns the tensors that can be checked when a rank ends.
std::vector<std::string> tensor_names(const Scenario& s) {
  std::vector<std::string> names{"loss", "grad_norm"};
  add_stated_calls(s.program, names);
  for (const nn::LayerSpec& layer : s.model.spec.layers) {
    if (nn::keeps_any_width(layer.kind)) continue;
    for (const char* parameter : {"weight", "bias"}) {
      names.push_back(fmt::format("{}.{}", layer.name, parameter));
      names.push_back(fmt::format("{}.{}.grad", layer.name, parameter));
    }
    if (nn::has_buffers(layer.kind))
      for (const char* buffer : {"running_mean", "running_var", "num_batches_tracked"})
        names.push_back(fmt::format("{}.{}", layer.name, buffer));
  }
  for (const auto& [key, value] : DdpLogging{}.as_text())
    if (key != "dtypes" && key != "comm_hook") names.push_back("logging." + key);
  return names;
}

void check_tensor(const Node& tensor, const Scenario& s, const std::vector<std::string>& tensors, Problems& problems) {
  if (problems.doubts(Fact::model) || problems.doubts(Fact::calls)) return;
  if (std::find(tensors.begin(), tensors.end(), tensor.text) != tensors.end()) return;
  const Operation* call = s.labelled(tensor.text);
  if (call != nullptr && call->if_is<CollectiveOptions>() != nullptr)
    return problems.error(tensor.mark, fmt::format("`{}` is a call without a stated input", tensor.text),
                          "add `input: ranks` to it: element i of rank r is then 10 r + i");
  std::vector<std::string> calls;
  add_stated_calls(s.program, calls);
  problems.error(tensor.mark, fmt::format("unknown tensor `{}`", tensor.text),
                 s.model.given || !calls.empty() ? suggestion(tensor.text, {tensors.begin(), tensors.end()}, "there are")
                     : "the file has no model and no labelled collective with an `input`");
}

void check_value(const Node& item, const Scenario& s, const std::vector<std::string>& tensors, Problems& problems) {
  if (const Node* tensor = item.find("tensor"); tensor != nullptr) check_tensor(*tensor, s, tensors, problems);
  const int claims = static_cast<int>(item.find("across_ranks") != nullptr) +
                     static_cast<int>(item.find("near") != nullptr) + static_cast<int>(item.find("equals") != nullptr) +
                     static_cast<int>(item.find("holds") != nullptr);
  if (claims != 1)
    problems.error(item.mark,
                   claims == 0 ? "a value without an expectation" : "a value with two expectations",
                   "give one of `across_ranks`, `near`, `holds` and `equals`");
  const Node* rank = item.find("rank");
  const auto number = rank != nullptr ? read_integer(rank->text) : std::nullopt;
  if (number && !problems.doubts(Fact::ranks) && *number >= s.world.spec.ranks())
    problems.error(rank->mark, fmt::format("rank {} in a world of {}", *number, s.world.spec.ranks()), ranks_label(s));
}

void check_time(const Entry& entry, const std::optional<Expect::TimeRange>& range, Problems& problems) {
  const Node& map = entry.value;
  if (map.find("min") == nullptr && map.find("max") == nullptr && map.find("near") == nullptr)
    problems.error(entry.mark, "a time without an expectation", "give `min`, `max` or `near`");
  if (map.find("within") != nullptr && map.find("near") == nullptr)
    problems.error(entry_of(map, "within")->mark, "`within` without `near`",
                   "it is the tolerance around `near`");
  if (range && range->min && range->max && *range->min > *range->max)
    problems.error(entry_of(map, "min")->value.mark, "`min` is greater than `max`", "no time lies in between");
}

void check_step_time(const Entry& entry, const Expect& expect, const Scenario& s, Problems& problems) {
  check_time(entry, expect.step_time, problems);
  if (problems.doubts(Fact::steps)) return;
  const std::int64_t last = last_step(s);
  if (last < 0) problems.error(entry.mark, "`step_time` without a `train`", "it is the time of a step of `train`");
  if (last >= 0 && expect.timed_step && *expect.timed_step > last)
    problems.error(entry.value.find("step")->mark, fmt::format("step {} is never run", *expect.timed_step),
                   fmt::format("steps are 0..{}", last));
}

bool is_collective(std::string_view name) {
  const CollectiveRow* row = collective_named(name);
  return row != nullptr && !row->point_to_point;
}

bool is_in_program(const std::vector<Operation>& program, const std::string& label_or_name) {
  return std::any_of(program.begin(), program.end(), [&](const Operation& op) {
    return op.label == label_or_name || op.name == label_or_name || is_in_program(op.body, label_or_name);
  });
}

void check_operation_run(const Node& item, const Expect::OperationRun& run, const Scenario& s, Problems& problems) {
  check_rank_set(item.find("rank"), run.rank, s, problems);
  if (!problems.doubts(Fact::calls) && !is_in_program(s.program, run.of))
    problems.error(item.find("of")->mark, fmt::format("the program has no operation `{}`", run.of),
                   "give the label or the name of an operation");
  if (!run.took && !run.collectives)
    problems.error(item.mark, "an operation without an expectation", "give `took` or `collectives`");
  if (const Entry* took = entry_of(item, "took")) check_time(*took, run.took, problems);
  const Node* names = item.find("collectives");
  if (names == nullptr) return;
  for (const Node& name : names->items)
    if (name.text == "none" ? names->items.size() > 1 : !is_collective(name.text))
      problems.error(name.mark, fmt::format("`{}` is not a collective", name.text),
                     "use the names of `pdsim list --what collectives`, or [none]");
}

void check_buckets(const Entry& entry, const Scenario& s, Problems& problems) {
  const auto has = [&entry](const char* key) { return entry.value.find(key) != nullptr; };
  if (!has("count") && !has("bytes") && !has("initial_bytes"))
    problems.error(entry.mark, "buckets without an expectation", "give `count`, `bytes` or `initial_bytes`");
  if (!problems.doubts(Fact::model) && (!s.model.given || !s.ddp.wrap))
    problems.error(entry.mark, "`buckets` without a wrapped model",
                   s.model.given ? "`ddp: none` has no buckets" : "give the file a model");
}

void check_one(const Entry& entry, const Expect& expect, const Scenario& s, Problems& problems) {
  const Node& map = entry.value;
  const Outcome outcome = *expect.outcome;
  if (expect.rank) check_rank_set(map.find("rank"), **expect.rank, s, problems);
  check_operation(map.find("in"), problems);
  if (const Node* error = map.find("error"); error != nullptr && !code_named(error->text)) {
    std::vector<std::string_view> codes;
    for (const ErrorRow& row : error_table) codes.push_back(row.name);
    problems.error(error->mark, fmt::format("unknown error code `{}`", error->text),
                   suggestion(error->text, codes, "there are"));
  }
  if (const Node* id = map.find("diagnosis")) {
    std::vector<std::string_view> ids = diagnosis_ids();
    ids.insert(ids.begin(), "none");
    if (std::find(ids.begin(), ids.end(), id->text) == ids.end())
      problems.error(id->mark, fmt::format("unknown diagnosis `{}`", id->text), suggestion(id->text, ids, "there are"));
  }
  if (expect.culprits) check_rank_set(map.find("culprits"), **expect.culprits, s, problems);
  const bool no_diagnosis =
      !problems.doubts(Fact::diagnosis) && (!expect.diagnosis || **expect.diagnosis == "none");
  for (const char* key : {"culprits", "says"})
    if (const Entry* e = entry_of(map, key); e != nullptr && no_diagnosis)
      problems.error(e->mark, fmt::format("`{}` without a diagnosis", key), "say which with `diagnosis`");
  const bool knows_outcome = !problems.doubts(Fact::outcome);
  if (knows_outcome && (outcome == Outcome::ok || outcome == Outcome::deadlock))
    for (const char* key : {"error", "message"})
      if (const Entry* e = entry_of(map, key))
        problems.error(e->mark, fmt::format("`{}` with `outcome: {}`", key, name_of(outcome)),
                       "errors need `outcome: error` or `outcome: timeout`");
  if (const Node* blocked = map.find("blocked")) {
    for (std::size_t i = 0; i < blocked->items.size() && i < expect.blocked.size(); ++i) {
      const Node& item = blocked->items[i];
      check_rank_set(item.find("rank"), expect.blocked[i].rank, s, problems);
      check_operation(item.find("in"), problems);
      check_operation(item.find("site"), problems);
    }
    if (knows_outcome && (outcome == Outcome::ok || outcome == Outcome::error))
      problems.error(entry_of(map, "blocked")->mark, fmt::format("`blocked` with `outcome: {}`", name_of(outcome)),
                     "ranks stay blocked only with `outcome: deadlock` or `timeout`");
  }
  if (const Node* values = map.find("values")) {
    const std::vector<std::string> tensors = tensor_names(s);
    for (const Node& item : values->items) check_value(item, s, tensors, problems);
  }
  if (const Node* runs = map.find("operations"))
    for (std::size_t i = 0; i < runs->items.size() && i < expect.operations.size(); ++i)
      check_operation_run(runs->items[i], expect.operations[i], s, problems);
  if (const Entry* time = entry_of(map, "time")) check_time(*time, expect.time, problems);
  if (const Entry* time = entry_of(map, "step_time")) check_step_time(*time, expect, s, problems);
  if (const Entry* buckets = entry_of(map, "buckets")) check_buckets(*buckets, s, problems);
  if (const Entry* rows = entry_of(map, "device_rows");
      rows != nullptr && !problems.doubts(Fact::data_parallel) && (!s.data_parallel || s.data_parallel->devices == 0))
    problems.error(rows->mark, "`device_rows` without `data_parallel`",
                   "only DataParallel splits batches across devices");
}

class FaultCheck {
 public:
  FaultCheck(const Scenario& s, Problems& problems) : s_(s), problems_(problems) {}

  void check(const Node& item, const sim::FaultSpec& spec) {
    const Key* row = chosen(item, fault_kinds()).second;
    if (row == nullptr) return;
    if (const Node* match = item.find("match")) check_match(*match, spec, *row);
    if (const Node* at = item.find("at")) check_at(*at);
    if (spec.kind == FaultKind::partition) check_groups(item, spec);
  }

 private:
  void check_match(const Node& match, const sim::FaultSpec& spec, const Key& row) {
    check_rank_set(match.find("rank"), spec.match.rank, s_, problems_);
    check_rank_set(match.find("from"), spec.match.from, s_, problems_);
    check_rank_set(match.find("to"), spec.match.to, s_, problems_);
    check_operation(match.find("op"), problems_);
    for (const std::int64_t nth : spec.match.nth.named())
      if (nth < 1) problems_.error(match.find("nth")->mark, "there is no 0th message", "messages are counted from 1");
    for (const char* key : {"from", "to", "op", "nth"})
      if (const Entry* e = entry_of(match, key); e != nullptr && !row.has(hits_messages))
        problems_.error(
            e->mark, fmt::format("`{}` in the match of `{}`", key, row.name),
            row.has(hits_ranks) ? "it affects ranks: use `rank`" : "it affects groups of ranks: see `groups`");
    if (const Entry* e = entry_of(match, "rank"); e != nullptr && !row.has(hits_ranks))
      problems_.error(e->mark, fmt::format("`rank` in the match of `{}`", row.name),
                      row.has(hits_messages) ? "it affects messages: use `from`, `to`, `op` and `nth`"
                                             : "it affects groups of ranks: see `groups`");
  }

  void check_at(const Node& at) {
    check_operation(at.find("before"), problems_);
    if (const Entry* before = entry_of(at, "before"); before != nullptr && at.find("step") == nullptr)
      problems_.error(before->mark, "`before` without `step`", "name the step: `at: {step: 2, before: backward}`");
    if (at.find("time") != nullptr && at.find("step") != nullptr)
      problems_.error(entry_of(at, "time")->mark, "`time` beside `step`", "a fault begins at a step or at a time");
    const std::int64_t last = last_step(s_);
    const Node* step = at.find("step");
    const auto number = step != nullptr ? read_integer(step->text) : std::nullopt;
    if (number && *number > last && !problems_.doubts(Fact::steps))
      problems_.error(step->mark, fmt::format("step {} is never run", *number),
                      last < 0 ? "the program has no train" : fmt::format("steps are 0..{}", last));
  }

  void check_groups(const Node& item, const sim::FaultSpec& spec) {
    const Node* groups = item.find("partition") != nullptr ? item.find("partition")->find("groups") : nullptr;
    if (groups == nullptr) return;
    std::set<int> seen;
    for (const std::vector<int>& group : spec.groups) {
      for (const int rank : group) {
        if (rank >= s_.world.spec.ranks() && !problems_.doubts(Fact::ranks))
          return problems_.error(groups->mark, fmt::format("rank {} in a world of {}", rank, s_.world.spec.ranks()),
                                 ranks_label(s_));
        if (!seen.insert(rank).second)
          return problems_.error(groups->mark, fmt::format("rank {} is in two groups", rank),
                                 "a rank is on one side of the partition");
      }
    }
    if (spec.groups.size() < 2)
      problems_.error(groups->mark, "a partition of one group", "give at least two groups of ranks");
  }

  const Scenario& s_;
  Problems& problems_;
};

void check_pitfall(const Node& document, const Scenario& s, Problems& problems) {
  const Entry* entry = entry_of(document, "pitfall");
  if (entry == nullptr) return;
  const auto named = [&](std::string_view world) {
    return std::count(s.pitfall.worlds.begin(), s.pitfall.worlds.end(), world);
  };
  if (const Node* worlds = entry->value.find("worlds"))
    for (const Node& item : worlds->items) {
      if (std::find(real_library_names.begin(), real_library_names.end(), item.text) == real_library_names.end())
        problems.error(item.mark, fmt::format("unknown world `{}`", item.text),
                       suggestion(item.text, {real_library_names.begin(), real_library_names.end()}, "there are"));
      if (named(item.text) > 1)
        problems.error(item.mark, fmt::format("world `{}` is listed twice", item.text), "once is enough");
    }
  for (const Library& library : library_table) {
    const std::string_view name = library.semantics.name;
    const bool runs_without_gpu = library.real && library.semantics.tensors.has(DeviceType::cpu);
    if (runs_without_gpu && named(name) == 0 && s.pitfall.elsewhere.empty())
      problems.error(entry->mark, fmt::format("a pitfall that {} does not show", name), "give the reason in `elsewhere`");
  }
}

}  // namespace

void check_faults(const Node& document, const Scenario& s, Problems& problems) {
  const Node* faults = document.find("faults");
  if (faults == nullptr) return;
  FaultCheck check(s, problems);
  for (std::size_t i = 0; i < faults->items.size() && i < s.faults.size(); ++i)
    check.check(faults->items[i], s.faults[i].spec);
}

void check_expect(const Node& document, const Scenario& s, Problems& problems) {
  check_pitfall(document, s, problems);
  if (const Entry* entry = entry_of(document, "expect")) check_one(*entry, s.expect, s, problems);
  const Node* real = document.find("real");
  if (real == nullptr) return;
  for (const Entry& world : real->entries) {
    const Entry* entry = entry_of(world.value, "expect");
    const auto found = s.real.find(world.key);
    if (entry != nullptr && found != s.real.end() && found->second.expect)
      check_one(*entry, *found->second.expect, s, problems);
    if (entry == nullptr && world.value.find("skip") == nullptr)
      problems.error(world.mark, fmt::format("`{}` in real is empty", world.key),
                     "give `expect`, or `skip: true`, and `why`");
  }
}

}  // namespace pdsim::scenarios::language
