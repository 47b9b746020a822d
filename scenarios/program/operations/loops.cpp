// Operations that contain other operations of a step: train, repeat, no_sync, join.
#include "scenarios/program/operations/loops.h"

#include "scenarios/program/device_loads.h"
#include "scenarios/program/operations/operation_row.h"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::operations {
namespace {

struct JoinOptions {
  bool enable = true;
  bool throw_on_early_termination = false;
  bool divide_by_initial_world_size = true;
};

bool is_timed(const Scenario& scenario, std::int64_t step, std::int64_t steps) {
  const auto asks = [&](const Expect& e) { return e.step_time && e.timed_step.value_or(steps - 1) == step; };
  return asks(scenario.expect) || std::any_of(scenario.real.begin(), scenario.real.end(), [&](const auto& world) {
           return world.second.expect && asks(*world.second.expect);
         });
}

}  // namespace

Status run_steps(Session& s, const Operation& op, std::int64_t steps, const std::function<Status()>& body) {
  const Operation* loop = std::exchange(s.loop, &op);
  const int around = s.step;
  Status status;
  for (std::int64_t step = 0; step < steps && status.ok(); ++step) {
    s.step = static_cast<int>(step);
    status = body();
  }
  s.loop = loop;
  s.step = around;
  return status;
}

namespace {

Status train(Session& s, const Operation& op) {
  const std::vector<Operation>& body = op.body;
  const std::int64_t steps = op.as<TrainOptions>().steps;
  s.step_times.clear();
  s.steps_trained = 0;
  return run_steps(s, op, steps, [&]() -> Status {
    const Time began = s.env.runtime.now();
    s.computing = {};
    for (const Operation& inner : body) PDSIM_TRY(s.run(inner));
    const Time took = s.env.runtime.now() - began;
    if (is_timed(s.scenario, s.step, steps)) s.step_times[s.step] = took;
    if (s.step + 1 == steps) note_device_loads(s, took);
    ++s.steps_trained;
    return {};
  });
}

// Outside of train its rounds are the steps, those of the innermost where it stands in itself.
Status repeat(Session& s, const Operation& op) {
  const int around = s.step;
  Status status;
  for (std::int64_t round = 0; round < op.as<RepeatOptions>().times && status.ok(); ++round) {
    if (s.loop == nullptr) s.step = static_cast<int>(round);
    for (const Operation& inner : op.body)
      if (status.ok()) status = s.run(inner);
  }
  s.step = around;
  return status;
}

// Read by forwards only: a forward inside makes the backward that follows it stay local, wherever that stands.
Status no_sync(Session& s, const Operation& op) {
  const bool before = s.sharded != nullptr ? s.sharded->require_backward_grad_sync()
                                           : s.ddp != nullptr && s.ddp->require_backward_grad_sync();
  const auto set = [&s](bool on) {
    return s.for_each_part([&] {
      if (s.ddp != nullptr) s.ddp->set_require_backward_grad_sync(on);
      if (s.sharded != nullptr) s.sharded->set_require_backward_grad_sync(on);
      return Status{};
    });
  };
  PDSIM_TRY(set(false));
  Status status;
  for (const Operation& inner : op.body)
    if (status.ok()) status = s.run(inner);
  PDSIM_TRY(set(before));
  return status;
}

Status join(Session& s, const Operation& op) {
  if (s.scenario.ddp.wraps(s.env.rank) && s.ddp == nullptr)
    return Error{Code::not_initialized,
                 "join needs the wrapped model, and this rank has called no init_process_group before it",
                 {}};
  const auto& options = op.as<JoinOptions>();
  const bool joins = s.ddp != nullptr && options.enable;
  if (joins) s.ddp->enter_join({options.divide_by_initial_world_size, options.throw_on_early_termination});
  for (const Operation& inner : op.body) PDSIM_TRY(s.run(inner));
  s.env.recorder.set_site(site_of(op, op.name, -1));
  return joins ? s.ddp->leave_join() : Status{};
}

constexpr std::array train_keys{
    Key{.name = "steps",
        .type = Type::integer,
        .help = "how many times `do` runs",
        .required = true,
        .high = limits::steps,
        .bind = to<&TrainOptions::steps>},
    Key{.name = "do",
        .type = Type::operations,
        .help = "one step",
        .default_value = "[zero_grad, forward, backward, optimizer_step]",
        .traits = language::in_train},
};

constexpr std::array repeat_keys{
    Key{.name = "times",
        .type = Type::integer,
        .help = "how many times `do` runs; outside `train`, its rounds are the steps of `when`",
        .required = true,
        .high = limits::steps,
        .bind = to<&RepeatOptions::times>},
    Key{.name = "do", .type = Type::operations, .help = "one round", .required = true, .traits = language::as_around},
};

constexpr std::array no_sync_keys{
    Key{.name = "do",
        .type = Type::operations,
        .help = "the operations inside; backwards of the forwards in it are not synchronised",
        .required = true,
        .traits = language::in_train},
};

constexpr std::array join_keys{
    Key{.name = "enable",
        .type = Type::boolean,
        .help = "false: `do` runs as if there were no join around it",
        .bind = to<&JoinOptions::enable>},
    Key{.name = "throw_on_early_termination",
        .type = Type::boolean,
        .help = "every rank raises an error as soon as one has no more inputs",
        .bind = to<&JoinOptions::throw_on_early_termination>},
    Key{.name = "divide_by_initial_world_size",
        .type = Type::boolean,
        .help = "false: gradients are divided by the number of ranks that still have inputs",
        .bind = to<&JoinOptions::divide_by_initial_world_size>},
    Key{.name = "do",
        .type = Type::operations,
        .help = "the operations inside, with `when` for each rank's number of steps",
        .required = true,
        .traits = language::in_join},
};

constexpr std::array loop_rows{
    OperationRow{.name = "train",
                 .help = "a training loop: `do`, `steps` times",
                 .title_help = "a training loop",
                 .keys = train_keys,
                 .options = options_of<TrainOptions>,
                 .traits = language::needs_model | language::in_join,
                 .run = train},
    OperationRow{.name = "repeat",
                 .help = "`do`, `times` times; needs no model, and may be nested in itself, train and join",
                 .title_help = "a loop",
                 .keys = repeat_keys,
                 .options = options_of<RepeatOptions>,
                 .traits = language::in_train | language::in_join,
                 .run = repeat},
    OperationRow{.name = "no_sync",
                 .help = "`do` without synchronising gradients, like DDP's no_sync()",
                 .title_help = "DDP's context for accumulating gradients",
                 .keys = no_sync_keys,
                 .traits = language::in_train | language::only_in_train | language::needs_model,
                 .run = no_sync},
    OperationRow{.name = "join",
                 .help = "`do` with ranks that may run out of inputs, like DDP's join()",
                 .title_help = "DDP's context for ranks with different numbers of inputs",
                 .keys = join_keys,
                 .options = options_of<JoinOptions>,
                 .traits = language::needs_model,
                 .run = join},
};

}  // namespace

const Operations loop_operations{loop_rows};

}  // namespace pdsim::scenarios::operations
