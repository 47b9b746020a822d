#include "tools/labs/lab_facts.h"

#include "core/collectives/collective_shape.h"
#include "scenarios/measure/bench.h"
#include "scenarios/run/run_scenarios.h"
#include "tools/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace pdsim::tools {
namespace {

using Json = nlohmann::ordered_json;

Error wrong_question(std::string_view what) { return {Code::input_invalid, fmt::format("lab.json: {}", what), {}}; }

std::string hash_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

Result<CollectiveKind> kind_of(const Json& question) {
  const CollectiveRow* row = collective_named(question.value("collective", std::string()));
  if (row == nullptr) return wrong_question("unknown collective");
  return row->kind;
}

// Which ranks never get past their call.
Result<std::string> blocked(const Json& question, const std::filesystem::path& folder) {
  Result<scenarios::LoadedFile> loaded = scenarios::load_file((folder / question.value("file", "")).string());
  if (!loaded.ok()) return loaded.error();
  if (loaded->variants.empty())
    return wrong_question(fmt::format("{} has errors; --reset restores it", loaded->file));
  auto file = std::make_shared<scenarios::LoadedFile>(std::move(*loaded));
  const Result<LabRun> run = run_lab(file, file->variants.front());
  if (!run.ok()) return run.error();
  std::set<Rank> ranks;
  for (const scenarios::BlockedRank& one : run->report.blocked) ranks.insert(one.rank);
  return ranks.empty() ? "none" : fmt::format("{}", fmt::join(ranks, " "));
}

// Returns what a rank holds after the call, where element i of rank r's input is 10 (r + 1) + i.
Result<std::string> holds(const Json& question) {
  const Result<CollectiveKind> kind = kind_of(question);
  if (!kind.ok()) return kind.error();
  const CollectiveLayout layout{*kind, question.value("ranks", 4), question.value("count", std::int64_t{2}),
                                question.value("root", 0)};
  const Rank rank = question.value("rank", 2);
  std::vector<std::int64_t> elements;
  for (std::int64_t i = 0; i < layout.output_elements(rank); ++i) {
    const Origin from = layout.origin(rank, i);
    std::int64_t sum = 0;
    for (Rank r = from.first; r <= from.last; ++r) sum += 10 * (r + 1) + from.index;
    elements.push_back(sum);
  }
  return elements.empty() ? "nothing" : fmt::format("{}", fmt::join(elements, " "));
}

// From how many bytes on, in powers of two, the first algorithm is the faster one.
Result<std::string> crossing(const Json& question) {
  const Result<CollectiveKind> kind = kind_of(question);
  if (!kind.ok()) return kind.error();
  std::string problem;
  scenarios::TrialWorld world;
  world.row = scenarios::world_named("sim", problem);
  world.scenario.name = "lab";
  sim::WorldSpec& spec = world.scenario.world.spec;
  spec.ranks_per_node = question.value("ranks", 8);
  spec.intra.latency = parse_time(question.value("latency", "5us")).value();
  spec.intra.bandwidth = parse_rate(question.value("bandwidth", "25GB/s")).value();
  spec.inter = spec.intra;
  spec.backend = "ideal";
  spec.buffering = sim::Buffering::zero;
  spec.sharing = sim::Sharing::ports;
  spec.payload = false;
  std::vector<std::vector<Time>> times;
  TimingRequest request;
  request.kind = *kind;
  request.dtype = DType::u8;
  for (std::int64_t bytes = 64; bytes <= 64 << 20; bytes *= 2) request.counts.push_back(bytes);
  request.in_place_too = request.moves_data = false;
  request.iterations = 1;
  request.warmup = 0;
  request.align = Time{1'000'000'000'000};
  for (const char* which : {"first", "second"}) {
    request.algorithm = question.value(which, "");
    const Result<scenarios::Timed> timed = scenarios::time(world, request);
    if (!timed.ok()) return timed.error();
    std::vector<Time>& of = times.emplace_back();
    for (const TimedRound& round : timed->rounds) of.push_back(round.average);
  }
  for (std::size_t i = 0; i < std::min(times[0].size(), times[1].size()); ++i)
    if (times[0][i] < times[1][i]) return std::to_string(request.counts[i]);
  return std::string("never");
}

}  // namespace

Result<LabRun> run_lab(std::shared_ptr<scenarios::LoadedFile> file, const scenarios::Scenario& scenario,
                       const std::string& strategy) {
  std::string problem;
  const scenarios::WorldRow* world = scenarios::world_named("sim", problem);
  LabRun run;
  run.file = std::move(file);
  run.scenario = std::make_shared<scenarios::Scenario>(scenario);
  scenarios::RunOptions options;
  options.strategy = strategy;
  Result<scenarios::Report> report = scenarios::run_scenario(*run.scenario, *world, options);
  if (!report.ok()) return report.error();
  run.report = std::move(*report);
  return run;
}

Result<LabRun> run_hidden(const std::string& of, const std::string& hash) {
  for (const std::string& path : catalog_files()) {
    if (hash_of(std::filesystem::path(path).stem().string()) != of) continue;
    Result<scenarios::LoadedFile> loaded = scenarios::load_file(path);
    if (!loaded.ok()) continue;
    auto file = std::make_shared<scenarios::LoadedFile>(std::move(*loaded));
    for (const scenarios::Scenario& variant : file->variants)
      if (hash_of(variant.name + "/" + variant.variant) == hash) return run_lab(file, variant);
  }
  return wrong_question("no scenario of the catalog has this hash");
}

Result<std::string> fact_of(const std::string& text, const std::filesystem::path& folder) {
  const Json question = Json::parse(text, nullptr, false);
  if (!question.is_object()) return wrong_question("a question is not an object");
  const std::string fact = question.value("fact", "");
  if (fact == "blocked") return blocked(question, folder);
  if (fact == "holds") return holds(question);
  if (fact == "crossing") return crossing(question);
  if (fact == "least") {
    const Result<CollectiveKind> kind = kind_of(question);
    if (!kind.ok()) return kind.error();
    return std::to_string(
        least_elements_sent(*kind, question.value("ranks", 4), question.value("count", std::int64_t{1024})));
  }
  if (fact == "diagnosis" || fact == "culprit") {
    const Result<LabRun> run = run_hidden(question.value("of", ""), question.value("hash", ""));
    if (!run.ok()) return run.error();
    const scenarios::Diagnosis* found = run->report.diagnosis();
    if (found == nullptr) return std::string("none");
    return fact == "diagnosis" ? found->id : fmt::format("{}", fmt::join(found->ranks, " "));
  }
  return wrong_question(fmt::format("unknown fact `{}`", fact));
}

std::string compared(const std::string& answer) {
  std::string words;
  for (const char c : answer) {
    const bool parts = std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',' || c == '[' || c == ']';
    if (!parts)
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  }
  while (words.ends_with(' ')) words.pop_back();
  return words;
}

}  // namespace pdsim::tools
