#include "tools/scenarios/script/script_runs.h"

#include "scenarios/guests/interpreter.h"
#include "scenarios/guests/machines_gpus.h"
#include "scenarios/guests/script_terms.h"
#include "scenarios/guests/tried_changes.h"
#include "scenarios/reports/artifacts.h"
#include "scenarios/reports/json/json_report.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"
#include "scenarios/text/shell_word.h"
#include "tools/catalog.h"
#include "tools/flags/trial_flags.h"
#include "tools/scenarios/script/saved_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The script among the words of the command: the first that names a Python file.
std::string script_of(const std::vector<std::string>& command) {
  for (const std::string& word : command)
    if (word.ends_with(".py")) return word;
  return command.front();
}

// The command that runs this again, as a shell takes it.
std::string replay_of(const RunFlags& flags) {
  std::string line = "pdsim run";
  if (flags.ranks > 0) line += fmt::format(" -n {}", flags.ranks);
  if (is_real(flags)) line += " --on real";
  if (!flags.backend.empty()) line += " --backend " + flags.backend;
  if (!flags.world.empty()) line += " --world " + scenarios::shell_word(flags.world);
  for (const std::string& fault : flags.faults) line += " --fault " + scenarios::shell_word(fault);
  if (flags.compute != "none") line += " --compute " + flags.compute;
  if (flags.strategy != "fifo") line += " --strategy " + flags.strategy;
  if (flags.seed != 0) line += fmt::format(" --seed {}", flags.seed);
  if (flags.cuda_on_cpu) line += *flags.cuda_on_cpu ? " --cuda-on-cpu" : " --no-cuda-on-cpu";
  line += " --";
  for (const std::string& word : flags.command) line += " " + scenarios::shell_word(word);
  return line;
}

// How ranks ended that the diagnosis does not speak of; 0: all well.
int told_end(const scenarios::guests::GuestRun& run, const scenarios::Report& report) {
  const bool ended_badly = std::any_of(run.ended.begin(), run.ended.end(), [](const std::optional<Ended>& e) {
    return e && (e->signal != 0 || e->exit_status != 0);
  });
  return report.diagnosis() != nullptr || report.outcome != scenarios::Outcome::ok || ended_badly ? exit_did_not_hold
                                                                                                  : exit_held;
}

// One run of the script, and what it came to.
struct Analysed {
  scenarios::guests::GuestRun run;
  std::unique_ptr<scenarios::Scenario> scenario = std::make_unique<scenarios::Scenario>();  // of the report
  scenarios::Report report;
  int status = exit_held;
};

Analysed analysed(scenarios::guests::GuestRun run, const RunFlags& flags) {
  Analysed result;
  result.run = std::move(run);
  scenarios::Scenario& scenario = *result.scenario;
  const std::string script = script_of(flags.command);
  scenario.name = fs::path(script).filename().string();
  scenario.file = script;
  scenario.seed = result.run.world.seed;
  scenario.world.spec = result.run.world;
  const auto world = result.run.library.empty() ? scenarios::RunWorld() : scenarios::RunWorld(result.run.library);
  if (!result.run.record.ranks.empty())
    result.report = scenarios::analyse(scenario, std::move(result.run.record), world);
  scenarios::guests::name_descriptions(result.report, result.run.described_otherwise);
  if (const std::string file = scenarios::guests::speak_of_script(result.report); !file.empty()) scenario.file = file;
  result.status = told_end(result.run, result.report);
  if (result.status == exit_did_not_hold) result.report.verdict = scenarios::Verdict::fail;
  return result;
}

// Tells the report as the flags want it. `more` is shown below the text.
int tell(const Analysed& result, const RunFlags& flags, const std::string& more, Console& console) {
  const scenarios::Report& report = result.report;
  scenarios::TextOptions text;
  text.source = text_of(result.scenario->file);
  text.colour = console.color();
  text.replay = replay_of(flags);
  text.out_dir = flags.out;
  const bool nothing_to_tell = report.run.ranks.empty() || (!result.run.introduced && result.status == exit_held);
  for (const std::string& remark : result.run.remarks) console.problem(remark);
  if (nothing_to_tell)
    console.problem(fmt::format("no rank called init_process_group, so there was nothing to {}",
                                is_real(flags) ? "record" : "simulate"));
  if (flags.json && !report.run.ranks.empty())
    console.print(scenarios::render_json({report}));
  else if (!nothing_to_tell)
    console.print(scenarios::render_diagnosis(report, text));
  if (flags.json)
    console.say(more);
  else
    console.print(more);
  if (flags.out.empty() || nothing_to_tell) return result.status;
  text.colour = false;
  const Status written =
      scenarios::write_artifacts(report, (fs::path(flags.out) / result.scenario->name).string(),
                                 scenarios::render_diagnosis(report, text) + more, text.source);
  if (written.ok()) return result.status;
  console.problem(written.error().message);
  return status_of(written.error());
}

// The runs that one command makes of a script.
class Runs {
 public:
  Runs(const RunFlags& flags, const scenarios::World& world, scenarios::guests::ForkServer& fork_server, Console& console)
      : flags_(flags), world_(world.spec), console_(console) {
    job_.ranks = flags.ranks;
    job_.command = flags.command;
    job_.all_to_stderr = flags.json;
    if (world.spec.two_level) job_.ranks_per_node = world.spec.ranks_per_node;
    const int of_node = world.spec.two_level ? world.spec.ranks_per_node : flags.ranks;
    job_.variables = scenarios::guests::gpu_variables({flags.cuda_on_cpu, world.devices, of_node}, scenarios::guests::gpus_in());
    job_.patience = parse_time(flags.patience).value();
    if (!flags.no_fork) job_.fork_server = &fork_server;
    if (!flags.backend.empty()) of_world_.backend = flags.backend;
    of_world_.compute = compute_of(flags.compute).value();
  }

  int run() {
    const Result<std::string> package = data_folder("guest", PDSIM_SOURCE_GUEST);
    if (!package.ok()) {
      console_.problem(package.error().message);
      return status_of(package.error());
    }
    job_.package = *package;
    if (flags_.seeds > 1) return search();
    Result<Analysed> result = once(flags_, false);
    return result.ok() ? finish(*result, flags_, "") : refuse(result.error());
  }

 private:
  Result<Analysed> once(const RunFlags& flags, bool silent, const std::vector<std::string>& variables = {}) {
    scenarios::guests::JobOptions job = job_;
    job.silent = silent;
    job.variables.insert(job.variables.end(), variables.begin(), variables.end());
    sim::WorldSpec world = world_;
    world.seed = flags.seed;
    sim::RunOptions how;
    how.strategy = flags.strategy;
    auto run = is_real(flags) ? scenarios::guests::run_really(job, world, flags.records)
                              : scenarios::guests::run_guests(job, world, how, of_world_);
    if (!run.ok()) return run.error();
    return analysed(std::move(*run), flags);
  }

  int refuse(const Error& error) {
    if (error.code != Code::cancelled) console_.problem(error.message);
    return status_of(error);
  }

  // Schedules of the same script until one has something to explain, which is run again and told.
  int search() {
    RunFlags flags = flags_;
    for (int tried = 1; tried <= flags_.seeds; ++tried) {
      Result<Analysed> result = once(flags, true);
      if (!result.ok()) return refuse(result.error());
      if (result->run.unusable) return finish(*result, flags, "");
      if (result->status != exit_held)
        return tell_found(flags, *result, tried);
      if (tried == flags_.seeds || !result->run.introduced) return finish(*result, flags_, missed(tried));
      flags.strategy = "random";
      ++flags.seed;
    }
    return exit_held;
  }

  int tell_found(const RunFlags& flags, const Analysed& found, int tried) {
    Result<Analysed> again = once(flags, false);
    if (!again.ok()) return refuse(again.error());
    const std::string which = fmt::format("schedule {} of {} (strategy {}, seed {})", tried, flags_.seeds,
                                          flags.strategy, flags.seed);
    const auto id = [](const Analysed& a) { return a.report.diagnosis() ? a.report.diagnosis()->id : std::string(); };
    const bool same = found.report.outcome == again->report.outcome && id(found) == id(*again);
    const std::string before = tried == 1 ? "" : fmt::format("; the {} before had no finding", tried - 1);
    return finish(*again, flags,
                  fmt::format("\n{} shows this{}{}\n", which, before,
                              same ? ""
                                   : "; when run again it ended differently: the script is not deterministic"));
  }

  // After so many schedules without a finding.
  static std::string missed(int tried) {
    constexpr double chance = 0.05;
    const double share = 1 - std::pow(chance, 1.0 / tried);
    return fmt::format(
        "\n{} schedules tried, none has a finding. A problem that appears in at least {:.2g} % of the schedules would "
        "have been\nmissed with a probability of at most 5 %. Schedules differ in which rank goes first, in which "
        "message a\nreceive from any rank takes, and in the random choices of --world and --fault; the data and the "
        "script's own\nrandom numbers do not change.\n",
        tried, 100 * share);
  }

  // Runs the script again with what its finding proposes, as far as that is an argument which pdsim can set.
  void try_cures(Analysed& result, const RunFlags& flags) {
    if (!flags_.try_cures || is_real(flags_) || result.report.findings.empty()) return;
    const std::vector<scenarios::guests::Change> changes = scenarios::guests::changes_for(result.report);
    if (changes.empty())
      console_.say(fmt::format("pdsim: no fix was tried: the fix for {} is a change to the script's own lines\n",
                               result.report.findings.front().id));
    for (const scenarios::guests::Change& change : changes) {
      const Result<Analysed> run = once(flags, true, {change.variable});
      if (!run.ok()) return;
      const scenarios::Diagnosis* found = run->report.diagnosis();
      scenarios::Cure cure{change.what, {}, scenarios::Tried{run->report.outcome, found ? found->id : "", {}}};
      cure.tried->elapsed = run->report.run.elapsed;
      if (!scenarios::cures(cure))
        console_.say(fmt::format("pdsim: tried: {}: does not fix it: {}\n", change.what,
                                 found ? found->id : std::string(name_of(run->report.outcome))));
      result.report.findings.front().cures.push_back(std::move(cure));
    }
  }

  int finish(Analysed& result, const RunFlags& flags, const std::string& more) {
    if (result.run.unusable) {
      console_.problem(result.run.unusable->empty() ? no_torch() : too_old(*result.run.unusable));
      return exit_not_available;
    }
    if (!result.run.version.empty() && !scenarios::guests::is_tried(result.run.version))
      console_.problem(fmt::format("PyTorch {} has not been tested with pdsim run ({} have); the run continues",
                                   result.run.version, scenarios::guests::tried_versions));
    try_cures(result, flags);
    const bool saves = !flags.save.empty() && !result.report.run.ranks.empty() &&
                       (result.run.introduced || result.status != exit_held);
    const std::string saved = saves ? save_calls(flags, result.run, result.report, result.status) : "";
    return tell(result, flags, more + saved, console_);
  }

  std::string too_old(const std::string& version) const {
    return fmt::format("{} has PyTorch {}, which pdsim run does not support; use 1.13 or 2.x", flags_.command.front(),
                       version);
  }

  std::string no_torch() const {
    std::string text = fmt::format("{} finds no PyTorch (`import torch` failed)", flags_.command.front());
    const scenarios::guests::Interpreter own = scenarios::guests::interpreter(flags_.command.front());
    if (!own.path.empty()) text += fmt::format("; it is {}, Python {}", own.path, own.python);
    for (const std::string_view other : scenarios::guests::usual_interpreters) {
      const scenarios::guests::Interpreter there = scenarios::guests::interpreter(std::string(other));
      if (!there.torch.empty() && there.path != own.path)
        return text + fmt::format(". {} has PyTorch {}: run the script with that", there.path, there.torch);
    }
    return text + "; install it for this interpreter, for example with `apt-get install python3-torch` or `pip install "
                  "torch`";
  }

  const RunFlags flags_;
  const sim::WorldSpec world_;
  Console& console_;
  scenarios::guests::JobOptions job_;
  scenarios::guests::WorldOptions of_world_;
};

}  // namespace

Result<scenarios::guests::Compute> compute_of(const std::string& text) {
  using scenarios::guests::Compute;
  constexpr std::string_view measured = "measured";
  const Error invalid{Code::input_invalid,
                      "expected none, measured, measured:FACTOR (such as measured:0.1) or a time with its unit, such "
                      "as 5ms",
                      {}};
  Compute compute;
  if (text == "none") return compute;
  if (text.starts_with(measured)) {
    compute.kind = Compute::Kind::measured;
    const std::string factor = text.substr(measured.size());
    if (factor.empty()) return compute;
    const char* end = factor.data() + factor.size();
    const auto read = std::from_chars(factor.data() + 1, end, compute.factor);
    const bool good = factor.front() == ':' && read.ec == std::errc{} && read.ptr == end;
    if (!good || !(compute.factor > 0 && compute.factor <= 1e6)) return invalid;
    return compute;
  }
  const Result<Time> time = parse_time(text);
  if (!time.ok()) return invalid;
  compute.kind = Compute::Kind::fixed;
  compute.time = *time;
  return compute;
}

int run_script(const RunFlags& flags, const scenarios::World& world, scenarios::guests::ForkServer& fork_server, Console& console) {
  return Runs(flags, world, fork_server, console).run();
}

}  // namespace pdsim::tools
