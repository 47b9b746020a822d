// The model, and what a step does with it before the optimizer: eval, zero_grad, forward, backward.
#include "scenarios/program/operations/training.h"

#include "core/base/fingerprint.h"
#include "core/nn/autograd.h"
#include "core/nn/functional.h"
#include "core/parallel/rank_exchange.h"
#include "scenarios/language/costs.h"
#include "scenarios/program/alone.h"
#include "scenarios/program/batch.h"
#include "scenarios/program/operations/loops.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/optimizer.h"
#include "scenarios/program/operations/shared_keys.h"
#include "scenarios/program/sharded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::operations {
namespace {

struct BackwardOptions {
  std::vector<std::string> losses{"loss"};
  NumberOrWord times{1};  // or world_size
  std::int64_t divided_by = 1;
};

// Charges the backward of each toy layer, which says nothing of its time, as its gradients become ready. Registered before DDP's own hooks, so that a bucket leaves
// after the work that filled it.
void charge_backward(nn::Module& module, Runtime& runtime) {
  for (nn::Tensor& parameter : module.parameters()) {
    const std::string layer = parameter.name().substr(0, parameter.name().find('.') + 1);
    const auto& layers = module.spec().layers;
    if (std::any_of(layers.begin(), layers.end(),
                    [&](const nn::LayerSpec& l) { return l.name + "." == layer && l.forward_time.has_value(); }))
      continue;
    const auto parts = std::count_if(module.parameters().begin(), module.parameters().end(),
                                     [&](const nn::Tensor& p) { return p.name().starts_with(layer); });
    const Time cost{costs::backward_per_layer.ps / parts};
    nn::register_post_accumulate_hook(parameter, [&runtime, cost](nn::Tensor&) {
      runtime.compute(cost);
      return Status{};
    });
  }
}

std::string path_of(Session& s, const std::optional<Located<std::string>>& given) {
  const Branch* take = branch_for(s.scenario, s.env.rank, s.step);
  const std::string usual = s.module->spec().paths.front().name;
  const std::string path = given ? **given : take != nullptr ? *take->path : usual;
  const Mark mark = given ? given->mark : take != nullptr ? take->path.mark : Mark{};
  s.env.recorder.note(notes::PathTaken{path, path == usual, mark.line, mark.column});
  return path;
}

// Parameters with a gradient in the order in which DDP counts them. Only models that ranks build differently are told.
void note_model(Session& s) {
  if (s.scenario.model.per_rank.empty()) return;
  notes::ModelBuilt built;
  for (const nn::Tensor& p : s.module->parameters())
    if (p.requires_grad()) built.parameters.push_back(fmt::format("{} [{}]", p.name(), fmt::join(p.shape(), " x ")));
  s.env.recorder.note(std::move(built));
}

void note_optimizer(Session& s) {
  const Scenario& scenario = s.scenario;
  if (scenario.optimizer.copies)
    s.env.recorder.note(notes::OptimizerMade{true, s.ddp != nullptr || !scenario.ddp.wraps(s.env.rank)});
}

DataParallelOptions data_parallel_options(const Scenario& scenario) {
  const sim::Link& link = scenario.world.spec.intra;
  return {scenario.data_parallel->devices, scenario.data_parallel->output_device, link.latency, link.bandwidth};
}

notes::LossReduction reduction_of(const Scenario& scenario) {
  return scenario.loss == "sum" ? notes::LossReduction::sum : notes::LossReduction::mean;
}

// Which of several models this forward or backward is of.
void note_part(Session& s) {
  if (!s.part.empty()) s.env.recorder.note(notes::ModelUsed{s.part});
}

void note_first(Session& s, bool buffers, std::span<const nn::Tensor> tensors) {
  constexpr std::size_t most_tensors = 256;
  constexpr std::int64_t most_elements = 1 << 14;
  if (tensors.size() > most_tensors) return;
  notes::FirstValues first{buffers, {}, {}};
  for (const nn::Tensor& tensor : tensors) {
    if (tensor.numel() > most_elements) continue;
    first.tensors.push_back(tensor.name());
    first.digests.push_back(digest_of(tensor));
  }
  if (!first.tensors.empty()) s.env.recorder.note(std::move(first));
}

// The tensors with which this rank begins to train, where the wrapper does not make them equal.
void note_first_tensors(Session& s) {
  if (!s.moves_data() || s.world_size() < 2 || !replicas_are_all(s)) return;
  if (!s.parts_begun.insert(s.part).second) return;
  const DdpOptions& options = s.scenario.ddp.options;
  if (!options.broadcast_buffers) note_first(s, true, s.module->buffers());
  if (!options.init_sync) note_first(s, false, s.module->parameters());
}

// Which random numbers this rank's dropout draws, where the ranks have replicas of one model and batches of their own.
void note_noise(Session& s, const nn::ModuleSpec& spec, Random noise) {
  if (!s.scenario.ddp.wrap || s.world_size() < 2 || !replicas_are_all(s)) return;
  const auto draws = [](const nn::LayerSpec& layer) { return layer.kind == nn::LayerKind::dropout && layer.probability > 0; };
  if (std::any_of(spec.layers.begin(), spec.layers.end(), draws))
    s.env.recorder.note(notes::NoiseSeeded{static_cast<std::int64_t>(noise.next() >> 12U)});
}

bool has_wrapper(const Session& s) { return s.scenario.ddp.wraps(s.env.rank) || s.scenario.fully_shard.has_value(); }

struct Forwarded {
  std::string path;
  nn::Tensor output;
  Batch batch;
  Widths widths;
};

// At the first step of an epoch: what this rank is going to draw.
Status begin_epoch(Session& s, int step) {
  const Result<Drawn> drawn = draw(s.scenario, s.scenario.data_rank(s.env.rank), step);
  if (!drawn.ok()) return drawn.error();
  if (drawn->first_row != 0) return {};
  const Data& data = s.scenario.data;
  s.env.recorder.note(notes::SamplesDrawn{drawn->epoch,
                                          data.samples,
                                          data.over,
                                          data.sampler,
                                          data.shuffle,
                                          drawn->seed,
                                          {drawn->indices.begin(), drawn->indices.end()}});
  return {};
}

Result<Forwarded> run_forward(Session& s, const Operation& op, const ForwardOptions& asked, nn::ForwardMode mode,
                              bool wrapped) {
  if (const Model& model = s.scenario.model; !model.parts.empty()) {
    s.work_on(model.part_of(asked.path ? **asked.path : model.spec.paths.front().name).name);
    note_part(s);
  }
  PDSIM_TRY(make_model(s, op));
  if (wrapped && s.ddp == nullptr && s.sharded == nullptr)
    return Error{
        Code::not_initialized,
        fmt::format("{} needs the wrapped model, and this rank has called no init_process_group before it", op.name),
        {}};
  const std::string path = path_of(s, asked.path);
  Forwarded f;
  f.widths = widths_of(*s.module, path);
  if (s.scenario.data.given && !s.scenario.stands_for) PDSIM_TRY(begin_epoch(s, std::max(s.step, 0)));
  const Result<Batch> batch = batch_for(s, asked, f.widths);
  if (!batch.ok()) return batch.error();
  f.batch = *batch;
  s.rows = batch->rows;
  if (asked.rows) s.env.recorder.note(notes::RowsTaken{batch->rows});
  f.path = path;
  if (mode.training && joins_batches(s)) return f;
  const nn::Tensor input = input_tensor(s.scenario, f.batch, f.widths);
  FlightRecorder& recorder = s.env.recorder;
  const nn::TensorWatcher watch = [&recorder](const nn::TensorEvent& e) {
    if (e.saved)
      recorder.note(notes::TensorSaved{e.tensor, e.version, e.by});
    else
      recorder.note(notes::TensorWritten{e.tensor, e.version, e.by, false});
  };
  if (wrapped && mode.training) note_first_tensors(s);
  const bool split = s.data_parallel != nullptr && mode.training;
  Result<nn::Tensor> output = wrapped && s.sharded != nullptr ? s.sharded->forward(input, path, mode, watch)
                              : wrapped                       ? s.ddp->forward(input, path, mode)
                              : split                         ? s.data_parallel->forward(input, path, mode, watch)
                                                              : s.module->forward(input, path, mode, watch);
  if (!output.ok()) return output.error();
  s.env.runtime.compute(costs::forward_per_layer * static_cast<std::int64_t>(s.module->untimed_layers(path)));
  f.output = *output;
  return f;
}

// Leaves away what is of other parts.
void keep_part(nn::ModuleSpec& spec, const Model& model, const std::string& name) {
  const auto part = std::find_if(model.parts.begin(), model.parts.end(), [&](const auto& p) { return p.name == name; });
  const auto is_foreign = [&](const std::string& layer) { return !part->has(layer); };
  spec.layers.erase(
      std::remove_if(spec.layers.begin(), spec.layers.end(), [&](const auto& l) { return is_foreign(l.name); }),
      spec.layers.end());
  spec.paths.erase(
      std::remove_if(spec.paths.begin(), spec.paths.end(), [&](const auto& p) { return is_foreign(p.layers.front()); }),
      spec.paths.end());
  spec.recompute.erase(std::remove_if(spec.recompute.begin(), spec.recompute.end(), is_foreign), spec.recompute.end());
}

}  // namespace

// Whether all ranks have replicas of one model, which reports may compare.
bool replicas_are_all(const Session& s) {
  return s.scenario.ddp.group == world_group && !s.scenario.fully_shard && !s.scenario.tensor_parallel;
}

std::int64_t digest_of(const nn::Tensor& tensor) {
  const std::vector<double> values = tensor.values();
  return static_cast<std::int64_t>(digest(std::as_bytes(std::span(values))) >> 12U);
}

Status make_model(Session& s, const Operation& op) {
  if (s.module != nullptr) return {};
  const bool needs_group = s.scenario.ddp.wrap || s.scenario.fully_shard || s.scenario.tensor_parallel;
  if (needs_group && s.group == nullptr) return s.group_for(op).status();
  const auto stream = static_cast<std::uint64_t>(s.scenario.ddp.wrap && !s.scenario.tensor_parallel ? s.env.rank : 0);
  nn::ModuleSpec spec = s.scenario.model.spec_of(s.env.rank, s.env.node);
  if (!s.part.empty()) keep_part(spec, s.scenario.model, s.part);
  split_layers(s, spec);
  spec.sizes_have_memory = s.world == WorldKind::real;
  const std::string of = s.part.empty() ? "parameters" : "parameters/" + s.part;
  const std::uint64_t first_values = s.scenario.model.same_initial_values ? 0 : stream;
  s.module = std::make_unique<nn::Module>(spec, Random(s.scenario.seed).stream(of, first_values));
  const Random noise = Random(s.scenario.seed).stream("noise", s.scenario.model.same_noise ? 0 : stream);
  s.module->set_noise(noise);
  note_noise(s, spec, noise);
  if (s.scenario.ddp.wrap && s.world_size() > 1) s.module->set_exchange(exchange_over(*s.group));
  join_split_layers(s);
  s.module->set_clock([&s](Time cost) {
    s.computing += cost;
    s.env.runtime.compute(cost);
  });
  const sim::Link link = s.scenario.world.spec.intra;
  s.module->set_copier(
      [link](std::int64_t bytes) { return link.latency + transfer_time(Bytes{bytes}, link.bandwidth); });
  if (const auto& split = s.scenario.data_parallel; split && split->devices > 0)
    s.data_parallel = std::make_unique<DataParallel>(*s.module, data_parallel_options(s.scenario), s.env.runtime);
  charge_backward(*s.module, s.env.runtime);
  s.env.recorder.note(notes::TrainingSetup{reduction_of(s.scenario), s.scenario.batch, s.scenario.data.given,
                                           s.scenario.model.spec.recompute});
  note_model(s);
  make_optimizer(s);
  if (s.scenario.optimizer_before_wrapper) note_optimizer(s);
  return {};
}

namespace {

Status eval(Session& s, const Operation& op) {
  const auto& options = op.as<EvalOptions>();
  const bool wrapped = has_wrapper(s) && options.through == ThroughWrapper::ddp;
  const std::int64_t forwards = options.steps.value_or(1);
  const auto evaluate = [&]() -> Status {
    s.env.recorder.set_site(site_of(op, op.name, s.step));
    const std::int64_t id = s.env.recorder.enter("forward");
    const Status status = run_forward(s, op, ForwardOptions{}, {false, false}, wrapped).status();
    s.env.recorder.leave(id, status);
    return status;
  };
  if (s.loop == nullptr && options.steps) return run_steps(s, op, forwards, evaluate);
  Status status;  // in a training loop all are of its step
  for (std::int64_t i = 0; i < forwards && status.ok(); ++i) status = evaluate();
  return status;
}

Status zero_grad(Session& s, const Operation& op) {
  forget_batches(s);
  return s.for_each_part([&]() -> Status {
    PDSIM_TRY(make_model(s, op));
    s.sharded != nullptr ? s.sharded->zero_grad() : s.optimizer->zero_grad();
    return {};
  });
}

Status forward(Session& s, const Operation& op) {
  const auto& options = op.as<ForwardOptions>();
  const bool wraps = has_wrapper(s);
  const bool wrapped = wraps && options.through == ThroughWrapper::ddp;
  if (wraps && !wrapped) s.env.recorder.note(notes::WrapperBypassed{});
  const Result<Forwarded> f = run_forward(s, op, options, {true, true}, wrapped);
  if (!f.ok()) return f.error();
  if (joins_batches(s)) return keep_batch(s, options.output, f->batch, f->path), Status{};
  const Result<nn::Tensor> loss = scaled_loss(s, f->output, f->batch, f->widths);
  if (!loss.ok()) return loss.error();
  s.last_loss = loss->values();
  s.losses[options.output] = *loss;
  s.part_of_loss[options.output] = s.part;
  return {};
}

notes::VersionError version_error_of(const Error& error) {
  const auto number = [&](std::string_view key) { return fact_number(error.facts, key).value_or(-1); };
  return {std::string(fact(error.facts, "tensor")), number("version"), number("expected")};
}
// The wrappers of the parts that these losses come from, each once.
std::vector<DistributedDataParallel*> wrapped_parts_of(Session& s, const std::vector<std::string>& losses) {
  std::vector<DistributedDataParallel*> wrapped;
  for (const std::string& loss : losses) {
    const std::string& part = s.part_of_loss[loss];
    DistributedDataParallel* ddp = part == s.part ? s.ddp.get() : s.other_parts[part].ddp.get();
    if (ddp != nullptr && std::find(wrapped.begin(), wrapped.end(), ddp) == wrapped.end()) wrapped.push_back(ddp);
  }
  return wrapped;
}

Status backward(Session& s, const Operation& op) {
  std::vector<nn::Tensor> roots;
  const auto& options = op.as<BackwardOptions>();
  const std::int64_t times = options.times.word ? s.world_size() : options.times.number;
  const std::int64_t parts = options.divided_by;
  if (joins_batches(s)) return gather_batches(s, options.losses), Status{};
  if (times != 1 || parts != 1)
    s.env.recorder.note(notes::LossScaled{times, parts, s.world_size(), reduction_of(s.scenario)});
  const double factor = static_cast<double>(times) / static_cast<double>(parts);
  const auto add = [&](const std::string& name) -> Status {
    const auto found = s.losses.find(name);
    if (found == s.losses.end())
      return Error{Code::autograd_misuse,
                   fmt::format("backward of `{}`, which no forward of this rank has computed", name),
                   {{"output", name}}};
    const Result<nn::Tensor> root = times == parts ? found->second : nn::scale(found->second, factor);
    if (!root.ok()) return root.error();
    roots.push_back(*root);
    s.work_on(s.part_of_loss[name]);
    return {};
  };
  for (const std::string& loss : options.losses) PDSIM_TRY(add(loss));
  note_part(s);
  nn::BackwardPass pass;
  const std::vector<DistributedDataParallel*> wrapped = wrapped_parts_of(s, options.losses);
  const Status status = wrapped.size() > 1           ? DistributedDataParallel::backward(roots, wrapped)
                        : s.ddp != nullptr           ? s.ddp->backward(roots)
                        : s.sharded != nullptr       ? s.sharded->backward(roots)
                        : s.data_parallel != nullptr ? s.data_parallel->backward(roots)
                                                     : pass.run(roots);
  if (!status.ok() && status.error().code == Code::saved_tensor_modified)
    s.env.recorder.note(version_error_of(status.error()));
  return status;
}

constexpr std::array eval_keys{
    Key{.name = "through",
        .type = Type::word,
        .help = "which forward: the wrapper's, which broadcasts buffers, or the module's",
        .choices = eval_targets,
        .bind = to<&EvalOptions::through>},
    Key{.name = "steps",
        .type = Type::integer,
        .help = "number of forwards",
        .low = 1,
        .high = limits::steps,
        .bind = to<&EvalOptions::steps>},
};

constexpr std::array forward_keys{
    Key{.name = "input",
        .type = Type::name,
        .help = "name of the batch; every name is a separate batch",
        .bind = to<&ForwardOptions::input>},
    Key{.name = "output",
        .type = Type::name,
        .help = "name of its loss, for backward",
        .bind = to<&ForwardOptions::output>},
    Key{.name = "path",
        .type = Type::name,
        .help = "path of the model; default: the one that `branches` gives",
        .bind = to<&ForwardOptions::path>},
    Key{.name = "rows",
        .type = Type::integer,
        .help = "rows of this batch, may be 0; default: `batch`",
        .high = 65536,
        .bind = to<&ForwardOptions::rows>},
    Key{.name = "through",
        .type = Type::word,
        .help = "which forward: the wrapper's, or the module's, which DDP does not notice",
        .choices = eval_targets,
        .bind = to<&ForwardOptions::through>},
};

constexpr std::array<std::string_view, 1> times_words{"world_size"};

constexpr std::array backward_keys{
    Key{.name = "losses",
        .type = Type::names,
        .help = "outputs whose losses are added up",
        .bind = to<&BackwardOptions::losses>},
    Key{.name = "times",
        .type = Type::integer,
        .help = "factor of the losses",
        .choices = times_words,
        .low = 1,
        .high = limits::ranks,
        .bind = to<&BackwardOptions::times>},
    Key{.name = "divided_by",
        .type = Type::integer,
        .help = "divisor of the losses, as in (loss / k).backward()",
        .low = 1,
        .high = limits::steps,
        .bind = to<&BackwardOptions::divided_by>},
};

constexpr std::array training_rows{
    OperationRow{.name = "eval",
                 .help = "a forward in eval mode without gradients",
                 .title_help = "a forward without gradients",
                 .keys = eval_keys,
                 .options = options_of<EvalOptions>,
                 .traits = language::needs_model | language::in_train | language::in_join,
                 .phase = Phase::evaluation,
                 .run = eval},
    OperationRow{.name = "zero_grad",
                 .help = "sets all gradients to none",
                 .traits = language::in_train | language::only_in_train | language::needs_model,
                 .phase = Phase::optimizer,
                 .run = zero_grad},
    OperationRow{.name = "forward",
                 .help = "a forward through the wrapper, and its loss",
                 .title_help = "a forward of the model and its loss",
                 .keys = forward_keys,
                 .options = options_of<ForwardOptions>,
                 .traits = language::in_train | language::only_in_train | language::needs_model,
                 .phase = Phase::forward,
                 .run = forward},
    OperationRow{.name = "backward",
                 .help = "backward of the losses; DDP reduces the gradients",
                 .title_help = "backward of the losses",
                 .keys = backward_keys,
                 .options = options_of<BackwardOptions>,
                 .traits = language::in_train | language::only_in_train | language::needs_model,
                 .phase = Phase::backward,
                 .run = backward},
};

}  // namespace

const Operations training_operations{training_rows};

}  // namespace pdsim::scenarios::operations
