#include "backends/mpi/mpi_slots.h"

#include "backends/os/posix.h"
#include "backends/os/temporary_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace pdsim {
namespace {

using Clock = std::chrono::steady_clock;
using Environment = std::vector<std::string>;

// The script of a slot holder, with the folder as $0: it opens the pipe `end`, which never blocks because for a moment it is
// also its writer, then writes its environment into the folder, and waits until the pipe has no writer.
constexpr std::string_view slot_holder =
    R"(exec 3<>"$0/end" 4<"$0/end" 3>&- && cat /proc/self/environ >"$0/$OMPI_COMM_WORLD_RANK.part" && )"
    R"(mv "$0/$OMPI_COMM_WORLD_RANK.part" "$0/$OMPI_COMM_WORLD_RANK" && exec cat <&4 >/dev/null)";

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> settings{{
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    {"OMPI_MCA_plm", "isolated"},
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
    {"OMPI_MCA_hwloc_base_binding_policy", "none"},
    {"OMPI_MCA_mpi_yield_when_idle", "1"},
    {"OMPI_MCA_orte_enable_recovery", "1"},  // who died and what follows from it is our launcher's business
    {"OMPI_MCA_pml", "ob1"},
    {"OMPI_MCA_btl", "self,vader"},
    // Containers often forbid to read another process's memory, and Open MPI prints a warning each time it finds out.
    {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
    {"OMPI_MCA_btl_base_warn_component_unused", "0"},
    // The other kinds of shared memory are tried out at every start, by a segment that stays behind when a kill comes in between.
    {"OMPI_MCA_shmem", "mmap"},
    {"OMPI_MCA_mca_base_component_show_load_errors", "0"},
    {"HWLOC_COMPONENTS", "-linux:pci,-pci"},  // ranks of one node need no map of its PCI devices, a tenth of what a start costs
}};

// Variables set by an mpirun around this process, which must not reach our own mpirun.
constexpr std::array<std::string_view, 12> of_an_outer_job{"PMIX_",
                                                           "OMPI_COMM_WORLD_",
                                                           "OMPI_MCA_orte_",
                                                           "OMPI_MCA_ess",
                                                           "OMPI_MCA_pmix",
                                                           "OMPI_UNIVERSE_SIZE",
                                                           "OMPI_NUM_APP_CTX",
                                                           "OMPI_FIRST_RANKS",
                                                           "OMPI_APP_CTX_NUM_PROCS",
                                                           "OMPI_COMMAND",
                                                           "OMPI_FILE_LOCATION",
                                                           "OMPI_MCA_initial_wdir"};

bool names(std::string_view variable, std::string_view name) {
  return variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=';
}

Environment environment_for_mpirun(const std::string& folder) {
  const bool is_inside_a_job = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMIX_RANK") != nullptr;
  Environment all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const bool is_outer = std::any_of(of_an_outer_job.begin(), of_an_outer_job.end(),
                                      [&](std::string_view prefix) { return text.starts_with(prefix); });
    if (!is_inside_a_job || !is_outer) all.emplace_back(text);
  }
  const auto add = [&all](std::string_view name, std::string_view value) {
    const bool is_there = std::any_of(all.begin(), all.end(), [&](const auto& v) { return names(v, name); });
    if (!is_there) all.push_back(fmt::format("{}={}", name, value));
  };
  for (const auto& [name, value] : settings) add(name, value);
  add("OMPI_MCA_orte_tmpdir_base", folder);
  add("OMPI_MCA_btl_vader_backing_directory", folder);
  return all;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The first paragraph that mpirun printed, without its frames of dashes, on one line.
std::string first_words(const std::string& printed) {
  std::string words;
  std::size_t at = 0;
  while (at < printed.size()) {
    const std::size_t end = std::min(printed.find('\n', at), printed.size());
    const std::string_view line = std::string_view(printed).substr(at, end - at);
    at = end + 1;
    if (line.starts_with("---")) continue;
    if (line.empty() && !words.empty()) break;
    if (!words.empty()) words += ' ';
    words += line;
  }
  return words.empty() ? "it printed nothing" : words;
}

class MpiSlots final : public Slots {
 public:
  explicit MpiSlots(TemporaryFolder folder) : folder_(std::move(folder)) {}
  ~MpiSlots() override {
    end_.reset();
    if (!mpirun_) return;
    if (!all_there_) mpirun_->signal(SIGTERM);
    wait_for_mpirun();
  }
  const Environment& environment(int rank) const override { return environments_[static_cast<std::size_t>(rank)]; }

  Status start(int ranks, const sigset_t& signal_mask) {
    const std::string end = folder_.path() + "/end", printed = folder_.path() + "/printed";
    if (mkfifo(end.c_str(), S_IRUSR | S_IWUSR) != 0) return system_error("cannot make a pipe in " + folder_.path());
    end_ = Descriptor(open(end.c_str(), O_RDWR | O_CLOEXEC));
    const Descriptor output(open(printed.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!end_ || !output) return system_error("cannot write in " + folder_.path());
    const std::vector<std::string> command{"mpirun",      "-n", std::to_string(ranks), "sh", "-c", std::string(slot_holder),
                                           folder_.path()};
    const Child::Inherited inherited[] = {
        {output.get(), STDOUT_FILENO}, {output.get(), STDERR_FILENO}, {folder_.alive(), STDERR_FILENO + 1}};
    Result<Child> child = Child::start(command, inherited, signal_mask, environment_for_mpirun(folder_.path()));
    if (!child.ok()) return child.error();
    mpirun_.emplace(std::move(*child));
    environments_.resize(static_cast<std::size_t>(ranks));
    return {};
  }

  Status wait_for_holders(const std::function<bool()>& interrupted) {
    constexpr std::chrono::seconds start_within(15);
    constexpr int pause_ms = 2;
    const auto until = Clock::now() + start_within;
    while (!take_environments()) {
      if (interrupted()) return Error{Code::cancelled, "the run was interrupted", {}};
      if (mpirun_->poll() && !take_environments()) return failed("ended at once");
      if (Clock::now() > until) return failed("did not start its processes within 15 s");
      poll(nullptr, 0, pause_ms);
    }
    all_there_ = true;
    return {};
  }

 private:
  // True when all are there.
  bool take_environments() {
    bool all = true;
    for (std::size_t rank = 0; rank < environments_.size(); ++rank) {
      if (!environments_[rank].empty()) continue;
      const std::string text = content_of(folder_.path() + "/" + std::to_string(rank));
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\0', at), text.size());
        environments_[rank].push_back(text.substr(at, end - at));
        at = end + 1;
      }
      all = all && !environments_[rank].empty();
    }
    return all;
  }

  Error failed(std::string_view how) const {
    return {
        Code::unavailable, fmt::format("mpirun {}: {}", how, first_words(content_of(folder_.path() + "/printed"))), {}};
  }

  // It ends when its slot holders have; SIGKILL where it does not.
  void wait_for_mpirun() {
    constexpr std::chrono::seconds end_within(3);
    const auto until = Clock::now() + end_within;
    while (!mpirun_->poll() && Clock::now() < until) poll(nullptr, 0, 1);
    mpirun_->end();
  }

  TemporaryFolder folder_;
  Descriptor end_;
  std::optional<Child> mpirun_;
  std::vector<Environment> environments_;
  bool all_there_ = false;
};

std::string folder_in_memory() {
  constexpr const char* shared_memory = "/dev/shm";
  const bool is_told_where = std::getenv("TMPDIR") != nullptr;
  return !is_told_where && access(shared_memory, W_OK | X_OK) == 0 ? shared_memory : "";
}

}  // namespace

Result<std::unique_ptr<Slots>> take_mpi_slots(int ranks, const sigset_t& signal_mask,
                                              const std::function<bool()>& interrupted) {
  Result<TemporaryFolder> folder = TemporaryFolder::make(folder_in_memory());
  if (!folder.ok()) return folder.error();
  auto slots = std::make_unique<MpiSlots>(std::move(*folder));
  PDSIM_TRY(slots->start(ranks, signal_mask));
  PDSIM_TRY(slots->wait_for_holders(interrupted));
  return std::unique_ptr<Slots>(std::move(slots));
}

std::string mpirun_problem() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/mpirun";
    if (access(candidate.c_str(), X_OK) == 0) return "";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "mpirun is not in PATH; install openmpi-bin";
}

}  // namespace pdsim
