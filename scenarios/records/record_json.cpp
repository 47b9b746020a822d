// Flight records to text (record_json.h).

#include "scenarios/records/record_json.h"

#include "core/base/fingerprint.h"

#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <utility>
#include <variant>

namespace pdsim::scenarios {
namespace {

using Json = nlohmann::ordered_json;

// A member at its default is left out.

template <class T>
void put(Json& json, const char* key, const T& value, const T& otherwise) {
  if (value != otherwise) json[key] = value;
}

void put_time(Json& json, const char* key, Time t) { put(json, key, t.ps, std::int64_t{0}); }

void put_facts(Json& json, const Facts& facts) {
  if (facts.empty()) return;
  Json list = Json::array();  // an object would lose the order, and repeated keys
  for (const Fact& f : facts) list.push_back(Json::array({f.key, f.value}));
  json["facts"] = std::move(list);
}

// The fields of a struct that are not at their default.
Json json_of(bool value) { return value; }
Json json_of(std::int64_t value) { return value; }
Json json_of(std::uint64_t value) { return value; }
Json json_of(int value) { return value; }
Json json_of(Time value) { return value.ps; }
Json json_of(const std::string& value) { return value; }
template <NamedEnum E>
Json json_of(E value) {
  return name_of(value);
}
template <class T>
Json json_of(const std::vector<T>& list);
template <HasFields T>
Json json_of(const T& of) {
  const T none;
  Json json = Json::object();
  for_each_field<T>([&](const auto& field) {
    if (of.*field.member != none.*field.member) json[std::string(field.name)] = json_of(of.*field.member);
  });
  return json;
}
template <class T>
Json json_of(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T& item : list) json.push_back(json_of(item));
  return json;
}

void put_site(Json& json, const char* key, const Site& site) {
  if (site == Site{}) return;
  Json out = Json::object();
  out["op"] = site.op;
  put(out, "step", site.step, -1);
  put(out, "line", site.line, 0);
  put(out, "column", site.column, 0);
  if (site.phase != Phase::none) out["phase"] = name_of(site.phase);
  if (site.origin) out["origin"] = json_of(*site.origin);
  json[key] = std::move(out);
}

Json call_json(const Call& call) {
  const Call none;
  Json json = Json::object();
  json["id"] = call.id;
  put(json, "parent", call.parent, none.parent);
  json["layer"] = name_of(call.layer);
  json["name"] = call.name;
  put(json, "group", call.group, none.group);
  put(json, "seq", call.seq, none.seq);
  if (!call.purpose.empty()) json["purpose"] = name_of(call.purpose.kind);
  put(json, "purpose_number", call.purpose.number, none.purpose.number);
  put(json, "purpose_detail", call.purpose.detail, none.purpose.detail);
  json["state"] = name_of(call.state);
  put_time(json, "issued_ps", call.issued);
  put_time(json, "started_ps", call.started);
  put_time(json, "finished_ps", call.finished);
  put_site(json, "site", call.site);
  if (call.dtype != none.dtype) json["dtype"] = name_of(call.dtype);
  if (call.op != none.op) json["op"] = name_of(call.op);
  put(json, "count", call.count, none.count);
  put(json, "root", call.root, none.root);
  put(json, "peer", call.peer, none.peer);
  put(json, "async", call.async, none.async);
  if (call.details) json["details"] = json_of(*call.details);
  if (call.error != none.error) json["error"] = name_of(call.error);
  put(json, "message", call.message, none.message);
  return json;
}

Json note_json(const Note& note) {
  Json json = Json::object();
  put(json, "call", note.call, std::int64_t{-1});
  put_time(json, "at_ps", note.at);
  json["kind"] = kind_of(note.body);
  put_site(json, "site", note.site);
  Json attributes = std::visit([](const auto& body) { return json_of(body); }, note.body);
  if (!attributes.empty()) json["attributes"] = std::move(attributes);
  return json;
}

Json rank_json(const RankLog& log) {
  Json json = Json::object();
  json["rank"] = log.rank;
  put(json, "launch", log.launch, 1);
  json["end"] = name_of(log.end);
  put_time(json, "ended_ps", log.ended);
  if (log.error != Error{}) {
    Json error = Json::object();
    error["code"] = name_of(log.error.code);
    error["message"] = log.error.message;
    put_facts(error, log.error.facts);
    json["error"] = std::move(error);
  }
  put_site(json, "error_site", log.error_site);
  put(json, "dropped", log.dropped, std::int64_t{0});
  return json;
}

Json number_json(double value) {
  if (std::isfinite(value)) return value;
  return fingerprint_text(std::bit_cast<std::uint64_t>(value));
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void add_line(std::string& text, const char* type, const RankLog* log, const Json& event) {
  Json json{{"event", type}};
  if (log != nullptr) json["rank"] = log->rank;
  if (log != nullptr) put(json, "launch", log->launch, 1);
  json.update(event);
  text += dump(json) + "\n";
}

void add_rank(std::string& text, const RankLog& log) {
  std::size_t next = 0;
  const auto notes_before = [&](Time t) {
    for (; next < log.notes.size() && log.notes[next].at < t; ++next)
      add_line(text, "note", &log, note_json(log.notes[next]));
  };
  for (const Call& call : log.calls) {
    notes_before(call.issued);
    add_line(text, "call", &log, call_json(call));
  }
  for (; next < log.notes.size(); ++next) add_line(text, "note", &log, note_json(log.notes[next]));
  add_line(text, "end", &log, rank_json(log));
}

}  // namespace

std::string to_json(const RankResult& result) {
  const RankLog& log = result.log;
  Json json = Json::object();
  json["pdsim_record"] = record_version;
  json.update(rank_json(log));
  json["calls"] = Json::array();
  for (const Call& call : log.calls) json["calls"].push_back(call_json(call));
  json["notes"] = Json::array();
  for (const Note& note : log.notes) json["notes"].push_back(note_json(note));
  put_time(json, "step_time_ps", result.step_time);
  json["values"] = Json::object();
  for (const auto& [name, values] : result.values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(number_json(value));
    json["values"][name] = std::move(list);
  }
  return dump(json);
}

std::string events_jsonl(const RunRecord& run) {
  std::string text;
  Json about = Json::object();
  about["pdsim_record"] = record_version;
  put(about, "deadlocked", run.deadlocked, false);
  put_time(about, "deadlock_ps", run.deadlock_at);
  put_time(about, "elapsed_ps", run.elapsed);
  put(about, "wall_ns", run.wall_ns, std::int64_t{0});
  put(about, "watchdog", run.watchdog, std::vector<std::string>{});
  add_line(text, "run", nullptr, about);
  for (const RankResult& result : run.earlier) add_rank(text, result.log);
  for (const RankResult& result : run.ranks) add_rank(text, result.log);
  return text;
}

}  // namespace pdsim::scenarios
