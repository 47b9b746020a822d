#include "scenarios/diagnosis/rules/rpc/rpc_rules.h"

#include "scenarios/diagnosis/outcome.h"
#include "scenarios/language/tables/rpc_options.h"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

template <class Change>
void change_inits(std::vector<Operation>& program, const Change& change) {
  for (Operation& op : program) {
    change_inits(op.body, change);
    if (op.name != "init_rpc") continue;
    auto options = op.as<InitRpcOptions>();
    change(options);
    op.options = options;
  }
}

void leave_out(std::vector<Operation>& program, const Mark& place) {
  std::erase_if(program,
                [&](const Operation& op) { return op.mark.line == place.line && op.mark.column == place.column; });
  for (Operation& op : program) leave_out(op.body, place);
}

}  // namespace

std::optional<Time> rpc_moment(const Report& report) {
  if (report.run.deadlocked) return moment_of(report.run);
  std::optional<Time> first;
  for (const RankResult& result : report.run.ranks)
    for (const Call& call : result.log.calls)
      if (call.layer == Layer::rpc && call.state == CallState::timed_out)
        first = std::min(first.value_or(call.finished), call.finished);
  return first ? std::optional(*first - Time{1}) : std::nullopt;
}

void set_worker_threads(std::vector<Operation>& program, int threads) {
  change_inits(program, [threads](InitRpcOptions& options) { options.num_worker_threads = threads; });
}

void register_everything(std::vector<Operation>& program) {
  change_inits(program, [](InitRpcOptions& options) { options.functions.clear(); });
}

void shut_down_gracefully(std::vector<Operation>& program) {
  std::erase_if(program, [](const Operation& op) { return op.name == "shutdown"; });
  Operation shutdown;
  shutdown.name = "shutdown";
  shutdown.options = RpcShutdownOptions{};
  program.push_back(std::move(shutdown));
}

void set_call_timeout(std::vector<Operation>& program, const Mark& place, Time limit) {
  for (Operation& op : program) {
    set_call_timeout(op.body, place, limit);
    if (op.mark.line != place.line || op.mark.column != place.column) continue;
    if (op.name == "rpc_sync" || op.name == "rpc_async" || op.name == "remote") {
      auto options = op.as<RpcCallOptions>();
      options.timeout = limit;
      op.options = options;
    } else if (op.name == "to_here") {
      auto options = op.as<RRefOptions>();
      options.timeout = limit;
      op.options = options;
    }
  }
}

Cure left_out_at(std::string what, const Mark& place) {
  return {std::move(what), [place](Scenario& changed) { leave_out(changed.program, place); }, std::nullopt, true};
}

}  // namespace pdsim::scenarios::diagnoses
