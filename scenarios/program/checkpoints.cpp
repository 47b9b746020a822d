// checkpoint, load_checkpoint, requires_grad.
#include "core/nn/state_dict.h"
#include "scenarios/program/operations.h"

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
          "{}: `{}: ddp` without a wrapped model; call init_process_group before it, and leave out `ddp: none`",
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

}  // namespace

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

}  // namespace pdsim::scenarios::operations
