// checkpoint, load_checkpoint.
#include "core/nn/state_dict.h"
#include "scenarios/program/operations/lifetime.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/shared_keys.h"
#include "scenarios/program/operations/training.h"
#include "scenarios/program/sharded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace pdsim::scenarios::operations {
namespace {

// Whether `key` of the operation means the wrapper. Error: there is none on this rank.
Result<bool> is_wrapper(Session& s, const Operation& op, ThroughWrapper whose, const char* key) {
  if (whose != ThroughWrapper::ddp) return false;
  if (s.ddp != nullptr || s.scenario.stands_for) return true;
  return Error{
      Code::not_initialized,
      fmt::format(
          "{}: `{}: ddp` without a wrapped model; call init_process_group before it, and remove `ddp: none`",
          op.name, key),
      {{"in", op.name}}};
}

// Writes as torch.save does, straight into the file: for `takes` it holds a part.
Status write_slowly(Session& s, const std::string& path, const std::string& text, Time takes) {
  if (takes.ps > 0) {
    s.env.recorder.note(notes::FileBegun{path});
    PDSIM_TRY(s.env.files.write_whole(path, std::string_view(text).substr(0, text.size() / 2)));
    pass_time(s, takes);
  }
  s.env.recorder.note(notes::FileWritten{path});
  return s.env.files.write_whole(path, text);
}

std::string_view prefix(bool wrapper) { return wrapper ? nn::wrapper_prefix : std::string_view{}; }

Status checkpoint(Session& s, const Operation& op) {
  const auto& options = op.as<CheckpointOptions>();
  s.work_on_part_of(options.part);
  PDSIM_TRY(make_model(s, op));
  const Result<bool> wrapper = is_wrapper(s, op, options.of, "of");
  if (!wrapper.ok()) return wrapper.error();
  std::string text;
  PDSIM_TRY(whole_model(s, [&] {
    text = nn::checkpoint_text(nn::state_dict(*s.module, prefix(*wrapper)));
    return Status{};
  }));
  if (options.rank0_only && s.env.rank != 0) return {};
  note_part_of_layers(s, options.path, false);
  return write_slowly(s, options.path, text, options.takes);
}

Status load_checkpoint(Session& s, const Operation& op) {
  const auto& options = op.as<LoadCheckpointOptions>();
  s.work_on_part_of(options.part);
  PDSIM_TRY(make_model(s, op));
  const Result<bool> wrapper = is_wrapper(s, op, options.into, "into");
  if (!wrapper.ok()) return wrapper.error();
  const std::string& path = options.path;
  const Result<std::string> text = s.env.files.read_whole(path);
  if (!text.ok()) return text.error();
  const Result<nn::StateDict> saved = nn::parse_checkpoint(*text, path);
  s.env.recorder.note(notes::FileRead{path, saved.ok()});
  note_part_of_layers(s, path, true);
  if (!saved.ok()) return saved.error();
  return whole_model(s, [&] {
    Status loaded = nn::load_state_dict(*s.module, *saved, prefix(*wrapper), options.strict,
                                        *wrapper ? "DistributedDataParallel" : "Module");
    if (s.sharded != nullptr) s.sharded->take_shards();
    return loaded;
  });
}

constexpr std::array checkpoint_keys{
    Key{.name = "path",
        .type = Type::text,
        .help = "the file to write parameters and buffers to",
        .required = true,
        .bind = to<&CheckpointOptions::path>},
    Key{.name = "takes",
        .type = Type::duration,
        .help = "how long the write takes; until then the file is truncated, and another writer restarts it",
        .bind = to<&CheckpointOptions::takes>},
    Key{.name = "of",
        .type = Type::word,
        .help = "the state_dict to save: the module's, or the wrapper's, whose keys begin with `module.`",
        .choices = eval_targets,
        .bind = to<&CheckpointOptions::of>},
    Key{.name = "rank0_only",
        .type = Type::boolean,
        .help = "only rank 0 writes; every rank of a sharded model takes part in gathering it (FullStateDictConfig)",
        .bind = to<&CheckpointOptions::rank0_only>},
    bound(model_part_key, to<&CheckpointOptions::part>),
};

constexpr std::array load_checkpoint_keys{
    Key{.name = "path",
        .type = Type::text,
        .help = "the file that `checkpoint` wrote",
        .required = true,
        .bind = to<&LoadCheckpointOptions::path>},
    Key{.name = "into",
        .type = Type::word,
        .help = "the load_state_dict to call: the module's, or the wrapper's, which expects keys that begin with "
                "`module.`",
        .choices = eval_targets,
        .bind = to<&LoadCheckpointOptions::into>},
    Key{.name = "strict",
        .type = Type::boolean,
        .help = "missing and unexpected keys are errors",
        .bind = to<&LoadCheckpointOptions::strict>},
    bound(model_part_key, to<&LoadCheckpointOptions::part>),
};

constexpr std::array checkpoint_rows{
    OperationRow{.name = "checkpoint",
                 .help = "writes parameters and buffers to a file",
                 .title_help = "saves the parameters",
                 .keys = checkpoint_keys,
                 .options = options_of<CheckpointOptions>,
                 .traits = language::needs_model | language::in_train,
                 .phase = Phase::checkpoint,
                 .run = checkpoint},
    OperationRow{.name = "load_checkpoint",
                 .help = "reads parameters and buffers from a file",
                 .title_help = "loads a checkpoint",
                 .keys = load_checkpoint_keys,
                 .options = options_of<LoadCheckpointOptions>,
                 .traits = language::needs_model | language::in_train,
                 .phase = Phase::checkpoint,
                 .run = load_checkpoint},
};

}  // namespace

const Operations checkpoint_operations{checkpoint_rows};

}  // namespace pdsim::scenarios::operations
