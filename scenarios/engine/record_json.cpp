#include "scenarios/engine/record_json.h"

#include "core/base/fingerprint.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace pdsim::scenarios {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> layer_names{"program", "collective", "point_to_point", "store"};
constexpr std::array<std::string_view, 5> state_names{"issued", "started", "completed", "timed_out", "failed"};
constexpr std::array<std::string_view, 4> end_names{"running", "returned", "raised", "died"};

template <class Enum, std::size_t N>
std::string_view text_of(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

// Thrown and caught in this file only: nlohmann's own errors leave its calls the same way.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Enum, std::size_t N>
Enum enum_of(const std::array<std::string_view, N>& names, const std::string& text) {
  const auto* it = std::find(names.begin(), names.end(), text);
  if (it == names.end()) throw Malformed(fmt::format("`{}` is none of {}", text, fmt::join(names, ", ")));
  return static_cast<Enum>(it - names.begin());
}

// --- writing: a member at its default is left out

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

void put_site(Json& json, const char* key, const Site& site) {
  if (site == Site{}) return;
  Json out = Json::object();
  out["op"] = site.op;
  put(out, "step", site.step, -1);
  put(out, "line", site.line, 0);
  put(out, "column", site.column, 0);
  json[key] = std::move(out);
}

Json call_json(const Call& call) {
  const Call none;
  Json json = Json::object();
  json["id"] = call.id;
  put(json, "parent", call.parent, none.parent);
  json["layer"] = text_of(layer_names, call.layer);
  json["name"] = call.name;
  put(json, "group", call.group, none.group);
  put(json, "seq", call.seq, none.seq);
  put(json, "purpose", call.purpose, none.purpose);
  json["state"] = text_of(state_names, call.state);
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
  put_facts(json, call.facts);
  if (call.error != none.error) json["error"] = name_of(call.error);
  put(json, "message", call.message, none.message);
  return json;
}

Json note_json(const Note& note) {
  Json json = Json::object();
  put(json, "call", note.call, std::int64_t{-1});
  put_time(json, "at_ps", note.at);
  json["kind"] = note.kind;
  put_site(json, "site", note.site);
  put_facts(json, note.facts);
  return json;
}

Json rank_json(const RankLog& log) {
  Json json = Json::object();
  json["rank"] = log.rank;
  put(json, "launch", log.launch, 1);
  json["end"] = text_of(end_names, log.end);
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

// --- reading

template <class T>
T get(const Json& json, const char* key, T otherwise) {
  const auto it = json.find(key);
  return it == json.end() ? otherwise : it->get<T>();
}

Time get_time(const Json& json, const char* key) { return {get(json, key, std::int64_t{0})}; }

Facts get_facts(const Json& json) {
  Facts facts;
  const auto it = json.find("facts");
  if (it == json.end()) return facts;
  for (const Json& pair : *it) facts.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
  return facts;
}

Site get_site(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end()) return {};
  return {get<std::string>(*it, "op", ""), get(*it, "step", -1), get(*it, "line", 0), get(*it, "column", 0)};
}

Code get_code(const Json& json, const char* key) {
  const auto name = get<std::string>(json, key, std::string(name_of(Code::internal)));
  const std::optional<Code> code = code_named(name);
  if (!code) throw Malformed(fmt::format("`{}` is no error code", name));
  return *code;
}

Call read_call(const Json& json) {
  Call call;
  call.id = json.at("id").get<std::int64_t>();
  call.parent = get(json, "parent", call.parent);
  call.layer = enum_of<Layer>(layer_names, json.at("layer").get<std::string>());
  call.name = json.at("name").get<std::string>();
  call.group = get(json, "group", call.group);
  call.seq = get(json, "seq", call.seq);
  call.purpose = get(json, "purpose", call.purpose);
  call.state = enum_of<CallState>(state_names, json.at("state").get<std::string>());
  call.issued = get_time(json, "issued_ps");
  call.started = get_time(json, "started_ps");
  call.finished = get_time(json, "finished_ps");
  call.site = get_site(json, "site");
  const auto dtype = get<std::string>(json, "dtype", std::string(name_of(call.dtype)));
  const auto op = get<std::string>(json, "op", std::string(name_of(call.op)));
  if (!dtype_named(dtype)) throw Malformed(fmt::format("`{}` is no element type", dtype));
  if (!reduce_op_named(op)) throw Malformed(fmt::format("`{}` is no reduce operation", op));
  call.dtype = *dtype_named(dtype);
  call.op = *reduce_op_named(op);
  call.count = get(json, "count", call.count);
  call.root = get(json, "root", call.root);
  call.peer = get(json, "peer", call.peer);
  call.async = get(json, "async", call.async);
  call.facts = get_facts(json);
  call.error = get_code(json, "error");
  call.message = get(json, "message", call.message);
  return call;
}

Note read_note(const Json& json) {
  return {get(json, "call", std::int64_t{-1}), get_time(json, "at_ps"), json.at("kind").get<std::string>(),
          get_site(json, "site"), get_facts(json)};
}

double read_number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const auto text = json.get<std::string>();
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (error != std::errc{} || end != text.data() + text.size()) throw Malformed(fmt::format("`{}` is no number", text));
  return std::bit_cast<double>(bits);
}

// Who the rank was and how it ended: everything but its calls and notes.
void read_rank(const Json& json, RankLog& log) {
  log.rank = json.at("rank").get<Rank>();
  log.launch = get(json, "launch", log.launch);
  log.dropped = get(json, "dropped", log.dropped);
  log.end = enum_of<RankEnd>(end_names, json.at("end").get<std::string>());
  log.ended = get_time(json, "ended_ps");
  if (const auto it = json.find("error"); it != json.end())
    log.error = {get_code(*it, "code"), get<std::string>(*it, "message", ""), get_facts(*it)};
  log.error_site = get_site(json, "error_site");
}

RankLog read_log(const Json& json) {
  RankLog log;
  read_rank(json, log);
  for (const Json& call : json.at("calls")) log.calls.push_back(read_call(call));
  for (const Json& note : json.at("notes")) log.notes.push_back(read_note(note));
  return log;
}

}  // namespace

std::string to_json(const RankResult& result) {
  const RankLog& log = result.log;
  Json json = Json::object();
  json["pdsim_record"] = 1;
  json.update(rank_json(log));
  json["calls"] = Json::array();
  for (const Call& call : log.calls) json["calls"].push_back(call_json(call));
  json["notes"] = Json::array();
  for (const Note& note : log.notes) json["notes"].push_back(note_json(note));
  json["values"] = Json::object();
  for (const auto& [name, values] : result.values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(number_json(value));
    json["values"][name] = std::move(list);
  }
  return dump(json);
}

namespace {

// What is wrong with the text, without the library's names for it.
std::string reason(const std::exception& e) {
  if (const auto* syntax = dynamic_cast<const Json::parse_error*>(&e))
    return fmt::format("it is not JSON from byte {} on", syntax->byte);
  if (dynamic_cast<const Json::type_error*>(&e) != nullptr) return "a value is of another type than it should be";
  const std::string_view text = e.what();
  const std::size_t name = text.find("] ");
  return std::string(dynamic_cast<const Json::exception*>(&e) != nullptr && name != text.npos ? text.substr(name + 2)
                                                                                              : text);
}

}  // namespace

Result<RankResult> rank_result_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (get(json, "pdsim_record", 0) != 1) throw Malformed("it is no flight record of version 1");
    RankResult result;
    result.log = read_log(json);
    for (const auto& [name, list] : json.at("values").items()) {
      std::vector<double>& values = result.values[name];
      for (const Json& number : list) values.push_back(read_number(number));
    }
    return result;
  } catch (const std::exception& e) {
    return Error{Code::input_invalid, fmt::format("a flight record cannot be read: {}", reason(e)), {}};
  }
}

namespace {

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

// Reads one line; the logs are kept by rank and launch until all are there.
void read_line(const Json& json, RunRecord& run, std::map<std::pair<int, Rank>, RankLog>& logs) {
  const auto event = json.at("event").get<std::string>();
  if (event == "origin") return;  // see record_origin.h
  if (event == "run") {
    run.deadlocked = get(json, "deadlocked", false);
    run.deadlock_at = get_time(json, "deadlock_ps");
    run.elapsed = get_time(json, "elapsed_ps");
    run.wall_ns = get(json, "wall_ns", std::int64_t{0});
    run.watchdog = get(json, "watchdog", std::vector<std::string>{});
    return;
  }
  RankLog& log = logs[{-get(json, "launch", 1), json.at("rank").get<Rank>()}];
  if (event == "call") {
    log.calls.push_back(read_call(json));
  } else if (event == "note") {
    log.notes.push_back(read_note(json));
  } else if (event == "end") {
    read_rank(json, log);
  } else {
    throw Malformed(fmt::format("`{}` is none of origin, run, call, note, end", event));
  }
}

}  // namespace

std::string events_jsonl(const RunRecord& run) {
  std::string text;
  Json about = Json::object();
  about["pdsim_record"] = 1;
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

Result<RunRecord> run_from_jsonl(std::string_view text) {
  RunRecord run;
  std::map<std::pair<int, Rank>, RankLog> logs;  // by launch, newest first, then by rank
  int number = 0;
  try {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++number;
      if (!line.empty()) read_line(Json::parse(line), run, logs);
    }
  } catch (const std::exception& e) {
    return Error{Code::input_invalid, fmt::format("line {} is no event of a flight record: {}", number, reason(e)), {}};
  }
  if (logs.empty()) return Error{Code::input_invalid, "the file holds no event of any rank", {}};
  const int last = logs.begin()->first.first;
  for (auto& [key, log] : logs) {
    log.rank = key.second;
    log.launch = -key.first;
    if (key.first != last) {
      run.earlier.push_back({std::move(log), {}});
    } else if (key.second != static_cast<Rank>(run.ranks.size())) {
      return Error{Code::input_invalid, fmt::format("the record of rank {} is missing", run.ranks.size()), {}};
    } else {
      run.ranks.push_back({std::move(log), {}});
    }
  }
  return run;
}

}  // namespace pdsim::scenarios
