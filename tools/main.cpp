// The pdsim command: finds the subcommand, parses its arguments, runs it. One table, one file per subcommand.

#include "tools/carried/carried_files.h"
#include "tools/command.h"
#include "tools/shell/likely_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <new>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace pdsim::tools {
namespace {

constexpr std::array commands{
    Command{"scenario", "runs scenario files and checks their expectations", "pdsim scenario unused_params",
            declare_scenario},
    Command{
        "run",
        "runs a PyTorch script with its torch.distributed calls in the simulated world, and explains what goes wrong",
        "pdsim run -n 4 -- python3 train.py --epochs 1", declare_run},
    Command{"check", "loads scenario files without running them and reports every error",
            "pdsim check unused_params --table", declare_check},
    Command{"validate", "runs every collective with every algorithm and checks every element of the results",
            "pdsim validate --ranks 4 --collective all_reduce", declare_validate},
    Command{"bench", "times collectives, in the columns of nccl-tests",
            "pdsim bench --ranks 8 --algorithm ring --latency 5us --bandwidth 12.5GB/s", declare_bench},
    Command{"launch", "starts the ranks of any program on this machine, and ends them together",
            "pdsim launch -n 4 -- python3 train.py --epochs 1", declare_launch},
    Command{"buckets", "shows how DistributedDataParallel lays gradients out in buckets",
            "pdsim buckets unused_params --bucket-cap 64B", declare_buckets},
    Command{"list", "lists the catalog, or with --what the names that scenario files may use",
            "pdsim list --what errors", declare_list},
    Command{"gallery", "runs the catalog and writes searchable pages: every pitfall with symptom, picture, cause and fix",
            "pdsim gallery --out pitfalls", declare_gallery},
    Command{"explain",
            "explains a concept, an error or a diagnosis: a picture, how to recognise it, and the fix",
            "pdsim explain \"what is a bucket?\"", declare_explain},
    Command{"prove", "proves your own collective algorithm, or shows the smallest case that fails",
            "pdsim prove my.plan", declare_prove},
    Command{"lab", "ten exercises with checks and hints: hangs, algorithms, overlap, checkpoints", "pdsim lab 5", declare_lab},
    Command{"diagnose", "explains saved flight records: those of --out, and dumps of PyTorch jobs",
            "pdsim diagnose pdsim-out/unused_params", declare_diagnose},
    Command{"doctor",
            "reports which worlds work on this machine, what the others lack, and which calls each library implements",
            "pdsim doctor", declare_doctor},
    Command{"schema", "prints the JSON schema of scenario files, for editors", "pdsim schema > schema.json",
            declare_schema},
    Command{"completion", "prints the script that lets a shell complete pdsim's command lines",
            "pdsim completion bash > ~/.local/share/bash-completion/completions/pdsim", declare_completion},
    Command{"man", "prints the manual page", "pdsim man | man -l -", declare_man},
    Command{"complete", "the words that may follow on a command line; asked by the script of pdsim completion",
            "pdsim complete -- expl", declare_complete, true},
    Command{"rank", "one rank of a world of real processes; started by pdsim scenario --on",
            "pdsim scenario unused_params --on gloo", declare_rank, true},
};

// Ctrl-C ends at once, with the status a shell would report.
void end_at_once(int signal) { _exit(128 + signal); }

void handle_signals() {
  struct sigaction action {
  }, former{};
  action.sa_handler = end_at_once;
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) {
    sigaction(signal, &action, &former);
    if (signal == SIGHUP && former.sa_handler == SIG_IGN) sigaction(signal, &former, nullptr);  // nohup
  }
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);  // writing says EPIPE instead
  sigaction(SIGXFSZ, &action, nullptr);  // and EFBIG
}

// From wherever memory ran out: a fiber, a thread, a function that may not throw. Nothing can be unwound there that is sure to need no
// memory; the processes and folders of a real world go with this process.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view line = "pdsim: out of memory: the machine or its limits (ulimit, cgroup) gave no more\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
  _exit(exit_failed);
}

// `pdsim help COMMAND` is `pdsim COMMAND --help`.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.size() > 2 || words.front() != "help") return words;
  words.erase(words.begin());
  if (!words.empty() && words.front() == "help") words.clear();
  words.emplace_back("--help");
  return words;
}

// Whether the arguments of pdsim itself, and not those of a program behind them, ask for JSON. CLI11 gives up before it has read the flag
// when something before it is wrong.
bool asks_for_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

// The first word is neither a command nor a flag of pdsim itself.
int unknown_first_word(const std::vector<std::string>& words, Console& console) {
  std::vector<std::string_view> names;
  for (const Command& command : commands)
    if (!command.hidden) names.push_back(command.name);
  if (asks_for_json(words)) console.answer_in_json("pdsim");
  console.problem(unknown_command(words, names), "run `pdsim --help` for usage");
  return exit_wrong_input;
}

int wrong_arguments(const CLI::App& app, const CLI::ParseError& error, bool json, Console& console) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (json) console.answer_in_json(chosen.empty() ? "pdsim" : chosen.front()->get_name());
  console.problem(error.what(), fmt::format("run `pdsim{} --help` for usage", chosen.empty() ? "" : " " + chosen.front()->get_name()));
  return exit_wrong_input;
}

int run(int argc, char** argv, Console& console) {
  CLI::App app{"Simulates and tests collectives and data-parallel training, deterministically.", "pdsim"};
  app.set_version_flag("-V,-v,--version", "pdsim " PDSIM_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 expectations held, 1 some did not, 2 wrong input, 3 world not available, 4 pdsim failed.\n"
      "`pdsim help COMMAND` describes a command, with an example.");
  std::vector<Action> actions;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    if (command.hidden) sub->group("");
    sub->footer(fmt::format("Example: {}", command.example));
    actions.push_back(command.declare(*sub));
  }
  const std::vector<std::string> words = arguments_of(argc, argv);
  if (words.empty()) {
    console.print(app.help());
    return exit_wrong_input;
  }
  const bool is_command = std::any_of(commands.begin(), commands.end(), [&](const Command& c) { return c.name == words.front(); });
  if (!is_command && app.get_option_no_throw(words.front()) == nullptr)
    return unknown_first_word(words, console);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string help = chosen.empty() ? app.help() : chosen.front()->help("pdsim");
    console.print(help.ends_with('\n') ? help : help + "\n");
    return exit_held;
  } catch (const CLI::CallForVersion&) {
    console.print("pdsim " PDSIM_VERSION "\n");
    return exit_held;
  } catch (const CLI::ParseError& error) {
    return wrong_arguments(app, error, asks_for_json(words), console);
  }
  for (std::size_t i = 0; i < commands.size(); ++i)
    if (const CLI::App* sub = app.get_subcommand(std::string(commands[i].name)); sub->parsed()) {
      const CLI::Option* json = sub->get_option_no_throw("--json");
      if (json != nullptr && json->count() > 0) console.answer_in_json(sub->get_name());
      return actions[i](console);
    }
  return exit_wrong_input;
}

}  // namespace
}  // namespace pdsim::tools

int main(int argc, char** argv) {
  using namespace pdsim::tools;
  prepare_process();
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  // mpirun gives its ranks a terminal of its own, whatever their output goes to.
  const bool below_mpirun = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr;
  Console console(dumb || below_mpirun || (no_color != nullptr && *no_color != '\0'));
  handle_signals();
  std::set_new_handler(end_without_memory);
  if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
    console.problem("standard output is closed; nothing was run");
    return exit_wrong_input;
  }
  try {
    const int status = run(argc, argv, console);
    console.end(status);
    return console.finish() ? status : static_cast<int>(exit_failed);
  } catch (const std::exception& error) {
    console.problem(fmt::format("internal error: {}", error.what()));
    return exit_failed;
  }
}
