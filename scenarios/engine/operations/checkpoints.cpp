// checkpoint, load_checkpoint.
#include "core/nn/state_dict.h"
#include "scenarios/engine/operations/operations.h"

#include <fmt/format.h>

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

std::string_view prefix(bool wrapper) { return wrapper ? nn::wrapper_prefix : std::string_view{}; }

}  // namespace

Status checkpoint(Session& s, const Operation& op) {
  PDSIM_TRY(make_model(s, op));
  const Result<bool> wrapper = is_wrapper(s, op, "of");
  if (!wrapper.ok()) return wrapper.error();
  return s.env.files.write_whole(op.text("path", ""), nn::checkpoint_text(nn::state_dict(*s.module, prefix(*wrapper))));
}

Status load_checkpoint(Session& s, const Operation& op) {
  PDSIM_TRY(make_model(s, op));
  const Result<bool> wrapper = is_wrapper(s, op, "into");
  if (!wrapper.ok()) return wrapper.error();
  const std::string path = op.text("path", "");
  const Result<std::string> text = s.env.files.read_whole(path);
  if (!text.ok()) return text.error();
  const Result<nn::StateDict> saved = nn::parse_checkpoint(*text, path);
  if (!saved.ok()) return saved.error();
  return nn::load_state_dict(*s.module, *saved, prefix(*wrapper), op.flag("strict", true),
                             *wrapper ? "DistributedDataParallel" : "Module");
}

}  // namespace pdsim::scenarios::operations
