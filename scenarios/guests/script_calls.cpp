#include "scenarios/guests/script_calls.h"

namespace pdsim::scenarios::guests {

void ScriptCalls::take(const Request& request) {
  using Kind = Request::Kind;
  if (request.kind == Kind::enter) {
    open_.push_back({recorder_.enter(request.name), request.name});
    failed_.clear();
  } else if (request.kind == Kind::leave && !open_.empty()) {
    Status status;
    if (!request.code.empty())
      status = Error{code_named(request.code).value_or(Code::program_raised), request.text, {}};
    recorder_.leave(open_.back().call, status);
    if (!status.ok()) failed_ = open_.back().name;
    open_.pop_back();
  } else if (request.kind == Kind::group_made) {
    recorder_.note(notes::GroupMade{request.name, ++made_, request.ranks});
  } else if (request.kind == Kind::ddp) {
    recorder_.note(
        notes::DdpOptions{request.all, request.number != 0, {}, request.count, request.site.line, request.site.column});
  } else if (request.kind == Kind::bucket) {
    const auto phase = request.all ? notes::LayoutPhase::rebuilt : notes::LayoutPhase::initial;
    recorder_.note(notes::BucketLayout{phase, request.number, request.count, request.keys});
  } else if (request.kind == Kind::model) {
    recorder_.note(notes::ModelBuilt{request.keys});
  } else if (request.kind == Kind::variable) {
    recorder_.note(notes::VariableMissing{request.name});
  } else if (request.kind == Kind::unfilled) {
    recorder_.note(notes::BucketUnfilled{request.number, request.size, request.count, request.keys});
  } else if (request.kind == Kind::raised) {
    raised_ = request;
  }
}

}  // namespace pdsim::scenarios::guests
