// json_schema (loader.h): the tables of the language as a JSON Schema (draft 2020-12), for editors.
#include "core/base/errors.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/loader.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/sections.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <string>

namespace pdsim::scenarios {
namespace {

using language::Group;
using language::Key;
using language::Type;
using Json = nlohmann::ordered_json;

Json reference(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

Json schema_of(const Key& key);

Json words(std::span<const std::string_view> values) {
  Json list = Json::array();
  for (const std::string_view value : values) list.push_back(std::string(value));
  return {{"enum", list}};
}

Json number(const char* type, const Key& key) {
  Json out{{"type", type}};
  if (key.low > std::numeric_limits<std::int64_t>::min()) out["minimum"] = key.low;
  if (key.high < std::numeric_limits<std::int64_t>::max()) out["maximum"] = key.high;
  return out;
}

Json mapping(std::span<const Key> keys) {
  Json properties = Json::object(), required = Json::array();
  for (const Key& key : keys) {
    properties[std::string(key.name)] = schema_of(key);
    if (key.required) required.push_back(std::string(key.name));
  }
  Json out{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = required;
  return out;
}

bool may_stand_alone(const Key& row) {
  if (row.type == Type::nothing) return true;
  if (row.type != Type::group || row.group == nullptr) return false;
  for (const Key& key : row.group->keys)
    if (key.required) return false;
  return true;
}

// One entry of `program`, of `faults`, a layer: exactly one of the rows, beside the ordinary keys.
Json choice(const Group& group) {
  Json out = mapping(group.keys);
  Json one = Json::array(), names = Json::array();
  for (const Key& row : group.one_of) {
    Json value = schema_of(row);
    if (may_stand_alone(row) && row.type == Type::group)
      value = {{"description", std::string(row.help)}, {"anyOf", Json::array({value, {{"type", "null"}}})}};
    out["properties"][std::string(row.name)] = value;
    one.push_back({{"required", Json::array({std::string(row.name)})}});
    if (may_stand_alone(row)) names.push_back(std::string(row.name));
  }
  out["oneOf"] = one;
  if (!group.bare || names.empty()) return out;
  return {{"anyOf", Json::array({{{"enum", names}}, out})}};
}

Json group_schema(const Group& group) { return group.one_of.empty() ? mapping(group.keys) : choice(group); }

Json shape_schema(const Key& key) {
  switch (key.type) {
    case Type::nothing:
      return {{"type", "null"}};
    case Type::text:  // what YAML takes for a number or a boolean is a text all the same
      return {{"type", Json::array({"string", "number", "boolean"})}};
    case Type::name:
      return reference("name");
    case Type::word:
      return words(key.choices);
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::integer:
      if (!key.choices.empty()) return {{"anyOf", Json::array({words(key.choices), number("integer", key)})}};
      return number("integer", key);
    case Type::decimal:
      return number("number", key);
    case Type::duration:
      return reference("duration");
    case Type::size:
      return reference("size");
    case Type::rate:
      return reference("rate");
    case Type::drift:
      return reference("drift");
    case Type::flops:
      return reference("flops");
    case Type::flop_rate:
      return reference("flop_rate");
    case Type::int_set:
      return reference("int_set");
    case Type::widths:
      return {{"type", "array"},
              {"items", {{"type", "integer"}, {"minimum", 1}, {"maximum", limits::width}}},
              {"minItems", 2},
              {"maxItems", 2}};
    case Type::counts:
      return {{"type", "array"}, {"items", number("integer", key)}, {"minItems", 1}};
    case Type::decimals:
      return {{"type", "array"}, {"items", {{"type", "number"}}}};
    case Type::rows:
      return {{"anyOf", Json::array({words(key.choices),
                                     Json{{"type", "array"},
                                          {"items", {{"type", "array"}, {"items", {{"type", "number"}}}}},
                                          {"minItems", 1}}})}};
    case Type::names:
      return {
          {"type", "array"}, {"items", key.choices.empty() ? reference("name") : words(key.choices)}, {"minItems", 1}};
    case Type::values:
      return {{"type", "array"}, {"items", reference("value")}};
    case Type::shapes:
      return {
          {"anyOf", Json::array({Json{{"type", "integer"}, {"minimum", 0}, {"maximum", limits::sized_elements}},
                                 {{"type", "array"},
                                  {"items", {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}}}}})}};
    case Type::rank_groups:
      return {{"type", "array"}, {"items", {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}}}};
    case Type::group:
      if (key.choices.empty()) return group_schema(*key.group);
      return {{"anyOf", Json::array({words(key.choices), group_schema(*key.group)})}};
    case Type::groups:
      return {{"type", "array"}, {"items", group_schema(*key.group)}};
    case Type::selectors:
      return reference("when");
    case Type::operations:
      return {{"type", "array"}, {"items", reference("operation")}};
    case Type::named:
      return {{"type", "object"},
              {"propertyNames", reference("name")},
              {"additionalProperties", schema_of(*key.element)},
              {"minProperties", 1}};
    case Type::settings:
      return {{"type", "object"}, {"minProperties", 1}};
  }
  return Json::object();
}

Json schema_of(const Key& key) {
  Json out = shape_schema(key);
  std::string about(key.help);
  if (const std::string stated = language::default_of(key); !stated.empty()) about += " (default " + stated + ")";
  out["description"] = about;
  return out;
}

Json quantity(const char* units) {
  return {{"type", "string"}, {"pattern", std::string("^(0|[1-9][0-9]*)(\\.[0-9]+)?(") + units + ")$"}};
}

Json definitions() {
  Json selector = mapping(language::selector.keys);
  Json defs;
  defs["name"] = {{"type", "string"}, {"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}, {"maxLength", 100}};
  defs["duration"] = quantity("ps|ns|us|ms|s|min");
  defs["size"] = quantity("B|kB|MB|GB|KiB|MiB|GiB");
  defs["rate"] = quantity("(kB|MB|GB|MiB|GiB)/s|(Mbit|Gbit)/s");
  defs["flops"] = quantity("(k|M|G|T|P)?FLOP");
  defs["flop_rate"] = quantity("(M|G|T|P)FLOP/s");
  defs["drift"] = quantity("ppm");
  defs["int_set"] = {
      {"description", "3, [0, 2], 1..3, 2.., ..3, even, odd, all or not 0"},
      {"anyOf", Json::array({{{"type", "integer"}, {"minimum", 0}},
                             {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}, {"minItems", 1}},
                             {{"type", "string"},
                              {"pattern",
                               "^((0|[1-9][0-9]*)|(0|[1-9][0-9]*)\\.\\.(0|[1-9][0-9]*)?|\\.\\.(0|[1-9][0-9]*)|even|odd|"
                               "all|not (0|[1-9][0-9]*))$"}}})}};
  defs["value"] = {
      {"description", "null, true, 3, 0.5, text, [1, 2], {rref: label} or {tensor: [1, 2]}"},
      {"anyOf",
       Json::array({Json{{"type", Json::array({"null", "boolean", "number", "string"})}},
                    {{"type", "array"}, {"items", reference("value")}},
                    {{"type", "object"},
                     {"properties",
                      {{"rref", reference("name")}, {"tensor", {{"type", "array"}, {"items", {{"type", "number"}}}}}}},
                     {"additionalProperties", false},
                     {"minProperties", 1},
                     {"maxProperties", 1}}})}};
  defs["when"] = {{"anyOf", Json::array({selector, {{"type", "array"}, {"items", selector}, {"minItems", 1}}})}};
  defs["operation"] = group_schema(language::operation_entry());
  return defs;
}

}  // namespace

std::string json_schema() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "pdsim scenario"}};
  schema.update(mapping(language::document_group.keys));
  schema["properties"]["summary"]["maxLength"] = limits::summary_characters;
  schema["oneOf"] = Json::array({{{"required", {"expect"}}}, {{"required", {"variants"}}}});
  Json flat{{"required", {"ranks"}}, {"not", {{"anyOf", Json::array()}}}};
  for (const char* key : {"nodes", "ranks_per_node", "intra", "inter"})
    flat["not"]["anyOf"].push_back({{"required", {key}}});
  Json levels{{"required", {"nodes", "ranks_per_node"}}, {"not", {{"anyOf", Json::array()}}}};
  for (const char* key : {"ranks", "link"}) levels["not"]["anyOf"].push_back({{"required", {key}}});
  schema["properties"]["world"]["oneOf"] = Json::array({flat, levels});
  schema["$defs"] = definitions();
  return schema.dump(2) + "\n";
}

}  // namespace pdsim::scenarios
