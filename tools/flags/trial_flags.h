// The flags shared by validate and bench: the world, the collective and algorithm, the elements.
#pragma once

#include "core/base/result.h"
#include "core/measure/timing.h"
#include "scenarios/measure/trial_world.h"
#include "tools/command.h"
#include "tools/worlds/join.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace pdsim::tools {

struct TrialFlags {
  std::string on = "sim";
  int ranks = 4;
  std::string collective = "all", algorithm = "all", dtype, op;
  std::string patience = "10s";
  JoinFlags join;
  bool json = false;
  CLI::Option* ranks_option = nullptr;
  CLI::Option* collective_option = nullptr;
  struct Simulated {  // as a scenario's `world`
    std::string latency = "5us", bandwidth = "25GB/s", reduce_bandwidth = "0GB/s", header = "0B";
    std::string sharing, topology;  // empty: ports, with a topology links; none
    std::string buffering = "zero", backend = "ideal", engine = "auto";
    int nodes = 1, cores = 0;
    std::uint64_t seed = 0;
  } sim;
};

void add_trial_flags(CLI::App& app, TrialFlags& flags);

// The subject of a command's trial, and its world.
struct Trial {
  scenarios::TrialWorld world;
  std::vector<scenarios::TrialAlgorithm> algorithms;
};

// A command over trials. Both functions return the problem, in one line; empty: none.
struct TrialCommand {
  std::string name;
  std::function<std::string(bool in_a_job)> complete{};  // sets flags that follow from others; may be empty
  std::function<std::string(const scenarios::WorldRow&, bool in_a_job)> conflict;  // conflicts between flags in that world
};

// Checks that the flags are consistent and that the world is available, joins the job of mpirun, srun or torchrun where one
// started this process (then `flags.ranks` is the job's), and runs `body` on rank 0. Prints problems. Returns the exit status.
int run_trials(TrialFlags& flags, const TrialCommand& command, Console& console, const std::function<int(Trial&)>& body);

// Null: the flag was not given, or is `all`.
std::optional<DType> dtype_of(const TrialFlags& flags);
std::optional<ReduceOp> op_of(const TrialFlags& flags);

// Null for `all`.
std::optional<CollectiveKind> collective_of(const std::string& name);

// A size in the form of scenarios or of nccl-tests: a number alone is bytes; K, M and G are powers of 1024.
Result<Bytes> parse_size(const std::string& text);

// A check for add_option: a finite number from `least` to `most`, in decimal digits. (CLI11's Range lets nan pass.)
std::function<std::string(const std::string&)> number_between(double least, double most);

// The problem with a seed, which must be a 64-bit whole number; empty: none. (CLI11 takes -1 for the largest.)
std::string seed_problem(const std::string& text);
// "" if it is the name of one of the simulation's engines; else the problem.
std::string engine_problem(const std::string& text);

// The problem with a size for parse_size(); empty: none. At most 64GiB.
std::string size_problem(const std::string& text);

// The problem with moving `bytes` of each buffer, input and output, on this many ranks of this machine at once; empty: none.
std::string memory_problem(std::int64_t bytes, int ranks);

// The exit status for an error that the trial did not cause.
int status_of(const Error& error);

}  // namespace pdsim::tools
