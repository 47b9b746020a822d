#include "scenarios/guests/real/recorded_rank.h"

#include "core/collectives/collective_kind.h"
#include "core/record/record_check.h"
#include "scenarios/guests/script_calls.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/rank_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

// Says when the frame that is being replayed was written.
class ReplayClock final : public Runtime {
 public:
  Time now() const override { return now_; }
  void sleep_until(Time) override {}
  void compute(Time) override {}
  std::unique_ptr<Event> make_event() override { return nullptr; }
  void set(Time now) { now_ = std::max(now_, now); }

 private:
  Time now_{};
};

struct RecordedGroupOf {
  std::string name;
  std::vector<Rank> ranks;
  Seq next = 1;
};

class Replay {
 public:
  Replay(Rank rank, std::int64_t epoch_ns) : recorder_(rank, clock_, most_frames), script_(recorder_), epoch_(epoch_ns) {}

  void take(const RecordedRequest& recorded) {
    using Kind = Request::Kind;
    const Request& request = recorded.request;
    constexpr std::uint64_t longest_ns = latest_recorded_ps / 1000;
    const std::uint64_t since_ns = static_cast<std::uint64_t>(recorded.at_ns) - static_cast<std::uint64_t>(epoch_);
    const bool is_near = recorded.at_ns >= epoch_ && since_ns <= longest_ns;
    if (is_near) clock_.set(Time{(recorded.at_ns - epoch_) * 1000});
    if (request.site.origin && !is_of_the_end(request.kind)) {
      Site site = request.site;
      make_printable(site);
      recorder_.set_site(std::move(site));
    }
    if (request.kind == Kind::join) {
      join(recorded);
    } else if (request.kind == Kind::start) {
      start(recorded);
    } else if (request.kind == Kind::done) {
      done(request);
    } else if (request.kind == Kind::goodbye) {
      goodbye_ = static_cast<int>(request.number);
    } else if (!expects_answer(request.kind)) {
      script_.take(request);
    }
  }

  void end(const FoundProcess& fate) {
    if (fate.ended_at) clock_.set(*fate.ended_at);
    const Request* raised = script_.raised() ? &*script_.raised() : nullptr;
    const bool killed = fate.ended && fate.ended->signal != 0;
    const int status = fate.ended ? fate.ended->exit_status : std::max(goodbye_.value_or(0), raised == nullptr ? 0 : 1);
    if (killed && raised == nullptr) {
      recorder_.set_site(script_.last_place());
      recorder_.ended(RankEnd::died, {fate.ended->signal == SIGABRT ? Code::process_aborted : Code::rank_crashed,
                                      fmt::format("the process was ended by signal {} ({})", fate.ended->signal,
                                                  strsignal(fate.ended->signal)),
                                      {{std::string(signal_fact), std::to_string(fate.ended->signal)}}});
    } else if (killed || status != 0) {
      ScriptCalls::End end = script_.end_with(status, raised);
      if (raised != nullptr) end.site.op = script_.failed().empty() ? recorder_.site().op : script_.failed();
      make_printable(end.site);
      recorder_.set_site(std::move(end.site));
      recorder_.ended(RankEnd::raised, std::move(end.error));
    } else if (fate.ended || goodbye_) {
      recorder_.ended(RankEnd::returned);
    }
  }

  RankLog take_log() { return recorder_.take_log(); }
  std::string missing_module() const { return script_.raised() ? script_.raised()->module : std::string(); }

 private:
  static constexpr std::size_t most_frames = std::size_t{1} << 20;

  void join(const RecordedRequest& recorded) {
    const Request& request = recorded.request;
    RecordedGroupOf& group = groups_[recorded.number];
    group.name = request.name;
    group.ranks = request.ranks;
  }

  static Rank global(const RecordedGroupOf& group, std::int64_t rank) {
    const bool known = rank >= 0 && static_cast<std::size_t>(rank) < group.ranks.size();
    return known ? group.ranks[static_cast<std::size_t>(rank)] : static_cast<Rank>(rank);
  }

  void start(const RecordedRequest& recorded) {
    const Request& request = recorded.request;
    const CollectiveRow* row = collective_named(request.name);
    RecordedGroupOf& group = groups_[request.group];
    const bool is_message = row != nullptr && row->point_to_point;
    Call call;
    call.layer = is_message ? Layer::point_to_point : Layer::collective;
    call.name = request.name;
    call.group = group.name.empty() ? "world" : group.name;
    if (!is_message) call.seq = group.next++;
    if (row != nullptr && row->kind == CollectiveKind::monitored_barrier) ++group.next;  // Gloo counts two
    if (const auto purpose = value_named<PurposeKind>(request.purpose))
      call.purpose = {*purpose, *purpose == PurposeKind::bucket ? request.number : -1};
    if (request.coalesced > 0) call.purpose = {PurposeKind::coalesced, request.coalesced};
    call.dtype = dtype_named(request.dtype).value_or(DType::f32);
    call.op = reduce_op_named(request.reduce).value_or(ReduceOp::sum);
    const bool has_count = row != nullptr && row->kind != CollectiveKind::barrier &&
                           row->kind != CollectiveKind::monitored_barrier;
    if (has_count) call.count = request.count;
    if (row != nullptr && row->rooted && !is_message) call.root = global(group, request.root);
    if (is_message) call.peer = request.root < 0 ? any_source : global(group, request.root);
    call.async = request.all;
    call.details = details_of(request, is_message);
    const std::int64_t id = recorder_.begin(std::move(call));
    recorder_.started(id);
    open_[recorded.number] = id;
  }

  static SharedValue<CallDetails> details_of(const Request& request, bool is_message) {
    const bool tagged = is_message && request.tag > 0;
    if (!tagged && request.keys.empty() && request.sends.empty()) return {};
    CallDetails details;
    if (tagged) details.tag = static_cast<std::uint64_t>(request.tag);
    details.parameters = request.keys;
    const auto splits = [](const std::vector<std::int64_t>& sizes) {
      SplitSizes made;
      const bool can_be = std::all_of(sizes.begin(), sizes.end(),
                                      [](std::int64_t s) { return s >= 0 && s <= most_recorded_elements; });
      if (!can_be) return made;
      made.sizes = sizes;
      made.parts = static_cast<std::int64_t>(sizes.size());
      for (const std::int64_t size : sizes) made.elements += size;
      return made;
    };
    if (!request.sends.empty()) details.sends = splits(request.sends);
    if (!request.receives.empty()) details.receives = splits(request.receives);
    return details;
  }

  void done(const Request& request) {
    const auto call = open_.find(request.work);
    if (call == open_.end()) return;
    Status status;
    if (!request.code.empty())
      status = Error{code_named(request.code).value_or(Code::program_raised), request.text, {}};
    recorder_.finish(call->second, status);
    open_.erase(call);
  }

  ReplayClock clock_;
  FlightRecorder recorder_;
  ScriptCalls script_;
  std::int64_t epoch_;
  std::map<std::int64_t, RecordedGroupOf> groups_;
  std::map<std::int64_t, std::int64_t> open_;  // the frame in which it started, to the recorder's number
  std::optional<int> goodbye_;
};

bool waits_for_nobody(const Call* call) {
  return call == nullptr ||
         (call->layer == Layer::program && (call->name == "forward" || call->name == "backward" || call->name == "optimizer_step"));
}

// Where a rank is that lives and is in no call: it counts as one that hangs.
Note silence_of(const RankLog& log, const FoundProcess& fate) {
  Note note{-1, newest_moment(log), {}, notes::Fault{.fault = FaultKind::hang, .before = {}, .by_signal = fate.stopped}};
  if (fate.stack.empty()) return note;
  CallOrigin origin;
  origin.frames = fate.stack;
  origin.file = fate.stack.front().file;
  note.site.op = fate.stack.front().function;
  note.site.line = fate.stack.front().line;
  note.site.column = 1;
  note.site.origin = std::move(origin);
  return note;
}

}  // namespace

Time newest_moment(const RankLog& log) {
  Time newest{};
  for (const Call& call : log.calls) newest = std::max({newest, call.issued, call.started, call.finished});
  for (const Note& note : log.notes) newest = std::max(newest, note.at);
  return newest;
}

ReplayedRank replayed(const RecordedProcess& process, Rank rank, std::int64_t epoch_ns, const FoundProcess& fate) {
  Replay replay(rank, epoch_ns);
  for (const RecordedRequest& request : process.requests) replay.take(request);
  replay.end(fate);
  ReplayedRank made;
  made.log = replay.take_log();
  made.missing_module = replay.missing_module();
  made.log.rank = rank;
  made.log.dropped += process.dropped;
  std::erase_if(made.log.calls, [&](const Call& call) {
    const auto problem = problem_of(call);
    if (problem) made.left_out.add(*problem);
    return problem.has_value();
  });
  for (Call& call : made.log.calls) make_printable(call);
  for (Note& note : made.log.notes) make_printable(note);
  make_printable(made.log);
  const bool is_silent = fate.silent && waits_for_nobody(sits_in(made.log, Time::max()));
  if (made.log.end == RankEnd::running && (fate.stopped || is_silent))
    made.log.notes.push_back(silence_of(made.log, fate));
  return made;
}

}  // namespace pdsim::scenarios::guests
