#include "tests/helpers/json_schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>

namespace pdsim {
namespace {

bool is_of_type(const nlohmann::json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "object") return value.is_object();
  return type == "array" && value.is_array();
}

bool schema_accepts(const nlohmann::json& root, const nlohmann::json& schema, const nlohmann::json& value);

bool accepts_members(const nlohmann::json& root, const nlohmann::json& schema, const nlohmann::json& value) {
  using nlohmann::json;
  const json none = json::object();
  const json& known = schema.contains("properties") ? schema.at("properties") : none;
  for (const json& name : schema.value("required", json::array()))
    if (!value.contains(name.get<std::string>())) return false;
  for (const auto& [name, member] : value.items()) {
    if (known.contains(name)) {
      if (!schema_accepts(root, known.at(name), member)) return false;
    } else if (const auto other = schema.find("additionalProperties"); other != schema.end()) {
      if (other->is_boolean() ? !other->get<bool>() : !schema_accepts(root, *other, member)) return false;
    }
  }
  return true;
}

// `root` holds the definitions that `schema` refers to.
bool schema_accepts(const nlohmann::json& root, const nlohmann::json& schema, const nlohmann::json& value) {
  using nlohmann::json;
  if (schema.contains("$ref"))
    return schema_accepts(root, root.at(json::json_pointer(schema.at("$ref").get<std::string>().substr(1))), value);
  if (schema.contains("anyOf"))
    return std::any_of(schema.at("anyOf").begin(), schema.at("anyOf").end(),
                       [&](const json& one) { return schema_accepts(root, one, value); });
  if (schema.contains("enum") &&
      std::find(schema.at("enum").begin(), schema.at("enum").end(), value) == schema.at("enum").end())
    return false;
  if (schema.contains("type")) {
    const json types = schema.at("type").is_array() ? schema.at("type") : json::array({schema.at("type")});
    if (std::none_of(types.begin(), types.end(), [&](const json& t) { return is_of_type(value, t.get<std::string>()); }))
      return false;
  }
  if (value.is_object() && !accepts_members(root, schema, value)) return false;
  if (value.is_array() && schema.contains("items") &&
      std::any_of(value.begin(), value.end(), [&](const json& one) { return !schema_accepts(root, schema.at("items"), one); }))
    return false;
  if (schema.contains("pattern") &&
      !std::regex_search(value.get<std::string>(), std::regex(schema.at("pattern").get<std::string>())))
    return false;
  if (schema.contains("minimum") && value < schema.at("minimum")) return false;
  return !schema.contains("maximum") || value <= schema.at("maximum");
}

}  // namespace

struct JsonSchema::Parsed {
  nlohmann::json root;
};

JsonSchema::JsonSchema(const std::string& text)
    : parsed_(std::make_shared<const Parsed>(Parsed{nlohmann::json::parse(text)})) {}

bool JsonSchema::accepts(const std::string& pointer, const std::string& value) const {
  const nlohmann::json& root = parsed_->root;
  return schema_accepts(root, root.at(nlohmann::json::json_pointer(pointer)), nlohmann::json::parse(value));
}

}  // namespace pdsim
