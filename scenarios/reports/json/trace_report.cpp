#include "scenarios/reports/json/trace_report.h"

#include "core/base/fingerprint.h"
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/records/log_view.h"
#include "scenarios/reports/timeline_events.h"
#include "scenarios/text/printable_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace pdsim::scenarios {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_listed = 35;  // members of an instant's arguments

class Trace {
 public:
  explicit Trace(const Report& report) : report_(report) {}

  std::string text() {
    names();
    calls();
    messages();
    faults();
    turning_points();
    Json json{{"displayTimeUnit", "ns"}, {"otherData", Json::object()}};
    if (report_.scenario != nullptr) {
      const Scenario& s = *report_.scenario;
      json["otherData"] = {{"scenario", s.variant.empty() ? s.name : s.name + "/" + s.variant}, {"seed", s.seed}};
      if (report_.run.fingerprint) json["otherData"]["fingerprint"] = fingerprint_text(*report_.run.fingerprint);
    }
    if (report_.diagnosis() != nullptr) json["otherData"]["diagnosis"] = diagnosis_args();
    if (calls_left_out_ > 0) json["otherData"]["calls_left_out"] = calls_left_out_;
    if (messages_left_out_ > 0) json["otherData"]["messages_left_out"] = messages_left_out_;
    json["traceEvents"] = std::move(events_);
    return printable_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
  }

 private:
  int node_of(Rank rank) const { return report_.scenario == nullptr ? 0 : report_.scenario->world.spec.node_of(rank); }

  void add(std::string_view phase, std::string_view name, Rank rank, Time at, Json more) {
    Json event{{"ph", phase}, {"name", name}, {"pid", node_of(rank)}, {"tid", rank}, {"ts", at.us()}};
    event.update(more);
    events_.push_back(std::move(event));
  }

  void names() {
    int last = -1;
    for (std::size_t r = 0; r < report_.run.ranks.size(); ++r) {
      const auto rank = static_cast<Rank>(r);
      const int node = node_of(rank);
      if (node != last)
        events_.push_back(
            {{"ph", "M"}, {"name", "process_name"}, {"pid", node}, {"args", {{"name", fmt::format("node {}", node)}}}});
      last = node;
      events_.push_back({{"ph", "M"},
                         {"name", "thread_name"},
                         {"pid", node},
                         {"tid", rank},
                         {"args", {{"name", fmt::format("rank {}", rank)}}}});
    }
  }

  static void add_details(Json& args, const Call& call) {
    const CallDetails& details = *call.details;
    if (call.purpose.kind == PurposeKind::bucket) args["bucket"] = call.purpose.number;
    if (!details.parameters.empty()) args["parameters"] = fmt::format("{}", fmt::join(details.parameters, ", "));
    if (details.tag != 0) args["tag"] = details.tag;
    if (details.record >= 0) args["record"] = details.record;
    if (!details.sends.empty()) args["sends"] = text_of(details.sends);
    if (!details.receives.empty()) args["receives"] = text_of(details.receives);
    if (!details.shape.empty()) args["shape"] = details.shape;
    if (!details.dtype.empty()) args["dtype"] = details.dtype;
    if (const std::string place = place_text(call.site); !place.empty()) args["at"] = place;
  }

  Json args_of(const TimelineEvent& event) const {
    const Call& call = *event.call;
    Json args = Json::object();
    if (call.site.step >= 0) args["step"] = call.site.step;
    if (!call.group.empty()) args["group"] = call.group;
    if (call.seq >= 0) args["seq"] = call.seq;
    if (!call.purpose.empty()) args["purpose"] = text_of(call.purpose);
    if (call.site.phase != Phase::none) args["phase"] = name_of(call.site.phase);
    if (call.count >= 0) args["count"] = call.count;
    add_details(args, call);
    if (call.state == CallState::failed || call.state == CallState::timed_out) args["error"] = name_of(call.error);
    if (const BlockedRank* b = blocked_entry(report_, event.rank, call.id)) {
      if (!b->awaits_nobody()) args["waits_for"] = (b->any ? "one of " : "") + awaited_text(*b);
      args["state"] = "blocked";
      if (report_.diagnosis() != nullptr) args["diagnosis"] = diagnosis_args();
    }
    return args;
  }

  Json diagnosis_args() const {
    const Diagnosis& d = *report_.diagnosis();
    Json args{{"id", d.id}, {"headline", d.headline}, {"ranks", ranks_text(d.ranks)}};
    if (!d.fix.empty()) args["fix"] = d.fix.text;
    return args;
  }

  // Where the ranks first differ, and from when on no schedule could have saved the run.
  void turning_points() {
    const auto at = [this](const std::string& name, const std::vector<Rank>& ranks, Time moment, Json args) {
      if (report_.diagnosis() != nullptr) args["diagnosis"] = diagnosis_args();
      add("i", name, ranks.empty() ? 0 : ranks.front(), moment, {{"s", "g"}, {"cat", "diagnosis"}, {"args", std::move(args)}});
    };
    if (const Divergence* d = report_.first_divergence()) {
      Json args{{"group", d->group}, {"seq", d->seq}, {"what differs", name_of(d->field)}};
      for (const Divergence::Entry& entry : d->entries)
        if (args.size() < most_listed) args[fmt::format("rank {}", entry.rank)] = entry.call;
      at(fmt::format("first divergence: #{} of {}", d->seq, d->group), d->minority, d->at, std::move(args));
    }
    if (const Diagnosis* d = report_.diagnosis(); d != nullptr && !d->inevitable.empty())
      at("point of no return", d->ranks, d->inevitable_at, {{"unavoidable", d->inevitable}});
  }

  // A track of each rank; changes at one moment are one value.
  void counters(std::string_view name, std::string_view unit, const std::map<Rank, std::map<Time, std::int64_t>>& changes) {
    for (const auto& [rank, of_rank] : changes) {
      std::int64_t value = 0;
      for (const auto& [moment, delta] : of_rank)
        events_.push_back({{"ph", "C"},
                           {"name", fmt::format("rank {}: {}", rank, name)},
                           {"pid", node_of(rank)},
                           {"ts", moment.us()},
                           {"args", {{unit, value += delta}}}});
    }
  }

  void calls() {
    const TimelineEvents all = timeline_events(report_);
    calls_left_out_ = all.left_out;
    std::map<Rank, std::map<Time, std::int64_t>> open;
    for (const TimelineEvent& event : all.events) {
      if (event.call->layer == Layer::program) continue;
      ++open[event.rank][event.call->issued];
      if (!event.blocked) --open[event.rank][event.end];
    }
    counters("open calls", "calls", open);
    for (const TimelineEvent& event : all.events) {
      if (all.left_out > 0 && !event.blocked)
        first_shown_ = std::min(first_shown_.value_or(Time::max()), event.call->issued);
      const Call& call = *event.call;
      std::string name = call.name;
      if (call.seq >= 0) name += fmt::format(" #{}", call.seq);
      Json more{{"cat", call.layer == Layer::program ? "compute" : kind_of(call)}};
      if (call.layer == Layer::collective) more["cat"] = "collective";
      const bool keeps_the_rank = blocked_entry(report_, event.rank, call.id) != nullptr;
      const bool overlaps = (call.async || is_of_server_thread(call)) && !keeps_the_rank;
      if (overlaps) more["id"] = fmt::format("{}.{}", event.rank, call.id);
      if (event.blocked) {
        more["args"] = args_of(event);
        add(overlaps ? "b" : "B", name, event.rank, call.issued, std::move(more));
      } else if (overlaps) {
        Json end = more;
        more["args"] = args_of(event);
        add("b", name, event.rank, call.issued, std::move(more));
        add("e", name, event.rank, event.end, std::move(end));
      } else {
        more["dur"] = (event.end - call.issued).us();
        more["args"] = args_of(event);
        add("X", name, event.rank, call.issued, std::move(more));
      }
    }
  }

  void messages() {
    std::map<Rank, std::map<Time, std::int64_t>> in_flight;
    const auto& all = report_.run.messages;
    const std::size_t first = all.size() > most_events ? all.size() - most_events : 0;
    messages_left_out_ = first;
    for (std::size_t i = first; i < all.size(); ++i) {
      const MessageRecord& m = all[i];
      if (first_shown_ && m.sent < *first_shown_) {
        ++messages_left_out_;
        continue;
      }
      add("s", "message", m.from, m.sent, {{"cat", "net"}, {"id", m.id}, {"args", {{"bytes", m.bytes}, {"to", m.to}}}});
      if (m.dropped) {
        add("i", fmt::format("lost: message {} to rank {}", m.id, m.to), m.from, m.sent,
            {{"s", "t"}, {"cat", "fault"}});
        continue;
      }
      add("f", "message", m.to, m.arrived, {{"bp", "e"}, {"cat", "net"}, {"id", m.id}});
      in_flight[m.from][m.sent] += m.bytes;
      in_flight[m.from][m.arrived] -= m.bytes;
    }
    counters("bytes in flight", "bytes", in_flight);
  }

  void faults() {
    for (const RankResult& result : report_.run.ranks)
      for (const Note* note : notes_of<notes::Fault>(result.log))
        add("i", fmt::format("fault: {} rank {}", name_of(note->as<notes::Fault>().fault), result.log.rank),
            result.log.rank, note->at, {{"s", "p"}, {"cat", "fault"}});
  }

  const Report& report_;
  Json events_ = Json::array();
  std::size_t calls_left_out_ = 0, messages_left_out_ = 0;
  std::optional<Time> first_shown_;  // when calls before it were left out: their messages are, too
};

}  // namespace

std::string render_trace(const Report& report) { return Trace(report).text(); }

}  // namespace pdsim::scenarios
