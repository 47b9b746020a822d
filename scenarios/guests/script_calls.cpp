#include "scenarios/guests/script_calls.h"

#include "scenarios/records/rank_end.h"

#include <fmt/format.h>

namespace pdsim::scenarios::guests {

void ScriptCalls::take(const Request& request) {
  if (request.kind == Request::Kind::enter) {
    open_.push_back({recorder_.enter(request.name), request.name});
    failed_.clear();
    if (request.name == "forward") forwards_.push_back(open_.back().call);
  } else if (request.kind == Request::Kind::leave && !open_.empty()) {
    Status status;
    if (!request.code.empty())
      status = Error{code_named(request.code).value_or(Code::program_raised), request.text, {}};
    recorder_.leave(open_.back().call, status);
    if (!status.ok()) failed_ = open_.back().name;
    if (status.ok() && open_.back().name == "backward") forwards_.clear();
    open_.pop_back();
  } else if (request.kind == Request::Kind::group_made) {
    recorder_.note(notes::GroupMade{request.name, ++made_, request.ranks});
  } else if (request.kind == Request::Kind::ddp) {
    recorder_.note(
        notes::DdpOptions{request.all, request.number != 0, {}, request.count, request.site.line, request.site.column});
  } else if (request.kind == Request::Kind::bucket) {
    const auto phase = request.all ? notes::LayoutPhase::rebuilt : notes::LayoutPhase::initial;
    recorder_.note(notes::BucketLayout{phase, request.number, request.count, request.keys});
  } else if (request.kind == Request::Kind::model) {
    recorder_.note(notes::ModelBuilt{request.keys});
  } else if (request.kind == Request::Kind::bare) {
    recorder_.note(notes::NotWrapped{});
  } else if (request.kind == Request::Kind::variable) {
    recorder_.note(notes::VariableMissing{request.name});
  } else if (request.kind == Request::Kind::unfilled) {
    recorder_.note(notes::BucketUnfilled{request.number, request.size, request.count, request.keys});
  } else if (request.kind == Request::Kind::overwritten) {
    note_overwritten(request);
  } else if (request.kind >= Request::Kind::replica && request.kind <= Request::Kind::bypassed) {
    take_replica(request);
  } else if (request.kind == Request::Kind::raised) {
    raised_ = request;
  } else if (request.kind == Request::Kind::exited) {
    exited_ = request;
  }
}

void ScriptCalls::take_replica(const Request& request) {
  const auto state = [&](notes::ReplicaMoment moment) {
    const bool is_last = moment == notes::ReplicaMoment::end;  // says which parameters differ whatever was left out before
    const auto count = static_cast<std::int64_t>(request.digests.size());
    const bool kept = is_last || count <= digests_left_;
    if (kept && !is_last) digests_left_ -= count;
    recorder_.note(notes::ReplicaState{request.text, moment, request.count, request.digest,
                                       kept ? request.digests : std::vector<std::int64_t>{}});
  };
  if (request.kind == Request::Kind::replica) {
    recorder_.note(notes::ReplicaMade{request.text, request.ranks, request.keys});
  } else if (request.kind == Request::Kind::replica_hook) {
    recorder_.note(notes::ReplicaHooked{request.text, request.purpose});
  } else if (request.kind == Request::Kind::replica_state) {
    if (const auto moment = value_named<notes::ReplicaMoment>(request.moment)) state(*moment);
  } else if (request.kind == Request::Kind::step) {
    const auto began = [&](std::size_t i) {
      return i < request.began.size() ? request.began[i] : notes::OptimizerStep::unknown;
    };
    recorder_.note(notes::OptimizerStep{request.all, request.text, request.keys, request.values, began(0), began(1), began(2)});
    state(notes::ReplicaMoment::step);
  } else if (request.kind == Request::Kind::step_skipped) {
    recorder_.note(notes::StepSkipped{request.text});
  } else {
    recorder_.note(notes::WrapperBypassed{request.text, request.all});
  }
}

Site ScriptCalls::last_place() const {
  Site site = recorder_.site();
  if (!open_.empty())
    site.op = open_.back().name;
  else if (site.step < 0)
    site.op.clear();
  return site;
}

ScriptCalls::End ScriptCalls::end_with(int status, const Request* raised) const {
  if (raised != nullptr) {
    End end{{code_named(raised->code).value_or(Code::program_raised), fmt::format("{}: {}", raised->name, raised->text), {}},
            raised->site};
    end.error.facts.push_back({std::string(exception_fact), raised->name});
    if (!raised->keys.empty()) end.error.facts.push_back({"parameter", raised->keys.front()});
    return end;
  }
  const bool is_known = exited_ && exited_->number == status;
  End end{{Code::program_raised, fmt::format("exited with status {}", status), {}},
          is_known ? exited_->site : last_place()};
  end.error.facts.push_back({std::string(exit_status_fact), std::to_string(status)});
  if (!is_known) return end;
  if (!exited_->text.empty()) end.error.message += ": " + exited_->text;
  end.error.facts.push_back({std::string(exit_function_fact), exited_->name});
  return end;
}

// Which forward saved the tensor, and which one's broadcast wrote it, is known only when backward refuses.
void ScriptCalls::note_overwritten(const Request& request) {
  const auto forward = [&](std::int64_t nth) {
    const bool known = nth >= 0 && nth < static_cast<std::int64_t>(forwards_.size());
    return known ? forwards_[static_cast<std::size_t>(nth)] : -1;
  };
  const std::int64_t saved = request.count;
  recorder_.note_about(forward(request.root), notes::TensorSaved{request.name, saved, "forward"});
  recorder_.note_about(forward(request.tag), notes::TensorWritten{request.name, saved + 1, "buffer broadcast", true});
  recorder_.note(notes::VersionError{request.name, request.number, saved});
}

}  // namespace pdsim::scenarios::guests
