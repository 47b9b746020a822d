#include "core/collectives/plan_runner.h"
#include "core/group/sequence.h"
#include "core/semantics/capabilities.h"
#include "sim/network/pending_collective.h"
#include "sim/world/backend.h"
#include "sim/world/printed_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <memory>
#include <utility>
#include <vector>

namespace pdsim::sim {
namespace {

class RankCalls;

// One started call: its Work, the messages of its present round, and its watchdog. It holds the calls it is one of, so that whatever
// calls it back finds them, also when its communicator has gone.
struct Operation final : PendingCollective {
  explicit Operation(std::shared_ptr<RankCalls> all) : calls(std::move(all)) {}
  bool waits_for_nothing_else() const override;
  void post() override;
  void post_to_exchange() override;
  Resumed resume(Plan plan, std::unique_ptr<PlanData> data, PlanPoint at) override;
  void end() override;
  PlanArgs args() const;
  PlanRun& make_run(Plan plan, PlanData data);
  std::shared_ptr<Operation> self() { return std::static_pointer_cast<Operation>(shared_from_this()); }

  std::shared_ptr<RankCalls> calls;
  WorkPtr work;
  const SimEvent* event = nullptr;       // of the work
  std::unique_ptr<Transport> transport;  // of messages in the exchange
  std::unique_ptr<PlanRun> run;          // over it
  std::optional<Scheduler::Key> watchdog;
  std::vector<std::shared_ptr<Operation>> earlier;  // that it waits for once it is its turn
  bool holds_executor = false;
  bool is_held = false;  // until its group's communicator is made
  bool is_due = false;   // its rank's stream has come to it
};
using OperationPtr = std::shared_ptr<Operation>;

// As Transport::ranks_per_node.
int ranks_per_node(const WorldSpec& spec, const RankList& ranks) {
  if (!spec.two_level) return 1;
  if (ranks.is_world()) return spec.ranks_per_node;
  const int size = ranks.size();
  const auto node = [&](int i) { return spec.node_of(ranks[i]); };
  int local = 1;
  while (local < size && node(local) == node(0)) ++local;
  for (int i = local; i < size; ++i)
    if ((node(i) == node(i - 1)) == (i % local == 0)) return 1;
  return local;
}

class CallTransport final : public Transport {
 public:
  CallTransport(World& world, int channel, const RankList& ranks, Rank group_rank, int per_node, Operation& operation)
      : world_(world),
        channel_(channel),
        ranks_(ranks),
        rank_(group_rank),
        ranks_per_node_(per_node),
        operation_(operation) {}
  Rank rank() const override { return rank_; }
  int size() const override { return ranks_.size(); }
  int ranks_per_node() const override { return ranks_per_node_; }

  void post(std::span<const Message> round, Done done) override {
    if (operation_.finished) return;
    if (std::any_of(round.begin(), round.end(), [](const Message& m) { return m.matched != nullptr; }))
      done = with_group_ranks(round, std::move(done));
    operation_.batch = world_.exchange().open(operation_.call.kind, std::move(done));
    world_.exchange().post(channel_, ranks_, ranks_[rank_], round, operation_.batch);
  }

  // The exchange knows global ranks only.
  Done with_group_ranks(std::span<const Message> round, Done done) const {
    std::vector<Rank*> sources;
    for (const Message& m : round)
      if (m.matched != nullptr) sources.push_back(m.matched);
    return [sources, &ranks = ranks_, done = std::move(done)](const Status& status) {
      for (Rank* source : sources) *source = ranks.find(*source).value_or(no_rank);
      done(status);
    };
  }

  bool charges_reductions() const override { return world_.spec().reduce_bandwidth.bytes_per_s > 0; }

  void after_reduction(std::int64_t bytes, std::function<void()> then) override {
    const Time usual = transfer_time(Bytes{bytes}, world_.spec().reduce_bandwidth);
    const Time cost = world_.spec().stretched(usual, ranks_[rank_]);
    if (cost.ps == 0) return then();
    const auto operation = operation_.shared_from_this();
    world_.scheduler().at(world_.scheduler().now() + cost, [operation, then = std::move(then)] {
      if (!operation->finished) then();
    });
  }

 private:
  World& world_;
  int channel_;
  const RankList& ranks_;
  Rank rank_;
  int ranks_per_node_;
  Operation& operation_;
};

// The calls of one rank in one group. A finished operation is in none of its lists, and lets go of it.
class RankCalls : public std::enable_shared_from_this<RankCalls> {
 public:
  RankCalls(World& world, const LibrarySemantics& library, FirstCalls::Group group, RankList ranks, Rank group_rank)
      : world_(world),
        library_(library),
        channel_(group.channel),
        group_(std::move(group)),
        ranks_(std::move(ranks)),
        rank_(group_rank),
        ranks_per_node_(sim::ranks_per_node(world.spec(), ranks_)) {}

  int size() const { return ranks_.size(); }
  void abort(const Error& reason) {
    end_all(reason);
    unusable_ = reason;
  }

  Status check_supported(const Collective& call) const { return pdsim::check_supported(library_, world_.profile(), call); }

  Result<WorkPtr> start(const Collective& call) {
    if (unusable_)
      return Error{
          Code::group_unusable, fmt::format("the group's connections have been closed since: {}", unusable_->message), {}};
    auto operation = std::make_shared<Operation>(shared_from_this());
    operation->call = call;
    if (call.algorithm == "auto") operation->call.algorithm = library_.algorithm;
    const auto algorithm = find_algorithm(operation->call, world_.proofs(), size(), ranks_per_node_);
    if (!algorithm.ok()) return algorithm.error();
    operation->tag = tag_of(call);
    operation->rank = rank_;
    operation->ranks_per_node = ranks_per_node_;
    operation->algorithm = *algorithm;
    auto event = me().runtime->make_sim_event();
    operation->event = event.get();
    operation->work = std::make_shared<Work>(std::move(event));
    const bool is_message = pdsim::row(call.kind).point_to_point;
    const bool waits_for_communicator = come_to_first_call(operation);
    if (!waits_for_communicator) arm_watchdog(operation);
    if (is_message && is_on_pair_stream(call)) operation->earlier = of_pair(call.root);
    if (call.kind == CollectiveKind::barrier && library_.barrier_waits_for_earlier) operation->earlier = running_;
    running_.push_back(operation);
    SimDevice* device = library_.waits_on_stream ? me().device.get() : nullptr;
    if (device != nullptr) device->runs(operation->work);
    if (waits_for_communicator && is_message) return operation->work;  // queued when all have come
    if (device != nullptr) {
      device->here([operation] { operation->calls->begin(operation); });  // when the program's stream has come here
    } else {
      begin(operation);
    }
    return operation->work;
  }

  void end_all(const Error& reason) {
    const std::vector<OperationPtr> all = std::move(running_);
    running_.clear();
    queued_.clear();
    for (const OperationPtr& operation : all) finish(operation, reason);
  }

  // Whether this is all that its rank has under way.
  bool holds_its_rank(const Operation& operation) const {
    return running_.size() == 1 && !operation.finished && operation.event->holds_its_rank();
  }

  void post(Operation& operation) {
    if (operation.finished) return;
    if (!world_.in_flight().accepts(operation.call)) return operation.post_to_exchange();
    world_.in_flight().join(channel_, operation.tag, ranks_, operation);
  }

  void make_transport(Operation& operation) {
    operation.transport =
        std::make_unique<CallTransport>(world_, channel_, ranks_, rank_, operation.ranks_per_node, operation);
  }

  void finish(const OperationPtr& operation, Status status) {
    if (operation->finished) return;
    operation->finished = true;
    if (operation->watchdog) world_.scheduler().cancel_event(*operation->watchdog);
    if (operation->in_flight != nullptr) world_.in_flight().leave(*operation);
    world_.exchange().withdraw(std::exchange(operation->batch, {}));
    running_.erase(std::remove(running_.begin(), running_.end(), operation), running_.end());
    if (std::exchange(operation->holds_executor, false)) --executors_at_work_;
    if (world_.is_past_deadlock() && !status.ok() && status.error().code != Code::cancelled)
      world_.tell_watchdog(me().rank, fmt::format("{}: {}, after {}", library_.name, printed_error(library_, status.error()),
                                                  to_string(world_.scheduler().now())));
    operation->work->complete(std::move(status));
    run_queued();
  }

 private:
  // Whether this call needs the group's communicator, which is made once every member has come to such a call. Until then no watchdog
  // covers it; what ends it is the store, when the first rank does not come with the communicator's number.
  bool come_to_first_call(const OperationPtr& operation) {
    const bool needs_it = !pdsim::row(operation->call.kind).point_to_point || operation->call.batched;
    if (!library_.communicator_at_first_call || !needs_it) return false;
    const bool is_there = world_.first_calls().come(group_, rank_, [operation] {
      if (operation->finished) return;
      if (operation->watchdog) operation->calls->world_.scheduler().cancel_event(*std::exchange(operation->watchdog, {}));
      operation->calls->arm_watchdog(operation);
      const bool is_held = std::exchange(operation->is_held, false);
      if (pdsim::row(operation->call.kind).point_to_point || (is_held && operation->is_due)) operation->calls->queue(operation);
    });
    if (is_there) return false;
    operation->is_held = !group_.number.empty();
    if (!world_.first_calls().has_id(group_)) watch_store(operation);
    return true;
  }

  // The store is that of init_process_group, and so is its timeout, whatever the group's own is.
  void watch_store(const OperationPtr& operation) {
    const Time limit = world_.spec().timeout.value_or(pdsim::default_timeout(library_, world_.profile()));
    if (limit == Time::max()) return;
    operation->watchdog = world_.scheduler().at_watchdog(world_.scheduler().now() + limit, [operation, limit] {
      operation->watchdog.reset();
      RankCalls& calls = *operation->calls;
      if (operation->finished || calls.world_.first_calls().has_id(calls.group_)) return;
      const Error error{Code::store_timeout,
                        fmt::format("[{}] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d "
                                    "key-value store by key '0', but store->get('0') got error: wait timeout after {}ms",
                                    calls.rank_, limit.ns() / 1'000'000),
                        {}};
      calls.world_.first_calls().leave(calls.group_, calls.rank_);  // who gave up makes no communicator
      calls.tell(error.message, limit);
      calls.finish(operation, error);
    });
  }

  // Those that pdsim sends for itself have nothing to do with the library's streams.
  bool is_on_pair_stream(const Collective& call) const {
    return library_.one_stream_per_pair && !call.batched && call.user_tag < first_inner_tag;
  }

  // The messages to or from this rank that are under way, one after another on their stream.
  std::vector<OperationPtr> of_pair(Rank peer) const {
    std::vector<OperationPtr> earlier;
    for (const OperationPtr& operation : running_)
      if (pdsim::row(operation->call.kind).point_to_point && is_on_pair_stream(operation->call) &&
          operation->call.root == peer)
        earlier.push_back(operation);
    return earlier;
  }

  Slot& me() { return world_.slot(ranks_[rank_]); }

  Tag tag_of(const Collective& call) const {
    constexpr Tag p2p = Tag{0xff} << 56;
    const bool by_kind = library_.pairing == Pairing::by_kind;
    if (pdsim::row(call.kind).point_to_point)
      return p2p | (library_.tags || call.user_tag >= first_inner_tag ? call.user_tag : 0);
    const Tag kind = by_kind ? (static_cast<Tag>(call.kind) + 1) << 56 : 0;
    return kind | static_cast<Tag>(call.seq);
  }

  void run(const OperationPtr& operation) {
    if (operation->finished) return;
    if (!world_.closed_form().accepts(operation->call)) return operation->post();
    world_.closed_form().add(channel_, ranks_, operation);
  }

  // It is its turn; a call of a group whose communicator is still being made waits for that.
  void begin(const OperationPtr& operation) {
    operation->is_due = true;
    if (!operation->is_held) queue(operation);
  }

  // Collectives wait for an executor; sends and receives need none.
  void queue(const OperationPtr& operation) {
    if (operation->finished) return;
    if (library_.executors == 0 || pdsim::row(operation->call.kind).point_to_point)
      return run_after_earlier(operation);
    queued_.push_back(operation);
    run_queued();
  }

  void run_queued() {
    while (!queued_.empty() && executors_at_work_ < library_.executors) {
      const OperationPtr operation = queued_.front();
      queued_.pop_front();
      if (operation->finished) continue;
      operation->holds_executor = true;
      ++executors_at_work_;
      run_after_earlier(operation);
    }
  }

  void run_after_earlier(const OperationPtr& operation) {
    const std::vector<OperationPtr> earlier = std::exchange(operation->earlier, {});
    if (earlier.empty()) return run(operation);
    auto left = std::make_shared<std::size_t>(earlier.size());
    for (const OperationPtr& before : earlier)
      before->work->on_done([left, operation](const Status&) {
        if (--*left == 0) operation->calls->run(operation);
      });
  }

  void arm_watchdog(const OperationPtr& operation) {
    if (library_.on_timeout == OnTimeout::nothing || operation->call.timeout == Time::max()) return;
    operation->watchdog = world_.scheduler().at_watchdog(world_.scheduler().now() + operation->call.timeout,
                                                       [operation] { operation->calls->timed_out(operation); });
  }

  void timed_out(const OperationPtr& operation) {
    if (operation->finished) return;
    operation->watchdog.reset();
    const bool ends = library_.on_timeout == OnTimeout::process_ends;
    const Error error = timeout_error(operation->call);
    tell(ends ? error.message + "; the process ends" : error.message, operation->call.timeout);
    if (ends) return world_.kill(me().rank, error);
    unusable_ = Error{Code::group_unusable,
                      library_.timeout_names_call ? "the communicator was aborted at a timeout"
                                                        : "Application timeout caused pair closure",
                      {}};
    finish(operation, error);
    end_all(*unusable_);
  }

  Error timeout_error(const Collective& call) const {
    const std::int64_t limit = call.timeout.ns() / 1'000'000;
    const std::string ran = fmt::format("collective operation timeout: {} #{} ran for {} milliseconds",
                                        name_of(call.kind), recorded_seq(call), limit);
    if (library_.on_timeout == OnTimeout::process_ends)
      return {Code::watchdog_timeout, "Watchdog caught " + ran, {}};
    if (library_.timeout_names_call) return {Code::timeout, "wait() caught " + ran, {}};
    return {Code::timeout,
            fmt::format("Timed out waiting {}ms for {} operation to complete", limit,
                        call.kind == CollectiveKind::send ? "send" : "recv"),
            {}};
  }

  void tell(const std::string& what, Time limit) {
    const LibrarySemantics& backend = library_;
    std::string told = fmt::format("{}: {}, after {}", backend.name, what, to_string(limit));
    if (!backend.watchdog_note.empty()) told += fmt::format(" ({})", backend.watchdog_note);
    world_.tell_watchdog(me().rank, std::move(told));
  }

  World& world_;
  const LibrarySemantics& library_;
  int channel_;
  FirstCalls::Group group_;
  RankList ranks_;
  Rank rank_;
  int ranks_per_node_;
  std::vector<OperationPtr> running_;
  std::list<OperationPtr> queued_;  // until an executor is free; a list, for empty ones are a million times there
  int executors_at_work_ = 0;
  std::optional<Error> unusable_;
};

class SimCommunicator final : public Communicator {
 public:
  explicit SimCommunicator(std::shared_ptr<RankCalls> calls) : calls_(std::move(calls)) {}
  ~SimCommunicator() override { calls_->end_all({Code::cancelled, "the process group ended", {}}); }
  SimCommunicator(const SimCommunicator&) = delete;
  SimCommunicator& operator=(const SimCommunicator&) = delete;

  void abort(const Error& reason) override { calls_->abort(reason); }
  Status check_supported(const Collective& call) const override { return calls_->check_supported(call); }
  Result<WorkPtr> start(const Collective& call) override { return calls_->start(call); }

 private:
  std::shared_ptr<RankCalls> calls_;
};

bool Operation::waits_for_nothing_else() const { return calls->holds_its_rank(*this); }
void Operation::post() { calls->post(*this); }
void Operation::end() { calls->finish(self(), {}); }

PlanArgs Operation::args() const { return {rank, calls->size(), call.count, call.root, call.splits.get(), ranks_per_node}; }

// The run is this operation's own, and ends with it at the latest.
PlanRun& Operation::make_run(Plan plan, PlanData data) {
  calls->make_transport(*this);
  run = std::make_unique<PlanRun>(*transport, std::move(data), std::move(plan), tag,
                                  [this](Status status) { calls->finish(self(), std::move(status)); });
  return *run;
}

void Operation::post_to_exchange() { make_run(algorithm->begin(args()), PlanData(call, *algorithm, args())).start(); }

Operation::Resumed Operation::resume(Plan plan, std::unique_ptr<PlanData> data, PlanPoint at) {
  PlanRun& resumed = make_run(std::move(plan), data ? std::move(*data) : PlanData(call, *algorithm, args()));
  Transport::Done go_on = resumed.resume(at);
  if (at == PlanPoint::round_to_post) return {};  // which may have ended the operation
  if (at != PlanPoint::round_to_combine) return {std::move(go_on), &resumed.data()};
  return {[operation = self(), go_on = std::move(go_on)](const Status& status) {
            if (!operation->finished) go_on(status);
          },
          nullptr};
}

}  // namespace

std::unique_ptr<Communicator> make_communicator(World& world, const LibrarySemantics& library, FirstCalls::Group group,
                                          RankList ranks, Rank group_rank) {
  return std::make_unique<SimCommunicator>(
      std::make_shared<RankCalls>(world, library, std::move(group), std::move(ranks), group_rank));
}

}  // namespace pdsim::sim
