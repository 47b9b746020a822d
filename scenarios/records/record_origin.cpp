#include "scenarios/records/record_origin.h"

#include "core/base/printable.h"

#include <nlohmann/json.hpp>

namespace pdsim::scenarios {
namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

}  // namespace

std::string origin_line(const RecordOrigin& origin) {
  const Json json{{"event", "origin"},      {"scenario", origin.scenario}, {"variant", origin.variant},
                  {"file", origin.file},    {"world", origin.world},       {"seed", origin.seed},
                  {"source", origin.source}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<RecordOrigin> origin_from_jsonl(std::string_view text) {
  const Json json = Json::parse(text.substr(0, text.find('\n')), nullptr, false);
  if (!json.is_object() || text_at(json, "event") != "origin") return std::nullopt;
  RecordOrigin origin{printable(text_at(json, "scenario")),
                      printable(text_at(json, "variant")),
                      printable(text_at(json, "file")),
                      printable(text_at(json, "world")),
                      0,
                      text_at(json, "source")};
  const auto seed = json.find("seed");
  if (seed != json.end() && seed->is_number_unsigned()) origin.seed = seed->get<std::uint64_t>();
  return origin;
}

}  // namespace pdsim::scenarios
