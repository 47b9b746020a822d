// What the JSON schema accepts for a scalar the loader accepts, and the other way round: numbers, booleans and texts, plain and quoted.

#include "scenarios/language/check/shape_check.h"
#include "scenarios/language/document/tree.h"
#include "scenarios/language/loader.h"
#include "tests/helpers/json_schema.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

using nlohmann::json;

bool loader_accepts(const std::string& document) {
  language::Problems problems;
  const std::optional<language::Node> root = language::parse(document, problems);
  if (!root) return false;
  language::check_shape(*root, problems);
  return !problems.any_error();
}

struct Place {
  const char* pointer;   // to the schema
  std::string document;  // with @ for the value
};

const std::string head = "pdsim: 1\nname: mine\n";
const std::string tail = "program: [init_process_group]\nexpect: {outcome: ok}\n";

const std::vector<Place> places{
    {"/properties/summary", head + "summary: @\nworld: {ranks: 2}\n" + tail},
    {"/properties/name", "pdsim: 1\nname: @\nsummary: s\nworld: {ranks: 2}\n" + tail},
    {"/properties/seed", head + "summary: s\nseed: @\nworld: {ranks: 2}\n" + tail},
    {"/properties/world/properties/ranks", head + "summary: s\nworld: {ranks: @}\n" + tail},
    {"/properties/world/properties/link/properties/latency",
     head + "summary: s\nworld: {ranks: 2, link: {latency: @}}\n" + tail},
    {"/properties/world/properties/link/properties/header",
     head + "summary: s\nworld: {ranks: 2, link: {header: @}}\n" + tail},
    {"/properties/world/properties/link/properties/bandwidth",
     head + "summary: s\nworld: {ranks: 2, link: {bandwidth: @}}\n" + tail},
    {"/properties/world/properties/link/properties/loss",
     head + "summary: s\nworld: {ranks: 2, link: {loss: @}}\n" + tail},
    {"/properties/world/properties/streams", head + "summary: s\nworld: {ranks: 2, streams: @}\n" + tail},
    {"/properties/world/properties/backend", head + "summary: s\nworld: {ranks: 2, backend: @}\n" + tail},
    {"/$defs/int_set",
     head + "summary: s\nworld: {ranks: 2}\nprogram: [{barrier: , when: {rank: @}}]\nexpect: {outcome: ok}\n"},
};

struct Scalar {
  const char* yaml;
  json value;  // as YAML 1.2 reads it
};

const std::vector<Scalar> scalars{
    {"5", 5},
    {"\"5\"", "5"},
    {"0", 0},
    {"5us", "5us"},
    {"'5us'", "5us"},
    {"05us", "05us"},
    {"2.5", 2.5},
    {"\"2.5\"", "2.5"},
    {"true", true},
    {"\"true\"", "true"},

    {"mine", "mine"},
    {"'mine'", "mine"},
    {"25MiB", "25MiB"},
    {"1GB/s", "1GB/s"},
    {"00MiB", "00MiB"},
    {"even", "even"},
    {"\"even\"", "even"},
    {"1..3", "1..3"},
    {"01..3", "01..3"},
    {"gloo", "gloo"},
    {"\"gloo\"", "gloo"},
    {"-1", -1},
    {"0.25", 0.25},
    {"[0, 1]", json::array({0, 1})},
    {"[\"0\"]", json::array({"0"})},
};

TEST(SchemaAgreement, OfEveryScalarWithTheLoader) {
  const JsonSchema schema(json_schema());
  for (const Place& place : places) {
    for (const Scalar& scalar : scalars) {
      std::string document = place.document;
      document.replace(document.find('@'), 1, scalar.yaml);
      const json items = scalar.value;
      bool accepted = schema.accepts(place.pointer, items.dump());
      if (accepted && items.is_array())  // int_set alone takes lists
        for (const json& item : items) accepted = accepted && item.is_number_integer();
      EXPECT_EQ(loader_accepts(document), accepted) << place.pointer << " " << scalar.yaml;
    }
  }
}

}  // namespace
}  // namespace pdsim::scenarios
