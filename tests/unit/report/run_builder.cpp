#include "tests/unit/report/run_builder.h"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios {
namespace {
constexpr Time cost{10'000'000};
}

RankScript& RankScript::site(std::string op, int step, int line, int column) {
  site_ = {std::move(op), step, line, column};
  return *this;
}

RankScript& RankScript::wait(Time t) {
  now_ += t;
  return *this;
}

Call& RankScript::begin(Layer layer, const std::string& name) {
  Call call;
  call.id = static_cast<std::int64_t>(result_.log.calls.size());
  call.parent = open_.empty() ? -1 : open_.back();
  call.layer = layer;
  call.name = name;
  call.state = CallState::started;
  call.issued = now_;
  call.started = now_;
  call.site = site_;
  result_.log.calls.push_back(call);
  now_ += cost;
  return last();
}

RankScript& RankScript::enter(const std::string& name) {
  open_.push_back(begin(Layer::program, name).id);
  return *this;
}

RankScript& RankScript::leave() {
  Call& call = result_.log.calls[static_cast<std::size_t>(open_.back())];
  call.state = CallState::completed;
  call.finished = now_;
  open_.pop_back();
  return *this;
}

namespace {
// "bucket 0", "buffers", and every other text as a label.
Purpose purpose_named(const std::string& text) {
  constexpr std::string_view bucket = "bucket ";
  if (text.starts_with(bucket)) return {PurposeKind::bucket, std::stoi(text.substr(bucket.size()))};
  const auto kind = value_named<PurposeKind>(text);
  return kind ? Purpose(*kind) : label_purpose(text);
}
}  // namespace

RankScript& RankScript::collective(const std::string& name, const std::string& purpose, bool hangs) {
  Call& call = begin(Layer::collective, name);
  call.group = "world";
  call.seq = seq_++;
  call.purpose = purpose_named(purpose);
  call.async = call.purpose.kind == PurposeKind::bucket;
  if (name != "barrier") call.count = 16;
  if (name == "broadcast") call.root = 0;
  if (hangs) return *this;
  call.state = CallState::completed;
  call.finished = now_;
  return *this;
}

RankScript& RankScript::message(const std::string& name, Rank peer, bool hangs) {
  Call& call = begin(Layer::point_to_point, name);
  call.group = "world";
  call.peer = peer;
  if (hangs) return *this;
  call.state = CallState::completed;
  call.finished = now_;
  return *this;
}

RankScript& RankScript::store(const std::string& key, bool hangs) {
  Call& call = begin(Layer::store, "store_get");
  call.purpose = store_key_purpose(key);
  if (hangs) return *this;
  call.state = CallState::completed;
  call.finished = now_;
  return *this;
}

RankScript& RankScript::note(NoteBody body) {
  result_.log.notes.push_back({open_.empty() ? -1 : open_.back(), now_, site_, std::move(body)});
  return *this;
}

RankScript& RankScript::fails(Code code, const std::string& message) {
  for (Call& call : result_.log.calls) {
    if (call.state == CallState::completed && &call != &last()) continue;
    call.state = code == Code::timeout ? CallState::timed_out : CallState::failed;
    call.error = code;
    call.message = message;
    call.finished = now_;
  }
  open_.clear();
  return *this;
}

RankScript& RankScript::raises(Code code, const std::string& message, Facts facts) {
  fails(code, message);
  result_.log.end = RankEnd::raised;
  result_.log.ended = now_;
  result_.log.error = {code, message, std::move(facts)};
  result_.log.error_site = site_;
  return *this;
}

RankScript& RankScript::dies() {
  raises(Code::rank_crashed, "the process was killed");
  result_.log.end = RankEnd::died;
  return *this;
}

RankScript& RankScript::returns() {
  result_.log.end = RankEnd::returned;
  result_.log.ended = now_;
  return *this;
}

RankScript& RankScript::value(const std::string& name, std::vector<double> values) {
  result_.values[name] = std::move(values);
  return *this;
}

RunRecord run_of(const std::vector<RankScript>& ranks) {
  RunRecord run;
  for (const RankScript& rank : ranks) {
    run.ranks.push_back(rank.result());
    run.elapsed = std::max(run.elapsed, rank.now());
    run.deadlocked = run.deadlocked || rank.result().log.end == RankEnd::running;
    run.events += static_cast<std::int64_t>(rank.result().log.calls.size());
  }
  run.deadlock_at = run.elapsed;
  run.fingerprint = 0x8f3c1d20a7e45b96ULL;
  run.watchdog.resize(ranks.size());
  return run;
}

namespace {

bool skips(const Training& t, Rank rank) { return std::find(t.skip.begin(), t.skip.end(), rank) != t.skip.end(); }

void train_rank(RankScript& script, const Training& t, Rank rank) {
  script.site("init_process_group", -1, 26, 5).enter("init_process_group").store("rank_0").leave();
  script.site("train", -1, 27, 5);
  script.note(notes::DdpOptions{.find_unused_parameters = t.find_unused, .comm_hook = {}});
  for (int step = 0; step < t.steps; ++step) {
    script.site("train", step, 27, 5);
    const bool bad = step == t.bad && skips(t, rank);
    const bool waits = step == t.bad && !t.skip.empty() && !bad;
    if (bad && t.path_note) script.note(notes::PathTaken{"short", false, 21, 8});
    script.enter("forward").wait({90'000'000}).leave().enter("backward").wait({150'000'000});
    for (int b = 0; b < (bad ? t.bad_bucket : t.buckets); ++b)
      script.collective("all_reduce", "bucket " + std::to_string(b), waits && b >= t.bad_bucket);
    if (waits) return;  // sits in backward
    if (bad) script.note(notes::BucketUnfilled{t.bad_bucket, 4, 6, t.missing});
    script.leave().enter("optimizer_step").leave();
  }
}

}  // namespace

std::vector<RankScript> train(const Training& t) {
  std::vector<RankScript> scripts;
  for (Rank r = 0; r < t.ranks; ++r) {
    scripts.emplace_back(r);
    train_rank(scripts.back(), t, r);
  }
  return scripts;
}

Scenario scenario_of(int ranks) {
  Scenario s;
  s.file = "scenarios/example.yaml";
  s.name = "example";
  s.seed = 7;
  s.world.spec.ranks_per_node = ranks;
  s.ddp.given["find_unused_parameters"] = {23, 26, 29};
  return s;
}

std::string id_of(const Report& report) { return report.diagnosis() ? report.diagnosis()->id : "none"; }

}  // namespace pdsim::scenarios
