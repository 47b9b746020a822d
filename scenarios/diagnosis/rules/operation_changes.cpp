#include "scenarios/diagnosis/rules/operation_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

bool is_at(const Operation& op, const Mark& place) {
  return op.mark.line == place.line && op.mark.column == place.column;
}

bool holds(const Operation& op, const Mark& place) {
  const auto inside = [&](const Operation& inner) { return holds(inner, place); };
  return is_at(op, place) || std::any_of(op.body.begin(), op.body.end(), inside) ||
         std::any_of(op.messages.begin(), op.messages.end(), inside);
}

bool is_message_of(const Operation& op, const std::string& group) {
  return (op.name == "isend" || op.name == "irecv") && op.group() == group;
}

Operation batch_of(std::vector<Operation> messages, const std::string& group) {
  Operation batch;
  batch.name = "batch_isend_irecv";
  batch.mark = messages.front().mark;
  batch.options = BatchOptions{group};
  for (const Operation& message : messages) {
    if (message.when.any.empty()) {
      batch.when.any.clear();
      break;
    }
    batch.when.any.insert(batch.when.any.end(), message.when.any.begin(), message.when.any.end());
  }
  batch.messages = std::move(messages);
  return batch;
}

void batch_messages(std::vector<Operation>& program, const std::string& group) {
  std::vector<Operation> changed;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < program.size();) {
    std::size_t end = i;
    while (end < program.size() && is_message_of(program[end], group)) ++end;
    if (end - i > 1) {
      std::vector<Operation> messages(program.begin() + static_cast<std::ptrdiff_t>(i),
                                      program.begin() + static_cast<std::ptrdiff_t>(end));
      for (const Operation& message : messages) labels.push_back(message.label);
      changed.push_back(batch_of(std::move(messages), group));
      i = end;
      continue;
    }
    batch_messages(program[i].body, group);
    changed.push_back(std::move(program[i++]));
  }
  std::erase_if(changed, [&](const Operation& op) {
    const WaitOptions* wait = op.if_is<WaitOptions>();
    return wait != nullptr && std::find(labels.begin(), labels.end(), wait->label) != labels.end();
  });
  program = std::move(changed);
}

// A loop of one round in place of each no_sync.
void synchronise(std::vector<Operation>& program) {
  for (Operation& op : program) {
    synchronise(op.body);
    if (op.name != "no_sync") continue;
    op.name = "repeat";
    op.options = RepeatOptions{1};
  }
}

void give_to_all(std::vector<Operation>& program, const Mark& place) {
  for (Operation& op : program) {
    if (is_at(op, place) && op.name == "reduce") {
      auto options = op.as<CollectiveOptions>();
      options.dst.reset();
      op.name = "all_reduce";
      op.options = options;
    }
    give_to_all(op.body, place);
  }
}

void call_on_all_ranks(std::vector<Operation>& program) {
  for (Operation& op : program) {
    if (op.name == "new_group")
      for (Selector& s : op.when.any) s.rank = s.node = IntSet::all();
    call_on_all_ranks(op.body);
  }
}

void for_each_operation(std::vector<Operation>& program, const std::function<void(Operation&)>& change) {
  for (Operation& op : program) {
    change(op);
    for_each_operation(op.body, change);
  }
}

// The longest loop's, in each.
void evaluate_as_often(std::vector<Operation>& program) {
  std::int64_t most = 1;
  for_each_operation(program, [&most](Operation& op) {
    if (const auto* eval = op.if_is<EvalOptions>()) most = std::max(most, eval->steps.value_or(1));
  });
  for_each_operation(program, [most](Operation& op) {
    if (op.if_is<EvalOptions>() == nullptr) return;
    auto options = op.as<EvalOptions>();
    options.steps = most;
    op.options = options;
  });
}

void gather_for_all(Operation& op, int line) {
  if (op.name != "checkpoint" || op.mark.line != line) return;
  auto options = op.as<CheckpointOptions>();
  options.rank0_only = true;
  op.options = options;
  for (Selector& s : op.when.any) s.rank = s.node = IntSet::all();
}

void clip_by_model(Operation& op) {
  if (op.name != "clip_grad_norm") return;
  auto options = op.as<ClipOptions>();
  options.of = ClippedNorm::model;
  op.options = options;
}

void take_options(std::vector<Operation>& program, const OptionsApart& apart) {
  std::vector<std::optional<Operation>> others(apart.to.size());
  for_each_operation(program, [&](const Operation& op) {
    for (std::size_t i = 0; i < apart.to.size(); ++i)
      if (is_at(op, apart.to[i])) others[i] = op;
  });
  for_each_operation(program, [&](Operation& op) {
    for (std::size_t i = 0; i < std::min(apart.from.size(), others.size()); ++i)
      if (is_at(op, apart.from[i]) && others[i] && others[i]->name == op.name) op.options = others[i]->options;
  });
}

}  // namespace

Cure options_of_the_others(std::string what, OptionsApart apart) {
  return {std::move(what),
          [apart = std::move(apart)](Scenario& changed) { take_options(changed.program, apart); }, std::nullopt, true};
}

Cure same_evaluations() {
  return {"every rank makes the same number of forwards in eval",
          [](Scenario& changed) { evaluate_as_often(changed.program); }, std::nullopt, true};
}

Cure same_path_on_all_ranks() {
  return {"every rank takes the model's usual path", [](Scenario& changed) { changed.model.branches.clear(); }, std::nullopt,
          true};
}

Cure state_on_all_ranks(int line) {
  return {fmt::format("every rank gathers for the checkpoint at line {}, and rank 0 writes it", line),
          [line](Scenario& changed) {
            for_each_operation(changed.program, [line](Operation& op) { gather_for_all(op, line); });
          },
          std::nullopt, true};
}

Cure norm_of_all_shards() {
  return {"clip_grad_norm takes the norm of all shards",
          [](Scenario& changed) { for_each_operation(changed.program, clip_by_model); }, std::nullopt, true};
}

Cure in_one_batch(const std::string& group) {
  return {"isend and irecv that stand together are one batch_isend_irecv",
          [group](Scenario& changed) { batch_messages(changed.program, group); }, std::nullopt, true};
}

Cure barrier_before(const Mark& place, const std::string& group, const std::vector<Rank>& members) {
  Operation barrier;
  barrier.name = "barrier";
  CollectiveOptions options;
  options.group = group;
  barrier.options = options;
  barrier.when.any = {Selector{IntSet::of({members.begin(), members.end()}), IntSet::all(), IntSet::all()}};
  return {fmt::format("all ranks of group {} meet in a barrier before line {}", group, place.line),
          [place, barrier](Scenario& changed) {
            const auto at = std::find_if(changed.program.begin(), changed.program.end(),
                                         [&](const Operation& op) { return holds(op, place); });
            if (at != changed.program.end()) changed.program.insert(at, barrier);
          },
          std::nullopt, true};
}

Cure in_every_round(std::string what, const Mark& place) {
  return {std::move(what),
          [place](Scenario& changed) {
            for_each_operation(changed.program, [&place](Operation& op) {
              if (!is_at(op, place)) return;
              for (Selector& s : op.when.any) s.step = IntSet::all();
            });
          },
          std::nullopt, true};
}

Cure on_all_ranks(std::string what, const Mark& place) {
  return {std::move(what),
          [place](Scenario& changed) {
            for_each_operation(changed.program, [&place](Operation& op) {
              if (!is_at(op, place)) return;
              for (Selector& s : op.when.any) s.rank = s.node = IntSet::all();
            });
          },
          std::nullopt, true};
}

Cure without_no_sync() {
  return {"no rank enters no_sync", [](Scenario& changed) { synchronise(changed.program); }, std::nullopt};
}

Cure new_groups_on_all_ranks() {
  return {"every rank calls new_group for every group", [](Scenario& changed) { call_on_all_ranks(changed.program); },
          std::nullopt, true};
}

Cure all_reduce_for_reduce(const Mark& place) {
  return {fmt::format("all_reduce for reduce at line {}", place.line),
          [place](Scenario& changed) { give_to_all(changed.program, place); }, std::nullopt, true};
}

}  // namespace pdsim::scenarios::diagnoses
