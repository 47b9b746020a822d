// Rank programs around DDP in the simulated world, and what their flight records say.
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"
#include "core/nn/functional.h"
#include "core/parallel/ddp.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdsim {

struct InGroup {
  RankEnvironment& world;
  ProcessGroup& group;
  Rank rank() const { return world.rank; }
};

// Every rank joins the default group and runs `program`; a flat world of `ranks` with Gloo's semantics.
RunRecord run_ranks(int ranks, const std::function<Status(InGroup&)>& program);

using Texts = std::vector<std::string>;
using Values = std::vector<double>;

// "all_gather parameter count", "all_reduce bucket 0" ... in order of issue.
Texts collectives(const RankLog& log);
Texts operator+(Texts a, const Texts& b);
// Those of the constructor, and of the rebuilding of the buckets after the first iteration.
inline const Texts construction{"all_gather parameter count", "broadcast parameter sizes", "broadcast parameters"};
inline const Texts rebuild{"broadcast rebuild order", "broadcast rebuild sizes"};
void expect_near(const Values& a, const Values& b, double tolerance, const std::string& what = "");

template <class T>
std::vector<T> notes_in(const RankLog& log) {
  std::vector<T> found;
  for (const Note& note : log.notes)
    if (note.is<T>()) found.push_back(note.as<T>());
  return found;
}
int count(const RankLog& log, std::string_view purpose);

// fc1 (3 x 5), relu, fc2 (5 x 2)
nn::ModuleSpec mlp();
// fc1, norm, fc2
nn::ModuleSpec with_batchnorm();
// trunk, aux, head; paths full and short (without aux)
nn::ModuleSpec branched();

// Forward of a batch that depends on rank and step, mean square error against zeros, backward.
struct Training {
  nn::Module& module;
  DistributedDataParallel& ddp;
  Rank rank = 0;
  Result<nn::Tensor> loss(int step, std::string_view path = "full", nn::ForwardMode mode = {});
  Status step(int step, std::string_view path = "full");
  void zero_grad();
};

// The module of `seed`, wrapped.
struct Wrapped {
  std::unique_ptr<nn::Module> module;
  std::unique_ptr<DistributedDataParallel> ddp;
  Training training(Rank rank) { return {*module, *ddp, rank}; }
};
Result<Wrapped> wrap(InGroup& in, const nn::ModuleSpec& spec, const DdpOptions& options = {});

nn::Tensor parameter(nn::Module& module, std::string_view name);

}  // namespace pdsim
