// Dumps as texts: a JSON value says what is in them, and both forms are made of it.

#include "scenarios/records/pytorch/write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <bit>

namespace pdsim::scenarios::pytorch {
namespace {

using Json = nlohmann::ordered_json;
enum class Form : std::uint8_t { pickle, json };

// An unknown time is None in pickles and 0 in JSON.
Json time_json(std::int64_t ns, Form form) { return ns == 0 && form == Form::pickle ? Json() : Json(ns); }

Json entry_json(const Entry& e, Form form) {
  Json frames = Json::array();
  for (const Frame& frame : *e.frames)
    frames.push_back(Json{{"name", frame.name}, {"filename", frame.file}, {"line", frame.line}});
  return Json{{"frames", std::move(frames)},
              {"record_id", e.record_id},
              {"pg_id", e.pg_id},
              {"process_group", Json::array({e.group, e.group_desc})},
              {"collective_seq_id", e.collective_seq},
              {"p2p_seq_id", e.p2p_seq},
              {"op_id", e.op_id},
              {"profiling_name", e.name},
              {"time_created_ns", e.created_ns},
              {"input_sizes", e.input_sizes},
              {"input_dtypes", *e.input_dtypes},
              {"output_sizes", e.output_sizes},
              {"output_dtypes", *e.output_dtypes},
              {"state", entry_state_names[static_cast<std::size_t>(e.state)]},
              {"time_discovered_started_ns", time_json(e.started_ns, form)},
              {"time_discovered_completed_ns", time_json(e.completed_ns, form)},
              {"retired", e.retired},
              {"timeout_ms", e.timeout_ms},
              {"is_p2p", e.is_p2p}};
}

Json dump_json(const Dump& dump, Form form) {
  Json groups = Json::object(), status = Json::object(), entries = Json::array();
  for (const Group& group : dump.groups)
    groups[group.name] =
        Json{{"name", group.name}, {"desc", group.desc}, {"ranks", fmt::format("[{}]", fmt::join(group.ranks, ", "))}};
  const auto number = [form](std::int64_t n) { return form == Form::json ? Json(std::to_string(n)) : Json(n); };
  for (const GroupStatus& row : dump.status)
    status[row.pg_id] = Json{{"last_enqueued_collective", number(row.enqueued)},
                             {"last_started_collective", number(row.started)},
                             {"last_completed_collective", number(row.completed)}};
  for (const Entry& entry : dump.entries) entries.push_back(entry_json(entry, form));
  return Json{{"version", dump.version},
              {"pg_config", std::move(groups)},
              {"pg_status", std::move(status)},
              {"entries", std::move(entries)}};
}

void put_little_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

void put_integer(std::string& out, std::int64_t value) {
  if (value >= 0 && value < 256) {
    out += 'K';
    put_little_endian(out, static_cast<std::uint64_t>(value), 1);
  } else if (value == static_cast<std::int32_t>(value)) {
    out += 'J';
    put_little_endian(out, static_cast<std::uint64_t>(value), 4);
  } else {
    out += "\x8a\x08";
    put_little_endian(out, static_cast<std::uint64_t>(value), 8);
  }
}

void put_text(std::string& out, const std::string& text) {
  out += 'X';
  put_little_endian(out, text.size(), 4);
  out += text;
}

// The levels of a dump, and no more: it recurses six deep.
void put_pickle(std::string& out, const Json& json, bool as_tuple = false) {
  if (json.is_null()) {
    out += 'N';
  } else if (json.is_boolean()) {
    out += json.get<bool>() ? '\x88' : '\x89';
  } else if (json.is_number_integer()) {
    put_integer(out, json.get<std::int64_t>());
  } else if (json.is_string()) {
    put_text(out, json.get_ref<const std::string&>());
  } else if (json.is_array()) {
    out += as_tuple ? "(" : "](";
    for (const Json& item : json) put_pickle(out, item);
    out += as_tuple ? 't' : 'e';
  } else {
    out += "}(";
    for (const auto& [key, value] : json.items()) {
      put_text(out, key);
      put_pickle(out, value, key == "process_group");
    }
    out += 'u';
  }
}

}  // namespace

std::string pickle_text(const Dump& dump) {
  std::string out("\x80\x02");
  put_pickle(out, dump_json(dump, Form::pickle));
  return out + '.';
}

std::string json_text(const Dump& dump) {
  return dump_json(dump, Form::json).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pdsim::scenarios::pytorch
