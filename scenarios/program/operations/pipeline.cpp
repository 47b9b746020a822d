// pipeline: a step of pipeline-parallel training, with costs instead of a model.
//
//   data   a message carries a pattern of its number and place, and the receiver checks it
#include "core/pipeline/run_pipeline.h"
#include "core/pipeline/timing.h"
#include "scenarios/language/pipeline_schedule.h"
#include "scenarios/program/operations/lifetime.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/shared_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::operations {
namespace {

std::vector<std::byte> pattern_of(const PipelineMessage& message, std::size_t bytes) {
  const PipelineAction& by = message.produced_by;
  const std::size_t start = static_cast<std::size_t>(by.stage) * 31 + static_cast<std::size_t>(by.microbatch) * 7 +
                            (message.activation() ? 0 : 128);
  std::vector<std::byte> pattern(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pattern[i] = static_cast<std::byte>((start + i) & 0xff);
  return pattern;
}

// Its memory is the session's until all messages are over: what was started may outlive an error.
class CostedStages : public StageWork {
 public:
  CostedStages(Session& s, const PipelineOptions& options, int microbatches, Rank rank)
      : s_(s),
        options_(options),
        microbatches_(microbatches),
        rank_(rank),
        costs_{{{options.forward, options.input_backward, options.weight_backward}}, {}},
        bytes_(static_cast<std::size_t>(options.count) * size_of(options.dtype)) {}

  Status compute(const PipelineAction& action) override {
    if (action.stage == 0 && action.kind == PipelineActionKind::forward) PDSIM_TRY(check_rows(action.microbatch));
    pass_time(s_, costs_.of(action));
    return {};
  }

  MutableView memory(const PipelineMessage& message) override {
    if (!s_.moves_data()) return {nullptr, options_.dtype, options_.count};
    std::vector<std::byte>& memory = memory_of(message);
    memory = message.from == rank_ ? pattern_of(message, bytes_) : std::vector<std::byte>(bytes_);
    return {memory.data(), options_.dtype, options_.count};
  }

  Status received(const PipelineMessage& message) override {
    if (!s_.moves_data() || memory_of(message) == pattern_of(message, bytes_)) return {};
    return Error{Code::wrong_data,
                 fmt::format("pipeline: what arrived from rank {} is not the {} of {}", message.from,
                             message.activation() ? "activation" : "gradient", to_string(message.produced_by)),
                 {}};
  }

  // After all messages are over.
  void let_go() {
    for (const std::string& name : names_) s_.pending.erase(name);
  }

 private:
  std::vector<std::byte>& memory_of(const PipelineMessage& message) {
    const std::string name = fmt::format("#pipeline {} {}", to_string(message.produced_by), message.to);
    std::unique_ptr<Pending>& pending = s_.pending[name];
    if (pending == nullptr) {
      pending = std::make_unique<Pending>();
      names_.push_back(name);
    }
    return pending->input;
  }

  // torch.tensor_split gives the first micro-batches a row more where the batch does not divide, and the stage takes the shape of the
  // first alone. With fewer rows than micro-batches it gives as many as there are rows. The texts are those of torch/distributed/pipelining:
  // schedules.py (_check_inputs), stage.py (_validate_fwd_input) and _utils.py (validate_tensor_metadata).
  Status check_rows(int microbatch) const {
    if (!options_.rows) return {};
    const std::int64_t rows = *options_.rows, parts = microbatches_;
    const auto refused = [&](std::string message) -> Status {
      return Error{Code::shape_mismatch, std::move(message), {{"rows", std::to_string(rows)}, {"microbatches", std::to_string(parts)}}};
    };
    if (rows < parts) return refused(fmt::format("ValueError: Expecting {} arg_mbs but got {}", parts, rows));
    if (microbatch < rows % parts || rows % parts == 0) return {};
    return refused(fmt::format(
        "PipeliningShapeError: Stage 0 forward inputs: value 0 has a shape mismatch: expected torch.Size([{}]) actual torch.Size([{}])",
        rows / parts + 1, rows / parts));
  }

  Session& s_;
  const PipelineOptions& options_;
  const int microbatches_;
  const Rank rank_;  // of the group
  const PipelineCosts costs_;
  const std::size_t bytes_;
  std::vector<std::string> names_;
};

Status pipeline(Session& s, const Operation& op) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  if (!(*group)->is_member()) return {};
  const auto& options = op.as<PipelineOptions>();
  const Result<PipelineSchedule> schedule = pipeline_schedule(options, (*group)->size());
  if (!schedule.ok()) return schedule.error();
  CostedStages stages(s, options, schedule->microbatches, (*group)->rank());
  PDSIM_TRY(run_pipeline(lower_pipeline(*schedule, options.sends), **group, stages));
  stages.let_go();
  return {};
}

constexpr std::array pipeline_keys{
    Key{.name = "schedule",
        .type = Type::word,
        .help = "a published schedule; `pdsim explain` draws each",
        .choices = pipeline_family_names,
        .bind = to<&PipelineOptions::schedule>},
    Key{.name = "order",
        .type = Type::text,
        .help = "your own order instead of `schedule`: a text with a line for each rank, such as 0F0,0B0",
        .bind = to<&PipelineOptions::order>},
    Key{.name = "microbatches",
        .type = Type::integer,
        .help = "micro-batches of a step; for an `order` they are counted",
        .low = 1,
        .high = limits::steps,
        .bind = to<&PipelineOptions::microbatches>},
    Key{.name = "stages_per_rank",
        .type = Type::integer,
        .help = "for interleaved_1f1b",
        .low = 1,
        .high = limits::ranks,
        .bind = to<&PipelineOptions::stages_per_rank>},
    Key{.name = "sends",
        .type = Type::word,
        .help =
            "how activations and gradients are sent: posted in one order for all ranks and waited for when needed; in "
            "one batch between two actions; or with plain send and recv",
        .choices = pipeline_sends_names,
        .bind = to<&PipelineOptions::sends>},
    Key{.name = "count",
        .type = Type::integer,
        .help = "elements of an activation, and of its gradient",
        .low = 1,
        .high = limits::count,
        .bind = to<&PipelineOptions::count>},
    Key{.name = "dtype",
        .type = Type::word,
        .help = "element type",
        .choices = dtype_names,
        .bind = to<&PipelineOptions::dtype>},
    Key{.name = "forward",
        .type = Type::duration,
        .help = "forward time of one micro-batch in one stage",
        .bind = to<&PipelineOptions::forward>},
    Key{.name = "input_backward",
        .type = Type::duration,
        .help = "time of the part of a backward that the previous stage waits for",
        .bind = to<&PipelineOptions::input_backward>},
    Key{.name = "weight_backward",
        .type = Type::duration,
        .help = "time of the part that computes the gradients of the weights",
        .bind = to<&PipelineOptions::weight_backward>},
    Key{.name = "rows",
        .type = Type::integer,
        .help = "rows of the batch, which the first stage splits as torch.distributed.pipelining does: micro-batches "
                "with a different shape than the first are an error there; default: all micro-batches have the same "
                "shape",
        .low = 1,
        .high = limits::count,
        .bind = to<&PipelineOptions::rows>},
    Key{.name = "group",
        .type = Type::name,
        .help = "the group with the pipeline's ranks, in order: world, or the name of a new_group",
        .bind = to<&PipelineOptions::group>},
};

constexpr std::array pipeline_rows{
    OperationRow{.name = "pipeline",
                 .help = "forwards and backwards of micro-batches through the stages of a pipeline, by a schedule",
                 .title_help = "a pipeline-parallel step",
                 .keys = pipeline_keys,
                 .options = options_of<PipelineOptions>,
                 .traits = language::in_train,
                 .run = pipeline},
};

}  // namespace

const Operations pipeline_operations{pipeline_rows};

}  // namespace pdsim::scenarios::operations
