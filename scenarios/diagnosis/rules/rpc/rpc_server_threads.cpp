// All server threads of a worker wait inside of functions for calls that need one of these threads.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/rpc/rpc_rules.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

// The worker whose threads are missing, and the hop that waits for one.
struct Starved {
  Rank worker = 0;
  RpcHop hop;
  RpcChain chain;
  Rank from = 0;  // where the chain begins
  const Call* first = nullptr;
  Time moment{};
};

// Every thread that could take it waits itself.
bool is_stuck(const RunRecord& run, const RpcHop& hop, Rank worker, Time moment) {
  if (hop.servers <= 0 || static_cast<int>(hop.busy.size()) < hop.servers) return false;
  return std::all_of(hop.busy.begin(), hop.busy.end(), [&](const Call* served) {
    const auto& calls = log_of(run, worker).calls;
    return std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
      return call.layer == Layer::rpc && call.parent == served->id && !call.async && is_open_at(call, moment);
    });
  });
}

std::optional<Starved> starved_in(const RunRecord& run, Rank rank, const Call& call, Time moment) {
  RpcChain chain = rpc_chain(run, rank, call, moment);
  for (const RpcHop& hop : chain.hops) {
    const bool own = hop.wait == RpcWait::for_own_server;
    if (!own && hop.wait != RpcWait::for_a_server) continue;
    const Rank worker = own ? hop.caller : hop.callee;
    if (is_stuck(run, hop, worker, moment)) return Starved{worker, hop, chain, rank, &call, moment};
  }
  return std::nullopt;
}

// The oldest open call that waits for such a thread.
std::optional<Starved> first_starved(const Report& report) {
  const std::optional<Time> moment = rpc_moment(report);
  if (!moment) return std::nullopt;
  std::optional<Starved> found;
  for (const RankResult& result : report.run.ranks)
    for (const Call& call : result.log.calls) {
      const bool asks = call.layer == Layer::rpc && call.peer >= 0 && call.details->rpc.side == RpcSide::caller &&
                        call.details->rpc.server < 0 && is_open_at(call, *moment);
      if (!asks || (found && found->first->issued <= call.issued)) continue;
      if (auto starved = starved_in(report.run, result.log.rank, call, *moment)) found = std::move(starved);
    }
  return found;
}

Cure with_threads(int threads) {
  return {fmt::format("init_rpc with num_worker_threads: {}", threads),
          [threads](Scenario& changed) { set_worker_threads(changed.program, threads); }, std::nullopt, true};
}

std::string waits_text(const RunRecord& run, const Starved& s) {
  const bool own = s.hop.wait == RpcWait::for_own_server;
  const std::string of = worker_name_of(run, s.worker);
  const std::string call = rpc_call_text(run, s.hop);
  return own ? fmt::format("the reply of {} arrived at {}, and needs a server thread there", call, of)
             : fmt::format("the call of {} by {} needs a server thread there", call, worker_name_of(run, s.hop.caller));
}

}  // namespace

std::optional<Diagnosis> rpc_server_threads(const Report& report) {
  const std::optional<Starved> found = first_starved(report);
  if (!found) return std::nullopt;
  const Starved& s = *found;
  const RunRecord& run = report.run;
  const std::string worker = worker_name_of(run, s.worker);
  const std::string threads =
      s.hop.servers == 1 ? "only server thread" : fmt::format("{} server threads", s.hop.servers);
  Diagnosis d;
  d.ranks = {s.worker};
  d.evidence.push_back(
      evidence_of(s.from, *s.first, fmt::format("waits in {} since {}", s.first->name, to_string(s.first->issued))));
  for (const Call* served : s.hop.busy) {
    d.evidence.push_back(evidence_of(s.worker, *served,
                                     fmt::format("server thread {} of {} is in {}, for {}", served->details->rpc.server,
                                                 worker, served->details->rpc.function, served->details->rpc.worker)));
    d.inevitable_at = std::max(d.inevitable_at, served->started);
  }
  const bool one = s.hop.servers == 1;
  d.headline = fmt::format("the {} of {} (rank {}) {} inside {}, and none is left to continue", threads, worker,
                           s.worker, one ? "waits" : "wait", one ? "a function" : "functions");
  d.cause = fmt::format("{}, and {} in {} until a call is over that needs one too", waits_text(run, s),
                        one ? "the only one is" : "all are", s.hop.busy.front()->details->rpc.function);
  d.why = fmt::format(
      "A worker serves calls and handles replies on {}. A function that waits for another call (rpc_sync, to_here, "
      "wait) occupies its thread until the reply has been handled. Here {} for {}, {}.",
      one ? "one thread" : fmt::format("{} threads", s.hop.servers),
      worker_name_of(run, s.from) + " waits in " + s.first->name, worker_name_of(run, s.first->peer),
      why_of(run, s.chain));
  d.fix = fmt::format("give {} more server threads: init_rpc with num_worker_threads: {} or more", worker,
                      s.hop.servers + 1);
  d.fix_lines = {
      "rpc_backend_options=rpc.TensorPipeRpcBackendOptions(num_worker_threads=...)",
      alternative(
          "let the function return a future (@rpc.functions.async_execution), which does not occupy a thread while it "
          "waits")};
  add_span(d, report, s.first->site.line, s.first->site.column,
           fmt::format("{} waits here", worker_name_of(run, s.from)), true);
  if (const Note* joined = first_note<notes::RpcJoined>(log_of(run, s.worker)))
    add_span(d, report, joined->site.line, joined->site.column,
             fmt::format("{} joined with num_worker_threads: {}", worker, s.hop.servers), false);
  for (const int more : {s.hop.servers + 1, 16})
    if (more > s.hop.servers) d.cures.push_back(with_threads(more));
  d.inevitable =
      fmt::format("since {}: the last server thread of {} began to wait", to_string(d.inevitable_at), worker);
  return d;
}

constexpr std::string_view rpc_server_threads_text =
    R"(A worker of torch.distributed.rpc runs other workers' calls on num_worker_threads threads (16 by default), and the same
threads handle the replies to its own calls. A function that calls another worker and waits (rpc_sync, rref.to_here(),
future.wait()) occupies its thread meanwhile. When every thread of a worker waits like this for work that only another of
its threads can do, none can continue: two workers that call each other back, to_here of a value whose function is still
queued, a chain of calls that returns to its first worker.

How to recognise it: rpc_sync or to_here hangs until rpc_timeout, with no load on the machines, and works with more
num_worker_threads. The record shows calls that a worker received but never started.

Fix: set num_worker_threads higher than the number of calls that may wait there at once, plus one for replies. Better:
write functions that do not wait, with @rpc.functions.async_execution and future.then().)";

extern const DiagnosisRow rpc_server_threads_row;
const DiagnosisRow rpc_server_threads_row{
    302, "rpc-server-threads",
    "all server threads of a worker wait inside functions, and none is left to serve or to reply", rpc_server_threads,
    rpc_server_threads_text};

}  // namespace pdsim::scenarios::diagnoses
