// checkpoint, load_checkpoint, requires_grad.
#include "core/nn/state_dict.h"
#include "scenarios/engine/operations/operations.h"
#include "scenarios/engine/program_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace pdsim::scenarios::operations {
namespace {

// Whether `key` of the operation means the wrapper. Error: there is none on this rank.
Result<bool> is_wrapper(Session& s, const Operation& op, const char* key) {
  if (op.text(key, "module") != "ddp") return false;
  if (s.ddp != nullptr) return true;
  return Error{Code::not_initialized,
               fmt::format("{}: `{}: ddp` without a wrapped model; call init before it, and leave `ddp: none` away",
                           op.name, key),
               {{"in", op.name}}};
}

// Writes as torch.save does, straight into the file: for `takes` it holds a part.
Status write_slowly(Session& s, const std::string& path, const std::string& text, Time takes) {
  if (takes.ps > 0) {
    s.env.recorder.note(program_note::file_begun, {{"path", path}});
    PDSIM_TRY(s.env.files.write_whole(path, std::string_view(text).substr(0, text.size() / 2)));
    pass_time(s, takes);
  }
  s.env.recorder.note(program_note::file_written, {{"path", path}});
  return s.env.files.write_whole(path, text);
}

std::string_view prefix(bool wrapper) { return wrapper ? nn::wrapper_prefix : std::string_view{}; }

}  // namespace

Status checkpoint(Session& s, const Operation& op) {
  s.work_on_part_of(op);
  PDSIM_TRY(make_model(s, op));
  const Result<bool> wrapper = is_wrapper(s, op, "of");
  if (!wrapper.ok()) return wrapper.error();
  const Result<Time> takes = parse_time(op.text("takes", "0s"));
  if (!takes.ok()) return takes.error();
  const std::string text = nn::checkpoint_text(nn::state_dict(*s.module, prefix(*wrapper)));
  return write_slowly(s, op.text("path", ""), text, *takes);
}

Status load_checkpoint(Session& s, const Operation& op) {
  s.work_on_part_of(op);
  PDSIM_TRY(make_model(s, op));
  const Result<bool> wrapper = is_wrapper(s, op, "into");
  if (!wrapper.ok()) return wrapper.error();
  const std::string path = op.text("path", "");
  const Result<std::string> text = s.env.files.read_whole(path);
  if (!text.ok()) return text.error();
  const Result<nn::StateDict> saved = nn::parse_checkpoint(*text, path);
  s.env.recorder.note(program_note::file_read, {{"path", path}, {"whole", saved.ok() ? "yes" : "no"}});
  if (!saved.ok()) return saved.error();
  return nn::load_state_dict(*s.module, *saved, prefix(*wrapper), op.flag("strict", true),
                             *wrapper ? "DistributedDataParallel" : "Module");
}

Status requires_grad(Session& s, const Operation& op) {
  const bool to = op.flag("to", true);
  std::vector<std::string> layers;
  for (const Argument& layer : op.args.at("layers").items) layers.push_back(*layer.text);
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
  s.env.recorder.note(program_note::requires_grad_set, {{"layers", fmt::format("{}", fmt::join(layers, ", "))},
                                                        {"to", to ? "yes" : "no"},
                                                        {"wrapped", wrapped ? "yes" : "no"}});
  return {};
}

}  // namespace pdsim::scenarios::operations
