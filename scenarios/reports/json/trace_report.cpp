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

class Trace {
 public:
  explicit Trace(const Report& report) : report_(report) {}

  std::string text() {
    names();
    calls();
    messages();
    faults();
    Json json{{"displayTimeUnit", "ns"}};
    if (report_.scenario != nullptr) {
      const Scenario& s = *report_.scenario;
      json["otherData"] = {{"scenario", s.variant.empty() ? s.name : s.name + "/" + s.variant}, {"seed", s.seed}};
      if (report_.run.fingerprint) json["otherData"]["fingerprint"] = fingerprint_text(*report_.run.fingerprint);
    }
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
    }
    return args;
  }

  void calls() {
    const TimelineEvents all = timeline_events(report_);
    for (const TimelineEvent& event : all.events) {
      if (all.left_out > 0 && !event.blocked)
        first_shown_ = std::min(first_shown_.value_or(Time::max()), event.call->issued);
      const Call& call = *event.call;
      std::string name = call.name;
      if (call.seq >= 0) name += fmt::format(" #{}", call.seq);
      Json more{{"cat", call.layer == Layer::program ? "compute" : kind_of(call)}};
      if (call.layer == Layer::collective) more["cat"] = "collective";
      const bool keeps_the_rank = blocked_entry(report_, event.rank, call.id) != nullptr;
      const bool overlaps = call.async && !keeps_the_rank;
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
    std::map<Time, std::int64_t> change;
    const auto& all = report_.run.messages;
    const std::size_t first = all.size() > most_events ? all.size() - most_events : 0;
    for (std::size_t i = first; i < all.size(); ++i) {
      const MessageRecord& m = all[i];
      if (first_shown_ && m.sent < *first_shown_) continue;
      add("s", "message", m.from, m.sent, {{"cat", "net"}, {"id", m.id}, {"args", {{"bytes", m.bytes}, {"to", m.to}}}});
      if (m.dropped) {
        add("i", fmt::format("lost: message {} to rank {}", m.id, m.to), m.from, m.sent,
            {{"s", "t"}, {"cat", "fault"}});
        continue;
      }
      add("f", "message", m.to, m.arrived, {{"bp", "e"}, {"cat", "net"}, {"id", m.id}});
      change[m.sent] += m.bytes;
      change[m.arrived] -= m.bytes;
    }
    std::int64_t bytes = 0;
    for (const auto& [at, delta] : change) {
      bytes += delta;
      events_.push_back(
          {{"ph", "C"}, {"name", "bytes in flight"}, {"pid", 0}, {"ts", at.us()}, {"args", {{"bytes", bytes}}}});
    }
  }

  void faults() {
    for (const RankResult& result : report_.run.ranks)
      for (const Note* note : notes_of<notes::Fault>(result.log))
        add("i", fmt::format("fault: {} rank {}", name_of(note->as<notes::Fault>().fault), result.log.rank),
            result.log.rank, note->at, {{"s", "p"}, {"cat", "fault"}});
  }

  const Report& report_;
  Json events_ = Json::array();
  std::optional<Time> first_shown_;  // when calls before it were left out: their messages are, too
};

}  // namespace

std::string render_trace(const Report& report) { return Trace(report).text(); }

}  // namespace pdsim::scenarios
