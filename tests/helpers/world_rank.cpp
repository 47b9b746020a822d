// A rank process of a real world (`rank <world> <file> --variant <v>`, as the launcher starts it) whose program is named by the variant: the tests of the world, without the language.
//
//   all_reduce | barrier_against_all_reduce | raise | different_counts | relaunch
//   capabilities, or a program of group_programs.h
//   rpc_ and a program of rpc_programs.h: its log, as a digest per entry
//   killed_at_start | _before_init | _in_init | _in_a_call | _after | _at_the_end   rank 1 is killed there
//   unused_then_barrier | unused_then_forward | unused_found   a DDP training in which rank 1 skips a layer in the last step

#include "core/group/process_group.h"
#include "core/nn/functional.h"
#include "core/nn/module.h"
#include "core/nn/optimizer.h"
#include "core/parallel/ddp.h"
#include "scenarios/worlds/real_world.h"
#include "tests/helpers/capability_program.h"
#include "tests/helpers/group_programs.h"
#include "tests/helpers/rpc_programs.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

// Three steps of linear layers; rank 1 takes the path without `aux` in the last one.
Status train(ProcessGroup& group, Rank rank, std::string_view what, TensorValues& values) {
  using nn::LayerKind;
  const nn::ModuleSpec spec{
      {{"trunk", LayerKind::linear, 4, 8}, {"aux", LayerKind::linear, 8, 8}, {"head", LayerKind::linear, 8, 1}},
      {{"full", {"trunk", "aux", "head"}}, {"short", {"trunk", "head"}}},
      DType::f32};
  nn::Module module(spec, Random(7));
  DdpOptions options;
  options.find_unused_parameters = what == "unused_found";
  auto ddp = DistributedDataParallel::wrap(module, group, options);
  PDSIM_TRY(ddp.status());
  auto optimizer = nn::Optimizer::make({}, module.parameters());
  const int steps = what == "unused_then_forward" ? 4 : 3;
  for (int step = 0; step < steps; ++step) {
    optimizer->zero_grad();
    const nn::Tensor input = nn::Tensor::from({1.0 + rank, 2, 3, 4}, {1, 4});
    auto output = (*ddp)->forward(input, step == 2 && rank == 1 ? "short" : "full", {});
    PDSIM_TRY(output.status());
    auto loss = nn::sum(*output);
    PDSIM_TRY(loss.status());
    const nn::Tensor losses[] = {*loss};
    PDSIM_TRY((*ddp)->backward(losses));
    optimizer->step();
  }
  values["aux.weight"] = module.find("aux.weight").values();
  return wait(group.barrier());
}

// Kills this process, when it is rank 1 and its program is the one that dies at this point.
void die_if(std::string_view what, std::string_view point, Rank rank) {
  constexpr std::string_view killed = "killed_";
  if (rank == 1 && what.starts_with(killed) && what.substr(killed.size()) == point) std::raise(SIGKILL);
}

// A process learns its rank from its channel; before that, rank 0 is the one that was given the store's socket.
Rank rank_before_it_is_told() {
  int listens = 0;
  socklen_t length = sizeof listens;
  const int failed = getsockopt(RankChannel::listener_descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
  return failed == 0 && listens != 0 ? 0 : 1;
}

Status run(RankEnvironment& env, std::string_view what, TensorValues& values) {
  if (what.starts_with("rpc_")) {
    const RpcProgram* program = rpc_program(what.substr(4));
    if (program == nullptr) return Error{Code::invalid_argument, "no such program", {}};
    RpcLog log;
    const Status status = program->run(env, log, 50_ms);
    values["log"] = digests_of(log);
    return status;
  }
  die_if(what, "before_init", env.rank);
  const std::int64_t init = env.recorder.enter("init_process_group");
  Result<std::unique_ptr<Store>> store =
      what == "relaunch" ? env.rendezvous.file("run/store", 20_s) : env.rendezvous.env(20_s);
  PDSIM_TRY(store.status());
  die_if(what, "in_init", env.rank);
  auto communicator = env.backend.join(**store, {"world", env.rank, env.world_size, 20_s});
  env.recorder.leave(init, communicator.status());
  PDSIM_TRY(communicator.status());
  ProcessGroup group("world", RankList::of_world(env.world_size), env.rank, 20_s, std::move(*communicator), env.recorder);

  if (what.starts_with("unused")) return train(group, env.rank, what, values);

  std::vector<float> data(static_cast<std::size_t>(what == "different_counts" ? 4 + 4 * env.rank : 4), 1.0F);
  const auto view = [&] {
    return MutableView{reinterpret_cast<std::byte*>(data.data()), DType::f32, static_cast<std::int64_t>(data.size())};
  };
  PDSIM_TRY(wait(group.barrier()));
  if (what == "capabilities") return try_capabilities(env.backend.name(), group);
  if (const GroupProgram program = group_program(what)) return program(env, **store, group);
  if (what == "barrier_against_all_reduce" && env.rank == 1) return wait(group.barrier());
  if (what == "raise" && env.rank == 1) return Error{Code::invalid_argument, "the program gave up", {}};
  const auto started = group.all_reduce(view(), ReduceOp::sum);
  die_if(what, "in_a_call", env.rank);
  const Status status = wait(started);
  die_if(what, "after", env.rank);
  for (const float value : data) values["sum"].push_back(value);
  return status;
}

}  // namespace
}  // namespace pdsim

int main(int argc, char** argv) {
  using namespace pdsim;
  const std::string_view world = argc > 2 ? argv[2] : "", what = argc > 3 ? argv[3] : "all_reduce";
  die_if(what, "at_start", rank_before_it_is_told());
  auto channel = RankChannel::open();
  if (!channel.ok()) {
    std::fprintf(stderr, "%s\n", channel.error().message.c_str());
    return 3;
  }
  const int status = scenarios::run_rank(**channel, world, {}, [what](RankEnvironment& env) {
    ProgramResult result;
    result.status = run(env, what, result.values);
    result.relaunch = what == "relaunch" && env.launch == 1 && result.status.ok();
    return result;
  });
  die_if(what, "at_the_end", (*channel)->start().rank);
  return status;
}
