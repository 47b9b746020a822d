#include "tools/scenarios/sweep.h"

#include "scenarios/run/run_scenarios.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::tools {
namespace {

using scenarios::Scenario;

constexpr const char* communication = "logging.backward_comm_time";
constexpr const char* overlap = "logging.backward_compute_comm_overlap_time";

Scenario with_cap(const Scenario& scenario, Bytes cap) {
  Scenario s = scenario;
  s.ddp.options.bucket_cap = cap;
  s.ddp.given["bucket_cap"] = s.ddp.mark.line > 0 ? s.ddp.mark : scenarios::Mark{1, 1, 1};
  s.expect = {};
  s.real.clear();
  s.expect.step_time = scenarios::Expect::TimeRange{};
  s.expect.buckets = scenarios::Expect::Buckets{};
  for (const char* name : {communication, overlap}) {
    scenarios::ExpectValue value;
    value.tensor = name;
    s.expect.values.push_back(value);
  }
  return s;
}

const std::vector<double>* value_of(const RankResult& rank, std::string_view name) {
  const auto found = rank.values.find(std::string(name));
  return found == rank.values.end() || found->second.empty() ? nullptr : &found->second;
}

Time nanoseconds(const RankResult& rank, const char* name) {
  const std::vector<double>* value = value_of(rank, name);
  return value != nullptr ? Time{static_cast<std::int64_t>(value->front()) * 1000} : Time{};
}

Result<SweepPoint> point_of(const scenarios::Report& report, Bytes cap) {
  const auto wrong = [&](std::string what) {
    return Error{Code::input_invalid, fmt::format("with a cap of {} {}", to_string(cap), what), {}};
  };
  if (report.outcome != scenarios::Outcome::ok) {
    const std::string why = report.errors.empty() ? "" : ": " + report.errors.front().message;
    return wrong(fmt::format("the run ends with {}{}", name_of(report.outcome), why));
  }
  SweepPoint point;
  point.cap = cap;
  for (const RankResult& rank : report.run.ranks) point.step = std::max(point.step, rank.step_time);
  const RankResult& first = report.run.ranks.front();
  const std::vector<double>* buckets = value_of(first, scenarios::rebuilt_buckets_value);
  if (buckets == nullptr) buckets = value_of(first, scenarios::initial_buckets_value);
  if (buckets == nullptr || point.step.ps == 0) return wrong("no step of a wrapped model is trained");
  point.buckets = buckets->size();
  point.communication = nanoseconds(first, communication);
  point.exposed = point.communication - nanoseconds(first, overlap);
  return point;
}

}  // namespace

Result<std::vector<SweepPoint>> sweep_caps(const Scenario& scenario, const std::vector<Bytes>& caps) {
  std::string problem;
  const scenarios::WorldRow* world = scenarios::world_named("sim", problem);
  if (world == nullptr) return Error{Code::internal, problem, {}};
  std::vector<SweepPoint> points;
  for (const Bytes cap : caps) {
    const Scenario capped = with_cap(scenario, cap);
    const Result<scenarios::Report> report = scenarios::run_scenario(capped, *world, {});
    if (!report.ok()) return report.error();
    const Result<SweepPoint> point = point_of(*report, cap);
    if (!point.ok()) return point.error();
    points.push_back(*point);
  }
  return points;
}

std::string sweep_text(const std::string& title, const std::vector<SweepPoint>& points) {
  std::string text = fmt::format("{}: the last step, by bucket_cap\n\n{:>12}  {:>7}  {:>12}  {:>14}  {:>12}\n", title,
                                 "bucket_cap", "buckets", "step", "communication", "not hidden");
  const auto fastest = std::min_element(points.begin(), points.end(),
                                        [](const SweepPoint& a, const SweepPoint& b) { return a.step < b.step; });
  for (auto p = points.begin(); p != points.end(); ++p)
    text += fmt::format("{:>12}  {:>7}  {:>12}  {:>14}  {:>12}{}\n", to_string(p->cap), p->buckets, to_string(p->step),
                        to_string(p->communication), to_string(p->exposed), p == fastest ? "  fastest" : "");
  return text;
}

}  // namespace pdsim::tools
