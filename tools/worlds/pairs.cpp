#include "tools/worlds/pairs.h"

#include "core/collectives/algorithms.h"
#include "core/collectives/collective_shape.h"
#include "scenarios/measure/bench.h"
#include "scenarios/measure/pairs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace pdsim::tools {
namespace {

using Json = nlohmann::ordered_json;
using scenarios::TrialWorld;

std::string line_of(std::string text) { return text.substr(0, text.find_last_not_of(' ') + 1) + "\n"; }

bool has_bandwidth(const LinkFit& fit) { return fit.bandwidth.bytes_per_s > 0; }
std::string bandwidth_text(const LinkFit& fit) { return has_bandwidth(fit) ? to_string(fit.bandwidth) : "not seen"; }

class Writer {
 public:
  Writer(const TrialFlags& flags, const TrialWorld& world, Console& console)
      : json_(flags.json), world_(world), ranks_(flags.ranks), console_(console) {}

  void links(const PairRequest& request, const std::vector<PairTimes>& pairs) {
    if (json_) return links_as_json(request, pairs);
    const Availability here = world_.row->make(world_.row->name)->available();
    std::string text = fmt::format("links of {}{}{}, {} ranks: a message one way\n\n{:<10}", world_.row->name,
                                   here.version.empty() ? "" : " ", here.version, ranks_, "ranks");
    for (const std::int64_t bytes : request.bytes) text += fmt::format("{:>10}", to_string(Bytes{bytes}));
    text += fmt::format("{:>12}{:>14}\n", "latency", "bandwidth");
    for (const PairTimes& pair : pairs) {
      std::string line = fmt::format("{:<10}", fmt::format("{} {}", pair.a, pair.b));
      for (const Time time : pair.one_way) line += fmt::format("{:>10}", to_string(time));
      line += fmt::format("{:>12}{:>14}", to_string(pair.fit.latency), bandwidth_text(pair.fit));
      if (pair.slowness >= slow_link) line += fmt::format("  slow: {:.1f} times the median", pair.slowness);
      text += line_of(line);
    }
    console_.print(text);
  }

  void failure(const std::string& report) {
    if (!json_) return console_.print("\n" + report + "\n");
    console_.print(Json{{"failure", report}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  void link(const LinkFit& fit) {
    if (json_)
      return console_.print(
          Json{{"link", {{"latency", to_string(fit.latency)}, {"bandwidth", to_string(fit.bandwidth)}}}}.dump() + "\n");
    console_.print(fmt::format("\nfor a scenario   world: {{link: {{latency: {}, bandwidth: {}}}}}\n",
                               to_string(fit.latency), to_string(fit.bandwidth)));
  }

  void begin_predictions(double expect) {
    if (json_) return;
    console_.print(fmt::format("\n{:<12} {:<12} {:>10} {:>12} {:>12} {:>7}   at least {}\n", "collective", "algorithm",
                               "bytes", "predicted", "measured", "ratio", expect));
  }

  void prediction(const TimingRequest& request, std::int64_t count, Time predicted, Time measured, double ratio,
                  bool held) {
    const std::int64_t bytes =
        total_elements(request.kind, count, ranks_) * static_cast<std::int64_t>(size_of(request.dtype));
    if (json_) {
      const Json line{{"collective", name_of(request.kind)},
                      {"algorithm", request.algorithm},
                      {"bytes", bytes},
                      {"predicted_us", predicted.us()},
                      {"measured_us", measured.us()},
                      {"ratio", ratio},
                      {"held", held}};
      return console_.print(line.dump() + "\n");
    }
    console_.print(line_of(fmt::format("{:<12} {:<12} {:>10} {:>12} {:>12} {:>7.2f}   {}", name_of(request.kind),
                                       request.algorithm, to_string(Bytes{bytes}), to_string(predicted),
                                       to_string(measured), ratio, held ? "" : "slower than expected")));
  }

 private:
  void links_as_json(const PairRequest& request, const std::vector<PairTimes>& pairs) {
    for (const PairTimes& pair : pairs) {
      Json times = Json::array();
      for (std::size_t i = 0; i < pair.one_way.size(); ++i)
        times.push_back({{"bytes", request.bytes[i]}, {"one_way_us", pair.one_way[i].us()}});
      const Json line{
          {"pair", {pair.a, pair.b}},
          {"latency_us", pair.fit.latency.us()},
          {"bandwidth_GBps",
           has_bandwidth(pair.fit) ? Json(static_cast<double>(pair.fit.bandwidth.bytes_per_s) / 1e9) : Json()},
          {"slowness", pair.slowness},
          {"slow", pair.slowness >= slow_link},
          {"times", std::move(times)}};
      console_.print(line.dump() + "\n");
    }
  }

  bool json_;
  const TrialWorld& world_;
  int ranks_;
  Console& console_;
};

// Plans, whose messages the simulated network sends as the library does; its own collectives are its own affair.
constexpr std::array predicted_kinds{CollectiveKind::all_reduce, CollectiveKind::broadcast, CollectiveKind::all_gather,
                                     CollectiveKind::all_to_all};

constexpr int repeats = 5;  // of each size, of which the fastest counts

std::vector<TimingRequest> predicted_requests(const TrialFlags& flags) {
  std::vector<TimingRequest> requests;
  for (const CollectiveKind kind : predicted_kinds) {
    if (flags.collective != "all" && flags.collective != name_of(kind)) continue;
    TimingRequest request;
    request.kind = kind;
    request.algorithm = std::string(find_algorithm(kind, "auto").value()->name);
    request.in_place_too = false;
    for (const std::int64_t bytes : {4 << 10, 64 << 10, 1 << 20})
      request.counts.push_back(count_of_total(kind, bytes / 4, flags.ranks));
    requests.push_back(request);
  }
  return requests;
}

TimingRequest repeated(TimingRequest request) {
  const std::vector<std::int64_t> once = request.counts;
  for (int i = 1; i < repeats; ++i) request.counts.insert(request.counts.end(), once.begin(), once.end());
  return request;
}

// Of each of `sizes` counts, over its repeated rounds: what disturbs a machine only adds.
std::vector<Time> least_times(const std::vector<TimedRound>& rounds, std::size_t sizes) {
  std::vector<Time> least(sizes, Time::max());
  std::size_t at = 0;
  for (const TimedRound& round : rounds)
    if (!round.in_place) {
      Time& time = least[at++ % sizes];
      time = std::min(time, round.average);
    }
  return least;
}

// Whether all held; an error ends it.
Result<bool> compare(const TrialFlags& flags, TrialWorld& world, const LinkFit& link, double expect, Writer& writer) {
  bool all_held = true;
  writer.begin_predictions(expect);
  for (const TimingRequest& request : predicted_requests(flags)) {
    const TimingRequest measured_request = repeated(request);
    world.scenario.name = fmt::format("bench {} {}", name_of(request.kind), request.algorithm);
    const Result<scenarios::Timed> timed = scenarios::time(world, measured_request);
    if (!timed.ok()) return timed.error();
    if (!timed->failure.empty()) {
      writer.failure(timed->failure);
      return false;
    }
    const std::vector<Time> measured = least_times(timed->rounds, request.counts.size());
    const Result<std::vector<Time>> predicted = scenarios::predict(link, flags.ranks, request);
    if (!predicted.ok()) return predicted.error();
    for (std::size_t i = 0; i < predicted->size(); ++i) {
      const Time expected = (*predicted)[i], took = measured[i];
      const double ratio = static_cast<double>(expected.ps) / static_cast<double>(std::max<std::int64_t>(1, took.ps));
      const bool held = ratio >= expect;
      writer.prediction(request, request.counts[i], expected, took, ratio, held);
      all_held = all_held && held;
    }
  }
  return all_held;
}

}  // namespace

int validate_pairs(const TrialFlags& flags, Trial& trial, std::optional<double> expect, Console& console) {
  if (flags.ranks < 2) {
    console.problem("--pairs and --expect need two ranks at least");
    return exit_wrong_input;
  }
  const bool names_what_is_none = flags.collective != "all" && (!expect || predicted_requests(flags).empty());
  if (names_what_is_none || flags.algorithm != "all" || !flags.dtype.empty() || !flags.op.empty()) {
    console.problem(
        "--pairs times messages, and --expect all_reduce, broadcast, all_gather and all_to_all of f32 by the plans "
        "that auto takes: with --expect, --collective may name one of these; --algorithm, --dtype and --op do not "
        "apply");
    return exit_wrong_input;
  }
  const PairRequest request;
  trial.world.scenario.name = "validate pairs";
  const Result<scenarios::TimedPairs> timed = scenarios::time_pairs(trial.world, request);
  if (!timed.ok()) {
    console.problem(timed.error().message);
    return status_of(timed.error());
  }
  Writer writer(flags, trial.world, console);
  writer.links(request, timed->pairs);
  if (!timed->failure.empty()) {
    writer.failure(timed->failure);
    return exit_did_not_hold;
  }
  bool held = true;
  for (const PairTimes& pair : timed->pairs) held = held && pair.slowness < slow_link;
  const LinkFit link = median_link(request, timed->pairs);
  if (!has_bandwidth(link)) {
    const std::string shortest = to_string(Bytes{request.bytes.front()}),
                      longest = to_string(Bytes{request.bytes.back()});
    writer.failure(
        fmt::format("no bandwidth can be told: messages of {} took no longer than those of {}. ", longest, shortest) +
        "If other work disturbed the machine, time the links again when it is idle");
    return exit_did_not_hold;
  }
  writer.link(link);
  if (expect) {
    const Result<bool> compared = compare(flags, trial.world, link, *expect, writer);
    if (!compared.ok()) {
      console.problem(compared.error().message);
      return status_of(compared.error());
    }
    held = held && *compared;
  }
  return held ? exit_held : exit_did_not_hold;
}

}  // namespace pdsim::tools
