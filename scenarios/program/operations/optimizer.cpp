// Operations of a step on gradients and parameters: optimizer_step, clip_grad_norm, requires_grad.
#include "scenarios/program/operations/optimizer.h"

#include "core/base/fingerprint.h"
#include "core/nn/clip.h"
#include "scenarios/language/costs.h"
#include "scenarios/program/alone.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/shared_keys.h"
#include "scenarios/program/operations/training.h"
#include "scenarios/program/sharded.h"

#include <fmt/format.h>

#include <limits>
#include <span>
#include <utility>

namespace pdsim::scenarios::operations {
namespace {

// The parameters of this rank after the step, for comparison with its replicas. The first one is named before.
void note_replica(Session& s, std::vector<notes::ReplicaState>& states) {
  if (!s.moves_data() || s.ddp == nullptr || s.world_size() < 2 || !replicas_are_all(s)) return;
  constexpr std::size_t most_parameters = 256, most_steps = 512;
  constexpr std::int64_t most_elements = 1 << 14;
  if (s.module->parameters().size() > most_parameters) return;
  std::size_t& steps = s.replica_steps[s.part];
  if (++steps > most_steps) return;
  notes::ReplicaState state{s.part, notes::ReplicaMoment::step, -1, 0, {}};
  std::vector<std::string> names;
  for (nn::Tensor& parameter : s.module->parameters()) {
    if (parameter.numel() > most_elements) continue;
    if (steps == 1) names.push_back(parameter.name());
    state.digests.push_back(digest_of(parameter));
  }
  state.digest = static_cast<std::int64_t>(digest(std::as_bytes(std::span(state.digests))) >> 12U);
  if (steps == 1) s.env.recorder.note(notes::ReplicaMade{s.part, {}, std::move(names)});
  states.push_back(std::move(state));
}

// Applies the settings of one step, if it has its own, and notes the settings in use.
void apply_settings(Session& s, const OptimizerStepOptions& asked, notes::OptimizerStep& step) {
  const nn::OptimizerSpec& usual = s.scenario.optimizer;
  const double lr = asked.lr.value_or(usual.lr), momentum = asked.momentum.value_or(usual.momentum);
  s.optimizer->set(lr, momentum);
  if (asked.unscale != 1) s.optimizer->divide_grad(static_cast<double>(asked.unscale));
  if (s.ddp == nullptr || s.world_size() < 2 || !step.settings.empty()) return;
  const auto keep = [&step](std::string_view name, const auto& value) {
    step.settings.emplace_back(name);
    step.values.push_back(fmt::format("{}", value));
  };
  keep("lr", lr);
  if (usual.kind == nn::OptimizerSpec::Kind::sgd) keep("momentum", momentum);
  keep("unscale", asked.unscale);
}

}  // namespace

void make_optimizer(Session& s) {
  s.optimizer =
      nn::Optimizer::make(s.scenario.optimizer, s.sharded != nullptr ? s.sharded->shards() : s.module->parameters());
}

nn::ClipOptions clip_options(const ClipOptions& clip) {
  nn::ClipOptions options;
  options.max_norm = clip.max_norm;
  if (clip.norm_type == NormType::infinity) options.norm_type = std::numeric_limits<double>::infinity();
  options.error_if_nonfinite = clip.error_if_nonfinite;
  return options;
}

Result<double> clip_gradients(const ClipOptions& clip, std::span<nn::Tensor> parameters) {
  return nn::clip_grad_norm(parameters, clip_options(clip));
}

namespace {

Status clip_grad_norm(Session& s, const Operation& op) {
  const auto& options = op.as<ClipOptions>();
  s.work_on_part_of(options.part);
  PDSIM_TRY(make_model(s, op));
  PDSIM_TRY(settle_batches(s));
  const Result<double> norm =
      s.sharded != nullptr ? clip_shards(s, options) : clip_gradients(options, s.module->parameters());
  if (!norm.ok()) return norm.error();
  s.grad_norm = {*norm};
  return {};
}

Status optimizer_step(Session& s, const Operation& op) {
  PDSIM_TRY(settle_batches(s));
  notes::OptimizerStep step;
  std::vector<notes::ReplicaState> states;
  const Status stepped = s.for_each_part([&]() -> Status {
    PDSIM_TRY(make_model(s, op));
    step.synchronised = step.synchronised && (s.world_size() == 1 || (s.ddp != nullptr && s.ddp->gradients_synchronised()) ||
                                              (s.sharded != nullptr && s.sharded->gradients_synchronised()));
    apply_settings(s, op.as<OptimizerStepOptions>(), step);
    s.optimizer->step();
    if (s.sharded != nullptr) PDSIM_TRY(s.sharded->step_done());
    note_replica(s, states);
    return {};
  });
  PDSIM_TRY(stepped);
  s.env.recorder.note(std::move(step));
  for (notes::ReplicaState& state : states) s.env.recorder.note(std::move(state));
  s.env.runtime.compute(s.scenario.optimizer_time.value_or(costs::optimizer_step));
  return {};
}

Status requires_grad(Session& s, const Operation& op) {
  const auto& options = op.as<RequiresGradOptions>();
  const bool to = options.to;
  const std::vector<std::string>& layers = options.layers;
  bool wrapped = false;
  const Status set = s.for_each_part([&]() -> Status {
    PDSIM_TRY(make_model(s, op));
    for (nn::Tensor& parameter : s.module->parameters())
      for (const std::string& layer : layers)
        if (parameter.name().starts_with(layer + ".")) {
          parameter.set_requires_grad(to);
          wrapped = s.ddp != nullptr;
        }
    return {};
  });
  PDSIM_TRY(set);
  s.env.recorder.note(notes::RequiresGradSet{std::move(layers), to, wrapped});
  return {};
}

constexpr std::array optimizer_step_keys{
    Key{.name = "lr",
        .type = Type::decimal,
        .help = "learning rate of this step; default: the optimizer's",
        .bind = to<&OptimizerStepOptions::lr>},
    Key{.name = "momentum",
        .type = Type::decimal,
        .help = "momentum of this step; default: the optimizer's",
        .bind = to<&OptimizerStepOptions::momentum>},
    Key{.name = "unscale",
        .type = Type::integer,
        .help = "gradients are divided by it first, like a gradient scaler that has multiplied the losses by it",
        .low = 1,
        .high = 1LL << 32U,
        .bind = to<&OptimizerStepOptions::unscale>},
};

constexpr std::array<std::string_view, 2> norm_types{"2", "inf"};

constexpr std::array<std::string_view, 2> clipped_norms{"parameters", "model"};

constexpr std::array clip_keys{
    Key{.name = "max_norm",
        .type = Type::decimal,
        .help = "limit for the total norm of all gradients",
        .bind = to<&ClipOptions::max_norm>},
    Key{.name = "norm_type",
        .type = Type::word,
        .help = "order of the norm: 2 is the root of the sum of squares, inf the largest element",
        .choices = norm_types,
        .bind = to<&ClipOptions::norm_type>},
    Key{.name = "error_if_nonfinite",
        .type = Type::boolean,
        .help = "a norm that is NaN or infinite is an error",
        .bind = to<&ClipOptions::error_if_nonfinite>},
    Key{.name = "of",
        .type = Type::word,
        .help = "which norm: torch.nn.utils.clip_grad_norm_ over this rank's gradients, or the sharded model's "
                "clip_grad_norm_ over all shards",
        .choices = clipped_norms,
        .bind = to<&ClipOptions::of>},
    bound(model_part_key, to<&ClipOptions::part>),
};

constexpr std::array requires_grad_keys{
    Key{.name = "layers",
        .type = Type::names,
        .help = "whose parameters",
        .required = true,
        .bind = to<&RequiresGradOptions::layers>},
    Key{.name = "to",
        .type = Type::boolean,
        .help = "false freezes them; true lets them train again",
        .required = true,
        .bind = to<&RequiresGradOptions::to>},
};

constexpr std::array optimizer_rows{
    OperationRow{.name = "optimizer_step",
                 .help = "a step of the optimizer",
                 .title_help = "a step of the optimizer",
                 .keys = optimizer_step_keys,
                 .options = options_of<OptimizerStepOptions>,
                 .traits = language::in_train | language::only_in_train | language::needs_model,
                 .phase = Phase::optimizer,
                 .run = optimizer_step},
    OperationRow{.name = "clip_grad_norm",
                 .help = "scales down this rank's gradients if their norm is too large",
                 .title_help = "clips gradients",
                 .keys = clip_keys,
                 .options = options_of<ClipOptions>,
                 .traits = language::in_train | language::only_in_train | language::needs_model,
                 .phase = Phase::optimizer,
                 .run = clip_grad_norm},
    OperationRow{.name = "requires_grad",
                 .help = "freezes layers, or lets them train again, without the wrapper noticing",
                 .title_help = "parameter.requires_grad_(to)",
                 .keys = requires_grad_keys,
                 .options = options_of<RequiresGradOptions>,
                 .traits = language::in_train | language::needs_model,
                 .run = requires_grad},
};

}  // namespace

const Operations optimizer_operations{optimizer_rows};

}  // namespace pdsim::scenarios::operations
