#include "scenarios/worlds/rank_request.h"

#include "scenarios/language/loader.h"
#include "scenarios/plans/own_plan.h"
#include "scenarios/program/session.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

namespace pdsim::scenarios {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, std::variant_size_v<RankRequest>> kinds{"scenario", "timing", "validation",
                                                                               "pairs"};

// The rows: what travels of each request. on_timed does not; a rank of a real world has nobody to report to.
template <class Field>
void fields(ScenarioRequest& r, Field&& field) {
  field("file", r.file);
  field("text", r.text);
  field("variant", r.variant);
  field("seed", r.seed);
}

template <class Field>
void fields(TimingRequest& r, Field&& field) {
  field("collective", r.kind);
  field("algorithm", r.algorithm);
  field("plan_file", r.plan_file);
  field("plan_text", r.plan_text);
  field("dtype", r.dtype);
  field("op", r.op);
  field("root", r.root);
  field("counts", r.counts);
  field("in_place_too", r.in_place_too);
  field("moves_data", r.moves_data);
  field("iterations", r.iterations);
  field("warmup", r.warmup);
  field("checks", r.checks);
  field("align", r.align);
  field("timeout", r.timeout);
  field("raw_forms", r.raw_forms);
  field("blocks", r.blocks);
}

template <class Field>
void fields(ValidationRequest& r, Field&& field) {
  field("collective", r.kind);
  field("algorithm", r.algorithm);
  field("plan_file", r.plan_file);
  field("plan_text", r.plan_text);
  field("dtypes", r.dtypes);
  field("ops", r.ops);
  field("max_bytes", r.max_bytes);
  field("timeout", r.timeout);
}

template <class Field>
void fields(PairRequest& r, Field&& field) {
  field("bytes", r.bytes);
  field("iterations", r.iterations);
  field("warmup", r.warmup);
  field("align", r.align);
  field("moves_data", r.moves_data);
  field("timeout", r.timeout);
}

template <class T>
Json json_of(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return std::string(name_of(value));
  else if constexpr (std::is_same_v<T, Time>)
    return value.ps;
  else
    return value;
}

template <class T>
Json json_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

template <class T>
bool assign(const std::optional<T>& from, T& to) {
  if (from) to = *from;
  return from.has_value();
}

bool read(const Json& json, CollectiveKind& kind) {
  const CollectiveRow* row = json.is_string() ? collective_named(json.get_ref<const std::string&>()) : nullptr;
  if (row != nullptr) kind = row->kind;
  return row != nullptr;
}
bool read(const Json& json, DType& dtype) {
  return json.is_string() && assign(dtype_named(json.get_ref<const std::string&>()), dtype);
}
bool read(const Json& json, ReduceOp& op) {
  return json.is_string() && assign(reduce_op_named(json.get_ref<const std::string&>()), op);
}
bool read(const Json& json, Time& time) {
  if (json.is_number_integer()) time = Time{json.get<std::int64_t>()};
  return json.is_number_integer();
}
bool read(const Json& json, std::string& text) {
  if (json.is_string()) text = json.get<std::string>();
  return json.is_string();
}
bool read(const Json& json, bool& flag) {
  if (json.is_boolean()) flag = json.get<bool>();
  return json.is_boolean();
}
template <class T>
requires std::is_integral_v<T>
bool read(const Json& json, T& number) {
  if (json.is_number_integer()) number = json.get<T>();
  return json.is_number_integer();
}
template <class T>
bool read(const Json& json, std::vector<T>& values) {
  values.clear();
  if (!json.is_array()) return false;
  for (const Json& element : json)
    if (!read(element, values.emplace_back())) return false;
  return true;
}

Error not_understood(std::string_view what) {
  return {Code::input_invalid, fmt::format("the launcher's request is not understood: {}", what), {}};
}

template <std::size_t I = 0>
RankRequest request_of_kind(std::size_t kind) {
  if constexpr (I + 1 < std::variant_size_v<RankRequest>)
    if (kind != I) return request_of_kind<I + 1>(kind);
  return RankRequest(std::in_place_index<I>);
}

Status load(const ScenarioRequest& request, Scenario& scenario) {
  LoadedFile file = load_text(request.file, request.text);
  for (Scenario& variant : file.variants)
    if (variant.variant == request.variant) {
      scenario = std::move(variant);
      scenario.seed = request.seed;
      return {};
    }
  return Error{Code::input_invalid,
               fmt::format("{} has {} errors in the rank's process, or no variant `{}`", request.file, file.errors,
                           request.variant),
               {}};
}

// The caller's own algorithm, of its text or of the program that this machine has at the same place.
template <class Request>
Status bring_plan(Request& request, RequestedProgram& to) {
  if (request.plan_file.empty()) return {};
  const LoadedPlan loaded = request.plan_text.empty() ? load_plan(request.plan_file)
                                                      : plan_of_text(request.plan_file, request.plan_text);
  if (loaded.plan == nullptr) return Error{Code::input_invalid, loaded.sentence, {}};
  to.plan = loaded.plan;
  request.own = &to.plan->algorithm();
  return {};
}

}  // namespace

RankRequest request_of(const Scenario& scenario) {
  return ScenarioRequest{scenario.file, scenario.text == nullptr ? "" : *scenario.text, scenario.variant,
                         scenario.seed};
}

std::string request_text(const RankRequest& request) {
  Json json{{"kind", kinds.at(request.index())}};
  RankRequest copy = request;
  std::visit(
      [&json](auto& r) { fields(r, [&json](const char* key, const auto& value) { json[key] = json_of(value); }); },
      copy);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RankRequest> rank_request_of(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return not_understood("it is not a JSON object");
  std::string kind;
  if (!json.contains("kind") || !read(json["kind"], kind)) return not_understood("it has no kind");
  const auto at = std::find(kinds.begin(), kinds.end(), kind);
  if (at == kinds.end()) return not_understood(fmt::format("unknown kind `{}`", kind));
  RankRequest request = request_of_kind(static_cast<std::size_t>(at - kinds.begin()));
  std::string problem;
  const auto read_field = [&json, &problem](const char* key, auto& value) {
    if (json.contains(key) ? !read(json[key], value) : true) problem = key;
  };
  std::visit([&read_field](auto& r) { fields(r, read_field); }, request);
  if (!problem.empty()) return not_understood(fmt::format("`{}` is missing or has another type", problem));
  return request;
}

Result<std::unique_ptr<RequestedProgram>> program_of(RankRequest request, int ranks) {
  auto requested = std::make_unique<RequestedProgram>();
  requested->request = std::move(request);
  requested->scenario.world.spec.ranks_per_node = ranks;
  struct Make {
    RequestedProgram& to;
    Status operator()(const ScenarioRequest& r) const {
      PDSIM_TRY(load(r, to.scenario));
      to.program = rank_program(to.scenario, WorldKind::real);
      return {};
    }
    Status operator()(TimingRequest& r) const {
      PDSIM_TRY(bring_plan(r, to));
      return to.program = timing_program(r), Status();
    }
    Status operator()(ValidationRequest& r) const {
      PDSIM_TRY(bring_plan(r, to));
      return to.program = validation_program(r), Status();
    }
    Status operator()(const PairRequest& r) const { return to.program = pair_program(r), Status(); }
  };
  PDSIM_TRY(std::visit(Make{*requested}, requested->request));
  return requested;
}

}  // namespace pdsim::scenarios
