// Flight records from text (record_json.h).

#include "core/base/printable.h"
#include "core/record/record_check.h"
#include "scenarios/records/record_json.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

namespace pdsim::scenarios {
namespace {

using Json = nlohmann::ordered_json;

// Thrown and caught in this file only: nlohmann's own errors leave its calls the same way.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A text of the record as an error quotes it: a line may hold a megabyte of it.
std::string shown(std::string_view text) { return cut(text, 60); }

template <NamedEnum E>
E enum_of(const std::string& text) {
  if (const auto value = value_named<E>(text)) return *value;
  std::vector<std::string_view> names;
  for (const EnumRow<E>& row : enum_rows<E>) names.push_back(row.name);
  throw Malformed(fmt::format("`{}` is not one of {}", shown(text), fmt::join(names, ", ")));
}

// A value in an error message.
std::string value_in_words(const Json& value) {
  constexpr std::size_t most = 40;
  if (value.is_number() || value.is_boolean()) return value.dump().substr(0, most);
  return value.is_string() ? "a text" : value.is_null() ? "null" : value.is_array() ? "a list" : "an object";
}

std::string get_text(const Json& json, const char* key, std::string otherwise) {
  const auto it = json.find(key);
  if (it == json.end()) return otherwise;
  if (!it->is_string()) throw Malformed(fmt::format("`{}` is {}, and must be a text", key, value_in_words(*it)));
  return it->get<std::string>();
}

std::string required_text(const Json& json, const char* key) {
  if (!json.contains(key)) throw Malformed(fmt::format("`{}` is missing", key));
  return get_text(json, key, {});
}

bool get_flag(const Json& json, const char* key, bool otherwise) {
  const auto it = json.find(key);
  if (it == json.end()) return otherwise;
  if (!it->is_boolean())
    throw Malformed(fmt::format("`{}` is {}, and must be true or false", key, value_in_words(*it)));
  return it->get<bool>();
}

std::optional<std::int64_t> whole_number_in(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1} << 62) return std::nullopt;
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

// The numbers of these rows that are there. `before`: in front of their names in errors.
template <class Of, std::size_t N>
void read_numbers(const Json& json, const std::array<NumberField<Of>, N>& rows, Of& of, std::string_view before = "") {
  for (const NumberField<Of>& row : rows) {
    const auto it = json.find(std::string(row.name));
    if (it == json.end()) continue;
    const std::optional<std::int64_t> number = whole_number_in(*it);
    if (!number || !row.allows(*number))
      throw Malformed(
          number_problem(fmt::format("{}{}", before, row.name), value_in_words(*it), row.lowest, row.highest));
    row.set(of, *number);
  }
}

void require_member(const Json& json, const char* key) {
  if (!json.contains(key)) throw Malformed(fmt::format("`{}` is missing", key));
}

Facts get_facts(const Json& json) {
  Facts facts;
  const auto it = json.find("facts");
  if (it == json.end()) return facts;
  const auto is_fact = [](const Json& pair) {
    return pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string();
  };
  if (!it->is_array() || !std::all_of(it->begin(), it->end(), is_fact))
    throw Malformed(R"(`facts` must be a list of pairs of texts, [["key", "value"]])");
  for (const Json& pair : *it) facts.push_back({pair[0].get<std::string>(), pair[1].get<std::string>()});
  return facts;
}

// The fields of a struct, of those that are there. Numbers are small enough to be added up.
template <class T>
void read_value(const Json& json, std::string_view name, T& into);

[[noreturn]] void wrong_value(std::string_view name, const Json& json, std::string_view wanted) {
  throw Malformed(fmt::format("`{}` is {}, and must be {}", name, value_in_words(json), wanted));
}

template <HasFields T>
void read_fields(const Json& json, std::string_view name, T& into) {
  if (!json.is_object()) wrong_value(name, json, "an object");
  for (auto it = json.begin(); it != json.end(); ++it) {
    const std::string& key = it.key();
    const Json& value = it.value();
    bool known = false;
    for_each_field<T>([&](const auto& field) {
      if (field.name != key) return;
      known = true;
      read_value(value, field.name, into.*field.member);
    });
    if (!known) throw Malformed(fmt::format("`{}` has no `{}`", name, shown(key)));
  }
}

std::int64_t read_whole_number(const Json& json, std::string_view name, std::int64_t lowest, std::int64_t highest) {
  const std::optional<std::int64_t> number = whole_number_in(json);
  if (!number || *number < lowest || *number > highest)
    throw Malformed(number_problem(name, value_in_words(json), lowest, highest));
  return *number;
}

template <class T>
struct is_list : std::false_type {};
template <class T>
struct is_list<std::vector<T>> : std::true_type {};

template <class T>
void read_value(const Json& json, std::string_view name, T& into) {
  constexpr std::int64_t most = most_recorded_calls;
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) wrong_value(name, json, "true or false");
    into = json.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) wrong_value(name, json, "a text");
    into = json.get<std::string>();
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (!json.is_number_unsigned()) wrong_value(name, json, "a whole number from 0 on");
    into = json.get<std::uint64_t>();
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    into = read_whole_number(json, name, -most, most);
  } else if constexpr (std::is_same_v<T, int>) {
    into = static_cast<int>(
        read_whole_number(json, name, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  } else if constexpr (std::is_same_v<T, Time>) {
    into.ps = read_whole_number(json, name, earliest_recorded_ps, latest_recorded_ps);
  } else if constexpr (NamedEnum<T>) {
    if (!json.is_string()) wrong_value(name, json, "a text");
    into = enum_of<T>(json.get<std::string>());
  } else if constexpr (is_list<T>::value) {
    if (!json.is_array()) wrong_value(name, json, "a list");
    for (const Json& item : json) read_value(item, name, into.emplace_back());
  } else {
    read_fields(json, name, into);
  }
}

Site get_site(const Json& json, const char* key) {
  Site site;
  const auto it = json.find(key);
  if (it == json.end()) return site;
  if (!it->is_object()) throw Malformed(fmt::format("`{}` is {}, and must be an object", key, value_in_words(*it)));
  site.op = get_text(*it, "op", "");
  read_numbers(*it, site_numbers, site, fmt::format("{}.", key));
  site.phase = enum_of<Phase>(get_text(*it, "phase", std::string(name_of(Phase::none))));
  if (const auto origin = it->find("origin"); origin != it->end()) {
    CallOrigin read;
    read_fields(*origin, "origin", read);
    site.origin = std::move(read);
  }
  return site;
}

Code get_code(const Json& json, const char* key) {
  const std::string name = get_text(json, key, std::string(name_of(Code::internal)));
  const std::optional<Code> code = code_named(name);
  if (!code) throw Malformed(fmt::format("`{}` is not an error code", shown(name)));
  return *code;
}

Call read_call(const Json& json) {
  Call call;
  require_member(json, "id");
  read_numbers(json, call_numbers, call);
  call.layer = enum_of<Layer>(required_text(json, "layer"));
  call.name = required_text(json, "name");
  call.group = get_text(json, "group", call.group);
  call.purpose.kind = enum_of<PurposeKind>(get_text(json, "purpose", std::string(name_of(call.purpose.kind))));
  call.purpose.detail = get_text(json, "purpose_detail", {});
  read_numbers(json, purpose_numbers, call.purpose);
  call.state = enum_of<CallState>(required_text(json, "state"));
  call.site = get_site(json, "site");
  const std::string dtype = get_text(json, "dtype", std::string(name_of(call.dtype)));
  const std::string op = get_text(json, "op", std::string(name_of(call.op)));
  if (!dtype_named(dtype)) throw Malformed(fmt::format("`{}` is not an element type", shown(dtype)));
  if (!reduce_op_named(op)) throw Malformed(fmt::format("`{}` is not a reduce operation", shown(op)));
  call.dtype = *dtype_named(dtype);
  call.op = *reduce_op_named(op);
  call.async = get_flag(json, "async", call.async);
  if (const auto details = json.find("details"); details != json.end()) {
    CallDetails read;
    read_fields(*details, "details", read);
    call.details = std::move(read);
  }
  call.error = get_code(json, "error");
  call.message = get_text(json, "message", call.message);
  if (const auto problem = problem_of(call)) throw Malformed(*problem);
  return call;
}

Note read_note(const Json& json) {
  Note note;
  read_numbers(json, note_numbers, note);
  const std::string kind = required_text(json, "kind");
  std::optional<NoteBody> body = note_of_kind(kind);
  if (!body) throw Malformed(fmt::format("`{}` is not a kind of note", shown(kind)));
  if (const auto attributes = json.find("attributes"); attributes != json.end())
    std::visit([&](auto& read) { read_fields(*attributes, "attributes", read); }, *body);
  note.body = std::move(*body);
  note.site = get_site(json, "site");
  return note;
}

double read_number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const auto text = json.get<std::string>();
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Malformed(fmt::format("`{}` is not a number", shown(text)));
  return std::bit_cast<double>(bits);
}

// Reads the identity of the rank and how it ended: everything but its calls and notes.
void read_rank(const Json& json, RankLog& log) {
  require_member(json, "rank");
  read_numbers(json, log_numbers, log);
  log.end = enum_of<RankEnd>(required_text(json, "end"));
  if (const auto it = json.find("error"); it != json.end())
    log.error = {get_code(*it, "code"), get_text(*it, "message", ""), get_facts(*it)};
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

namespace {

// Describes the error in the text, without the library's names for it.
std::string reason(const std::exception& e) {
  if (const auto* syntax = dynamic_cast<const Json::parse_error*>(&e))
    return fmt::format("invalid JSON at byte {}", syntax->byte);
  if (dynamic_cast<const Json::type_error*>(&e) != nullptr) return "a value has the wrong type";
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) return "it does not fit into memory";
  const std::string_view text = e.what();
  const std::size_t name = text.find("] ");
  return std::string(dynamic_cast<const Json::exception*>(&e) != nullptr && name != text.npos ? text.substr(name + 2)
                                                                                              : text);
}

constexpr std::array result_numbers{time_field("step_time_ps", &RankResult::step_time)};

// Why a record of another version cannot be read; nothing when it is of this one, or does not say.
std::optional<std::string> other_version(const Json& json) {
  const auto version = json.find("pdsim_record");
  if (version == json.end() || *version == record_version) return std::nullopt;
  return fmt::format("it has version {}, but this pdsim reads version {}", value_in_words(*version), record_version);
}

}  // namespace

Result<RankResult> rank_result_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || !json.contains("pdsim_record")) throw Malformed("it is not a flight record");
    if (const auto other = other_version(json)) throw Malformed(*other);
    RankResult result;
    result.log = read_log(json);
    read_numbers(json, result_numbers, result);
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

const std::array run_numbers{
    time_field("deadlock_ps", &RunRecord::deadlock_at),
    time_field("elapsed_ps", &RunRecord::elapsed),
    NumberField<RunRecord>{"wall_ns", &RunRecord::wall_ns, 0, latest_recorded_ps / 1000},
};

void read_run(const Json& json, RunRecord& run) {
  run.deadlocked = get_flag(json, "deadlocked", false);
  read_numbers(json, run_numbers, run);
  const auto it = json.find("watchdog");
  if (it == json.end()) return;
  const auto is_text = [](const Json& item) { return item.is_string(); };
  if (!it->is_array() || !std::all_of(it->begin(), it->end(), is_text))
    throw Malformed("`watchdog` must be a list of texts");
  for (const Json& item : *it) run.watchdog.push_back(printable_lines(item.get<std::string>()));
}

// It is read elsewhere (record_origin.h), where what is wrong counts as missing.
void check_origin(const Json& json) {
  for (const char* key : {"scenario", "variant", "file", "world", "source"}) (void)get_text(json, key, {});
  if (const auto seed = json.find("seed"); seed != json.end() && !seed->is_number_unsigned())
    throw Malformed(fmt::format("`seed` is {}, and must be a whole number from 0 to {}", value_in_words(*seed),
                                std::numeric_limits<std::uint64_t>::max()));
}

// A parser takes memory for each level, of which an event has a few.
bool is_nested_too_deep(std::string_view text) {
  constexpr int most_levels = 64;
  int levels = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size() && levels <= most_levels; ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++levels;
    if (!quoted && (c == ']' || c == '}')) --levels;
  }
  return levels > most_levels;
}

// The lines of a rank in one of its launches.
struct RankLines {
  RankLog log;
  std::vector<int> numbers;  // of its calls
  int first = 0;
  bool ended = false;
};

// Reads line after line; one that is wrong costs only itself.
class RecordLines {
 public:
  Result<SavedRun> read(std::string_view text) {
    int number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++number;
      if (line.empty()) continue;
      if (is_nested_too_deep(line)) {
        saved_.left_out.add(fmt::format("line {} is not an event of a flight record: it is nested too deep", number));
        continue;
      }
      try {
        read_line(Json::parse(line), number);
      } catch (const std::exception& e) {
        saved_.left_out.add(fmt::format("line {} is not an event of a flight record: {}", number, reason(e)));
      }
    }
    if (other_version_)
      return wrong(fmt::format("the flight record cannot be read: {}; record the run again", *other_version_));
    leave_out_launches();
    if (ranks_.empty())
      return wrong(saved_.left_out.empty() ? "the file holds no event of any rank" : saved_.left_out.named().front());
    return put_together();
  }

 private:
  using Key = std::pair<int, Rank>;  // the launch, negative so that the newest is first, and the rank

  static Error wrong(std::string why) { return {Code::input_invalid, std::move(why), {}}; }

  void read_line(const Json& json, int number) {
    if (!json.is_object()) throw Malformed("it is not a JSON object");
    const std::string event = required_text(json, "event");
    if (event == "origin") return check_origin(json);
    if (event == "run") {
      other_version_ = other_version(json);
      return read_run(json, saved_.run);
    }
    if (event != "call" && event != "note" && event != "end")
      throw Malformed(fmt::format("`{}` is not one of origin, run, call, note, end", shown(event)));
    RankLog whose;
    require_member(json, "rank");
    read_numbers(json, log_numbers, whose);
    const Key key{-whose.launch, whose.rank};
    const auto known = ranks_.find(key);
    RankLines next = known == ranks_.end() ? RankLines{{}, {}, number, false} : RankLines{};
    RankLines& lines = known == ranks_.end() ? next : known->second;
    read_event(json, event, number, lines);
    if (known == ranks_.end()) ranks_.emplace(key, std::move(next));
  }

  static void read_event(const Json& json, const std::string& event, int number, RankLines& lines) {
    if (event == "call") {
      Call call = read_call(json);
      if (!lines.log.calls.empty() && call.id <= lines.log.calls.back().id)
        throw Malformed(
            number_problem("id", std::to_string(call.id), lines.log.calls.back().id + 1, most_recorded_calls));
      make_printable(call);
      lines.log.calls.push_back(std::move(call));
      lines.numbers.push_back(number);
    } else if (event == "note") {
      lines.log.notes.push_back(read_note(json));
      make_printable(lines.log.notes.back());
    } else {
      read_rank(json, lines.log);
      make_printable(lines.log);
      lines.ended = true;
    }
  }

  // Every rank of a launch has an `end`, unless the file was cut short: a launch without any has a wrong number.
  void leave_out_launches() {
    std::set<int> ended;
    for (const auto& [key, lines] : ranks_)
      if (lines.ended) ended.insert(key.first);
    if (ended.empty()) return;
    for (auto it = ranks_.begin(); it != ranks_.end();) {
      if (ended.count(it->first.first) != 0) {
        ++it;
        continue;
      }
      saved_.left_out.add(fmt::format("line {}: launch {} of rank {} has no `end`", it->second.first, -it->first.first,
                                      it->first.second));
      it = ranks_.erase(it);
    }
  }

  Result<SavedRun> put_together() {
    RunRecord& run = saved_.run;
    const int last = ranks_.begin()->first.first;
    const auto size = static_cast<std::size_t>(
        std::count_if(ranks_.begin(), ranks_.end(), [&](const auto& item) { return item.first.first == last; }));
    for (auto& [key, lines] : ranks_) {
      leave_out_strangers(lines, size);
      lines.log.rank = key.second;
      lines.log.launch = -key.first;
      if (key.first != last) {
        run.earlier.push_back({std::move(lines.log), {}});
      } else if (key.second != static_cast<Rank>(run.ranks.size())) {
        return wrong(fmt::format("the record of rank {} is missing; line {} is of rank {}", run.ranks.size(),
                                 lines.first, key.second));
      } else {
        run.ranks.push_back({std::move(lines.log), {}});
      }
    }
    run.watchdog.resize(std::min(run.watchdog.size(), run.ranks.size()));
    return std::move(saved_);
  }

  void leave_out_strangers(RankLines& lines, std::size_t world_size) {
    std::vector<Call> kept;
    for (std::size_t i = 0; i < lines.log.calls.size(); ++i) {
      if (const auto problem = stranger_in(lines.log.calls[i], world_size))
        saved_.left_out.add(fmt::format("line {} is not an event of a flight record: {}", lines.numbers[i], *problem));
      else
        kept.push_back(std::move(lines.log.calls[i]));
    }
    lines.log.calls = std::move(kept);
  }

  SavedRun saved_;
  std::optional<std::string> other_version_;
  std::map<Key, RankLines> ranks_;
};

}  // namespace

Result<SavedRun> run_from_jsonl(std::string_view text) { return RecordLines().read(text); }

}  // namespace pdsim::scenarios
