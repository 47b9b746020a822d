// json_output_schema and json_output_page (json_forms.h): two readers of the table of forms.
#include "tools/json/json_forms.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

using SchemaJson = nlohmann::ordered_json;

SchemaJson leaf_schema(std::string_view type) { return {{"type", std::string(type)}}; }

SchemaJson schema_of_type(JsonType type) {
  switch (type) {
    case JsonType::object:
      return {{"type", "object"}, {"properties", SchemaJson::object()}, {"additionalProperties", false}};
    case JsonType::text:
      return leaf_schema("string");
    case JsonType::integer:
      return leaf_schema("integer");
    case JsonType::number:
      return leaf_schema("number");
    case JsonType::boolean:
      return leaf_schema("boolean");
    case JsonType::texts:
      return {{"type", "array"}, {"items", leaf_schema("string")}};
    case JsonType::integers:
      return {{"type", "array"}, {"items", leaf_schema("integer")}};
    case JsonType::numbers:
      return {{"type", "array"}, {"items", leaf_schema("number")}};
    case JsonType::text_or_null:
      return {{"type", SchemaJson::array({"string", "null"})}};
    case JsonType::number_or_null:
      return {{"type", SchemaJson::array({"number", "null"})}};
  }
  return {};
}

std::string_view name_of_type(JsonType type) {
  constexpr std::string_view names[] = {"object", "text",        "integer",         "number",       "boolean",
                                        "texts",  "integers", "numbers", "text or null", "number or null"};
  return names[static_cast<std::size_t>(type)];
}

std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> steps(1);
  for (const char c : path)
    if (c == '.')
      steps.emplace_back();
    else
      steps.back() += c;
  return steps;
}

// Where a row's members belong: the object itself, or the elements of a list.
SchemaJson& inside_of(SchemaJson& member) { return member["type"] == "array" ? member["items"] : member; }

void add_member(SchemaJson& schema, const JsonMember& row) {
  std::string_view path = row.path;
  const bool optional = path.ends_with("?");
  if (optional) path.remove_suffix(1);
  std::vector<std::string> steps = steps_of(path);
  SchemaJson* at = &schema;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const std::string name = steps[i].substr(0, steps[i].find('['));
    at = &inside_of((*at)["properties"].at(name));
  }
  std::string name = steps.back();
  const bool list = name.ends_with("[]");
  if (list) name.resize(name.size() - 2);
  SchemaJson value = schema_of_type(row.type);
  if (list) value = {{"type", "array"}, {"items", value}};
  value["description"] = std::string(row.help);
  if (name == "*") {
    (*at)["additionalProperties"] = value;
    return;
  }
  (*at)["properties"][name] = value;
  if (!optional) (*at)["required"].push_back(name);
}

SchemaJson schema_of_form(const JsonForm& form) {
  SchemaJson schema = schema_of_type(JsonType::object);
  schema["description"] = fmt::format("{}: {}", form.command, form.when);
  for (const JsonMember& row : form.members) add_member(schema, row);
  return schema;
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string table_of(const JsonForm& form) {
  std::string text = "\n| member | type | |\n|---|---|---|\n";
  for (const JsonMember& row : form.members) {
    const bool optional = row.path.ends_with("?");
    const std::string_view path = optional ? row.path.substr(0, row.path.size() - 1) : row.path;
    text += fmt::format("| `{}` | {}{} | {} |\n", path, name_of_type(row.type), optional ? ", may be absent" : "", cell(row.help));
  }
  return text;
}

}  // namespace

std::string json_output_schema() {
  SchemaJson schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                    {"title", "what pdsim prints with --json; $defs has a schema for each command"},
                    {"$defs", SchemaJson::object()}};
  SchemaJson problems;
  for (const JsonForm& form : json_forms()) {
    SchemaJson& of_command = schema["$defs"][std::string(form.command)];
    if (form.command == "problems")
      problems = schema_of_form(form);
    else
      of_command["anyOf"].push_back(schema_of_form(form));
  }
  for (auto& [command, of_command] : schema["$defs"].items())
    if (command == "problems")
      of_command = problems;
    else
      of_command["anyOf"].push_back({{"$ref", "#/$defs/problems"}});
  return schema.dump(2) + "\n";
}

std::string json_output_page() {
  std::string page =
      "# What `--json` prints\n\n"
      "Printed by `pdsim schema --output --markdown`; `pdsim schema --output` is the same as a JSON schema, with a "
      "definition for each command.\n\n"
      "Every command prints one JSON object a line on standard output, and nothing else there; what people read goes to "
      "standard error. `version`\nis the first member. It grows when a member goes or changes its meaning; new members "
      "may come at any time. A command that cannot do\nwhat was asked (exit status 2, 3 or 4) prints one object of "
      "[problems](#problems) instead of its own. Times are in ns, sizes in bytes,\nranks begin at 0 and calls, lines and "
      "columns at 1. A fact that is absent is an absent member.\n";
  std::string_view command;
  for (const JsonForm& form : json_forms()) {
    if (form.command != command) page += fmt::format("\n## {}\n", form.command);
    command = form.command;
    page += fmt::format("\nAn object stands for {}.\n{}", form.when, table_of(form));
  }
  return page;
}

}  // namespace pdsim::tools
