// Parts of one model that were made at one worker, beside a worker that has nothing to do.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/rpc/rpc_rules.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/language/tables/operation_options.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace pdsim::scenarios::diagnoses {
namespace {

bool is_request(const Call& call, RpcSide side) { return call.layer == Layer::rpc && call.details->rpc.side == side; }

// Objects of one kind that one worker has, and whose methods were called in one context of distributed autograd.
struct SharedWorker {
  Rank driver = 0, worker = 0;
  std::vector<const Call*> makers;
};

// Calls that made an object by a function, by the reference's number at this rank.
std::map<std::int64_t, const Call*> makers_of(const RankLog& log) {
  std::map<std::int64_t, const Call*> makers;
  for (const Call& call : log.calls) {
    if (!is_request(call, RpcSide::caller) || call.name != "remote") continue;
    const RpcDetails& rpc = call.details->rpc;
    if (rpc.object < 0 && rpc.rref_on == log.rank) makers.emplace(rpc.rref, &call);
  }
  return makers;
}

std::optional<SharedWorker> shared_worker(const RankLog& log) {
  const std::map<std::int64_t, const Call*> makers = makers_of(log);
  using Key = std::tuple<int, std::int64_t, Rank, std::string>;  // the context, the worker, what was made
  std::map<Key, std::vector<const Call*>> used;
  for (const Call& call : log.calls) {
    if (!is_request(call, RpcSide::caller)) continue;
    const RpcDetails& rpc = call.details->rpc;
    const auto made = rpc.object_on == log.rank ? makers.find(rpc.object) : makers.end();
    if (rpc.context < 0 || made == makers.end()) continue;
    const Call* maker = made->second;
    std::vector<const Call*>& objects = used[{rpc.context_on, rpc.context, maker->peer, maker->details->rpc.function}];
    if (std::find(objects.begin(), objects.end(), maker) == objects.end()) objects.push_back(maker);
  }
  for (auto& [key, objects] : used)
    if (objects.size() > 1) return SharedWorker{log.rank, std::get<2>(key), std::move(objects)};
  return std::nullopt;
}

// Workers that have joined, and neither called nor served anything.
std::vector<Rank> idle_workers(const RunRecord& run) {
  std::vector<Rank> idle;
  for (const RankResult& result : run.ranks) {
    if (first_note<notes::RpcJoined>(result.log) == nullptr) continue;
    const bool took_part = std::any_of(result.log.calls.begin(), result.log.calls.end(), [](const Call& call) {
      return is_request(call, RpcSide::caller) || is_request(call, RpcSide::callee);
    });
    if (!took_part) idle.push_back(result.log.rank);
  }
  return idle;
}

// Every rpc_pipeline makes each shard at a worker of its own.
void spread_shards(std::vector<Operation>& program) {
  for (Operation& op : program) {
    spread_shards(op.body);
    if (op.name != "rpc_pipeline") continue;
    auto options = op.as<RpcPipelineOptions>();
    options.workers.clear();
    op.options = options;
  }
}

Diagnosis shards_together(const Report& report, const SharedWorker& shared, const std::vector<Rank>& idle) {
  const std::string driver = worker_name_of(report.run, shared.driver), worker = worker_name_of(report.run, shared.worker);
  std::vector<std::string> names;
  for (const Rank rank : idle) names.push_back(worker_name_of(report.run, rank));
  const Call &first = *shared.makers[0], &second = *shared.makers[1];
  const std::string what = fmt::format("{} {} objects", shared.makers.size(), second.details->rpc.function);
  Diagnosis d;
  d.ranks = {shared.driver};
  d.evidence.push_back(evidence_of(shared.driver, first, fmt::format("{} made the first at {}", driver, worker)));
  d.evidence.push_back(evidence_of(shared.driver, second, fmt::format("{} made another at {}", driver, worker)));
  d.evidence.push_back(evidence_of(idle.front(), *first_note<notes::RpcJoined>(log_of(report.run, idle.front())),
                                   fmt::format("{} joined, and served no call", names.front())));
  d.headline = fmt::format("{} (rank {}) made {} of one model at {}, and none at {}", driver, shared.driver, what, worker,
                           list_text(names));
  d.cause = fmt::format("one context of distributed autograd used all of them at {}; {} served no call in the whole run", worker,
                        list_text(names));
  d.why = fmt::format(
      "References hide where an object lives, so the same program runs with the shards anywhere. Shards on one worker "
      "share its device and its memory: {} runs one after the other, no micro-batch overlaps another, and the other "
      "device is idle.",
      worker);
  d.fix = fmt::format("create each shard on a worker of its own: rpc.remote(\"{}\", ...) for the second", names.front());
  d.cures.push_back({"each shard is created on a worker of its own",
                     [](Scenario& changed) { spread_shards(changed.program); }, std::nullopt, true});
  add_span(d, report, second.site.line, second.site.column, fmt::format("the shards are created on {} here", worker), true);
  d.inevitable_at = second.issued;
  d.inevitable = fmt::format("since {}: the second was made", to_string(second.issued));
  return d;
}

}  // namespace

std::optional<Diagnosis> rpc_shards_together(const Report& report) {
  const std::vector<Rank> idle = idle_workers(report.run);
  if (idle.empty()) return std::nullopt;
  for (const RankResult& result : report.run.ranks)
    if (const std::optional<SharedWorker> shared = shared_worker(result.log))
      return shards_together(report, *shared, idle);
  return std::nullopt;
}

constexpr std::string_view rpc_shards_together_text =
    R"(Each `rpc.remote(worker, Shard)` decides where that part of the model lives. If the same worker is named twice, often by a
copied line that still says workers[0], every value and gradient is right, but nothing is gained: the shards share one device,
and another worker has nothing to do.

How to recognise it: the step takes as long as without micro-batches, one worker's memory holds the whole model, and another
worker's device is idle. rref.owner_name() of the shards shows where they are. Reported if two objects of one function,
created on one worker, are used in one context while a worker that has joined neither calls nor serves anything.

Fix: one worker for each shard.)";

extern const DiagnosisRow rpc_shards_together_row;
const DiagnosisRow rpc_shards_together_row{538, "rpc-shards-together",
                                           "two shards of a model were created on one worker, and another worker is "
                                           "idle",
                                           rpc_shards_together, rpc_shards_together_text};

}  // namespace pdsim::scenarios::diagnoses
