// scripts_in_turn <job>...: `pdsim run` of the script in each of these folders, one after the other. One interpreter forks the ranks of
// all, for importing torch takes longer than most scripts; so all scripts have one name and run in one folder, the working directory,
// which is empty otherwise.
//
//   job      flags.json with python, ranks and perhaps world, save and out; files/ with train.py, which is moved to the working
//            directory for the run and back, with what the run left
//   results  its files output, problems and, at the end, status

#include "backends/launch/guarded.h"
#include "tools/scenarios/script/script_runs.h"
#include "tools/scenarios/script/world_flags.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace pdsim;

tools::RunFlags flags_of(const fs::path& job) {
  std::ifstream file(job / "flags.json");
  const auto given = nlohmann::json::parse(file);
  tools::RunFlags flags;
  flags.ranks = given.at("ranks");
  flags.world = given.value("world", "");
  flags.save = given.value("save", "");
  flags.out = given.value("out", "");
  flags.command = {given.at("python"), "train.py"};
  return flags;
}

void print_to(const fs::path& job) {
  const std::pair<int, const char*> streams[]{{STDOUT_FILENO, "output"}, {STDERR_FILENO, "problems"}};
  for (const auto& [number, name] : streams) {
    const int file = open((job / name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    dup2(file, number);
    close(file);
  }
}

void move_all(const fs::path& from, const fs::path& to) {
  const std::vector<fs::directory_entry> entries{fs::directory_iterator(from), fs::directory_iterator()};
  for (const fs::directory_entry& entry : entries) fs::rename(entry.path(), to / entry.path().filename());
}

void run(const fs::path& job, scenarios::guests::ForkServer& fork_server) {
  print_to(job);
  move_all(job / "files", fs::current_path());
  const tools::RunFlags flags = flags_of(job);
  tools::Console console(true);
  int status = tools::exit_wrong_input;
  if (const auto world = tools::world_of(flags, console)) status = tools::run_script(flags, *world, fork_server, console);
  if (!console.finish()) status = tools::exit_failed;
  move_all(fs::current_path(), job / "files");
  std::ofstream(job / "status") << status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<fs::path> jobs(argv + 1, argv + argc);
  const Result<int> status = run_guarded([&] {
    scenarios::guests::ForkServer fork_server;
    for (const fs::path& job : jobs) run(job, fork_server);
    return 0;
  });
  return status.ok() ? *status : tools::exit_failed;
}
