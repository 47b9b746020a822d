// read, write: what a program does with the tensor of an asynchronous operation before, or after, it waited for it.
#include "scenarios/engine/operations/operations.h"

#include <fmt/format.h>

namespace pdsim::scenarios::operations {
namespace {

// The operation that the label stands for; null when it was waited for, whose tensor is the program's again.
Result<Pending*> started_as(Session& s, const std::string& label, std::string_view what) {
  if (const auto found = s.pending.find(label); found != s.pending.end()) return found->second.get();
  if (s.waited.count(label) != 0) return static_cast<Pending*>(nullptr);
  return Error{Code::invalid_argument,
               fmt::format("{}: rank {} has started nothing that is labelled `{}`", what, s.env.rank, label),
               {{"label", label}}};
}

}  // namespace

Status read(Session& s, const Operation& op) {
  const std::string label = op.text("of", "");
  const Result<Pending*> pending = started_as(s, label, op.name);
  if (!pending.ok()) return pending.error();
  s.env.recorder.note(note_kind::result_read, {{"label", label},
                                               {"waited", *pending == nullptr ? "yes" : "no"},
                                               {"member", s.outside.count(label) == 0 ? "yes" : "no"}});
  return {};
}

Status write(Session& s, const Operation& op) {
  const std::string label = op.text("to", "");
  const Result<Pending*> pending = started_as(s, label, op.name);
  if (!pending.ok()) return pending.error();
  s.env.recorder.note(note_kind::buffer_written, {{"label", label}, {"waited", *pending == nullptr ? "yes" : "no"}});
  if (*pending == nullptr) return {};
  for (std::byte& byte : (*pending)->input) byte ^= std::byte{1};  // t += 1, or the next batch
  return {};
}

}  // namespace pdsim::scenarios::operations
