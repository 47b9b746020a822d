// A worker was asked for a function that it has not registered.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/rpc/rpc_rules.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

namespace pdsim::scenarios::diagnoses {
namespace {

// The caller's record of the request that this note is about.
const Call* request_of(const Report& report, const notes::RpcFunctionMissing& missing) {
  if (missing.asked_by < 0 || static_cast<std::size_t>(missing.asked_by) >= report.run.ranks.size()) return nullptr;
  for (const Call& call : log_of(report.run, missing.asked_by).calls)
    if (call.layer == Layer::rpc && call.details->rpc.side == RpcSide::caller &&
        call.details->rpc.request == missing.request)
      return &call;
  return nullptr;
}

}  // namespace

std::optional<Diagnosis> rpc_function_missing(const Report& report) {
  if (report.outcome == Outcome::ok) return std::nullopt;
  for (const RankResult& result : report.run.ranks) {
    const Note* note = first_note<notes::RpcFunctionMissing>(result.log);
    if (note == nullptr) continue;
    const auto& missing = note->as<notes::RpcFunctionMissing>();
    const std::string worker = worker_name_of(report.run, result.log.rank);
    const Call* request = request_of(report, missing);
    Diagnosis d;
    d.ranks = {result.log.rank};
    d.evidence.push_back(
        evidence_of(result.log.rank, *note, fmt::format("{} has no function {}", worker, missing.function)));
    std::string caller = "another worker";
    if (request != nullptr) {
      caller = worker_name_of(report.run, missing.asked_by);
      d.evidence.push_back(evidence_of(missing.asked_by, *request, fmt::format("{} called it", caller)));
      add_span(d, report, request->site.line, request->site.column,
               fmt::format("{} calls {} of {} here", caller, missing.function, worker), true);
    }
    if (const Note* joined = first_note<notes::RpcJoined>(result.log))
      add_span(d, report, joined->site.line, joined->site.column,
               fmt::format("{} registered its functions here", worker), false);
    d.headline = fmt::format("{} called {} of {} (rank {}), which has not registered it", caller, missing.function,
                             worker, result.log.rank);
    d.cause = missing.nearest.empty()
                  ? fmt::format("{} registered {} functions, and {} is not among them", worker, missing.registered,
                                missing.function)
                  : fmt::format("{} registered {}, and not {}", worker, missing.nearest, missing.function);
    d.why =
        "A remote call sends the name of the function; the callee looks it up among its own. In PyTorch the callee "
        "imports the "
        "function by its module and name, so a script that defines it on the caller alone, or under another name, "
        "fails there.";
    d.fix =
        fmt::format("register {} on {} too: define it in a module that every worker imports", missing.function, worker);
    d.cures.push_back({"every worker registers all functions",
                       [](Scenario& changed) { register_everything(changed.program); }, std::nullopt, true});
    d.inevitable_at = note->at;
    d.inevitable = fmt::format("since {}: the call arrived at {}", to_string(note->at), worker);
    return d;
  }
  return std::nullopt;
}

constexpr std::string_view rpc_function_missing_text =
    R"(rpc_sync, rpc_async and remote send a function by its name. The callee must have the same function: in PyTorch it is
imported there by module and qualified name; here it is registered (RpcFunctions, or `functions` of init_rpc in a scenario).
If only the caller's script defines a function, some workers renamed it, or the object does not have the method, the caller
gets an AttributeError.

How to recognise it: the caller gets an AttributeError for a function that exists there.

Fix: put remote functions into a module that all workers import, and start all of them with the same version of it.)";

extern const DiagnosisRow rpc_function_missing_row;
const DiagnosisRow rpc_function_missing_row{304, "rpc-function-missing",
                                            "a worker was asked for a function that it has not registered",
                                            rpc_function_missing, rpc_function_missing_text};

}  // namespace pdsim::scenarios::diagnoses
