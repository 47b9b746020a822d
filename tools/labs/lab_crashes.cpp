#include "tools/labs/lab_crashes.h"

#include "core/nn/state_dict.h"
#include "scenarios/program/session.h"
#include "sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace pdsim::tools {
namespace {

using Contents = std::map<std::string, std::string>;

// A disk that remembers what was written last, also when the one who wrote is gone.
class RememberedFiles final : public Files {
 public:
  RememberedFiles(Files& files, Contents& contents) : files_(files), contents_(contents) {}
  Result<std::unique_ptr<LogFile>> open_log(std::string_view path) override { return files_.open_log(path); }
  Status write_whole(std::string_view path, std::string_view content) override {
    PDSIM_TRY(files_.write_whole(path, content));
    contents_[std::string(path)] = content;
    return {};
  }
  Result<std::string> read_whole(std::string_view path) override { return files_.read_whole(path); }

 private:
  Files& files_;
  Contents& contents_;
};

Result<Contents> files_after(const scenarios::Scenario& scenario, const std::string& strategy, Time crash) {
  scenarios::Scenario crashed = scenario;
  sim::FaultSpec fault;
  fault.kind = FaultKind::crash;
  fault.at.time = crash;
  crashed.world.spec.faults.push_back(std::move(fault));
  sim::RunOptions options;
  options.strategy = strategy;
  const RankProgram program = scenarios::rank_program(crashed, scenarios::WorldKind::simulated);
  Contents contents;
  const Result<RunRecord> run = sim::run(crashed.world.spec, options, [&](RankEnvironment& env) {
    RememberedFiles files(env.files, contents);
    RankEnvironment own{env.rank,       env.world_size, env.node, env.launch,   env.runtime, env.backend,
                        env.rendezvous, files,          env.recorder, env.reach, env.device,  env.waits_on_stream};
    return program(own);
  });
  if (!run.ok()) return run.error();
  return contents;
}

bool is_whole(const std::string& path, const std::string& content) { return nn::parse_checkpoint(content, path).ok(); }

std::vector<Time> crash_moments(const RunRecord& run) {
  std::set<Time> edges;
  for (const RankResult& rank : run.ranks) {
    for (const Call& call : rank.log.calls) {
      if (call.layer != Layer::program) continue;
      edges.insert(call.issued);
      if (call.state == CallState::completed) edges.insert(call.finished);
    }
    for (const Note& note : rank.log.notes)
      if (note.is<notes::FileBegun>() || note.is<notes::FileWritten>()) edges.insert(note.at);
  }
  std::vector<Time> moments;
  for (auto edge = edges.begin(); edge != edges.end(); ++edge) {
    moments.push_back(*edge);
    if (const auto next = std::next(edge); next != edges.end() && next->ps - edge->ps > 1)
      moments.push_back(Time{edge->ps + (next->ps - edge->ps) / 2});
  }
  if (moments.size() <= most_crashes) return moments;
  std::vector<Time> some;
  for (std::size_t i = 0; i < most_crashes; ++i) some.push_back(moments[i * moments.size() / most_crashes]);
  return some;
}

std::string states_of(const Contents& contents) {
  std::string text;
  for (const auto& [path, content] : contents)
    text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", path, is_whole(path, content) ? "whole" : "cut short");
  return text;
}

}  // namespace

Result<CrashTrials> crash_everywhere(const scenarios::Scenario& scenario, const std::string& strategy,
                                     const RunRecord& whole) {
  CrashTrials trials;
  for (const Time moment : crash_moments(whole)) {
    const Result<Contents> contents = files_after(scenario, strategy, moment);
    if (!contents.ok()) return contents.error();
    ++trials.tried;
    const bool survives = std::any_of(contents->begin(), contents->end(),
                                      [](const auto& file) { return is_whole(file.first, file.second); });
    if (trials.any && !survives) {
      trials.lost = LostCheckpoint{moment, states_of(*contents)};
      return trials;
    }
    trials.any = trials.any || survives;
  }
  return trials;
}

}  // namespace pdsim::tools
