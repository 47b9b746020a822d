// A rank process of the gloo world whose program is named by the variant: the tests of the world, without the language.
//
//   all_reduce | barrier_against_all_reduce | raise | different_counts | relaunch

#include "core/group/process_group.h"
#include "scenarios/engine/real_world.h"

#include <cstdio>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

Status run(RankEnvironment& env, std::string_view what, TensorValues& values) {
  const std::int64_t init = env.recorder.enter("init");
  Result<std::unique_ptr<Store>> store =
      what == "relaunch" ? env.rendezvous.file("run/store", 20_s) : env.rendezvous.env(20_s);
  PDSIM_TRY(store.status());
  auto member = env.backend.join(**store, {"world", env.rank, env.world_size, 20_s});
  env.recorder.leave(init, member.status());
  PDSIM_TRY(member.status());
  std::vector<Rank> ranks(static_cast<std::size_t>(env.world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  ProcessGroup group("world", ranks, env.rank, 20_s, std::move(*member), env.recorder);

  std::vector<float> data(static_cast<std::size_t>(what == "different_counts" ? 4 + 4 * env.rank : 4), 1.0F);
  const auto view = [&] {
    return MutableView{reinterpret_cast<std::byte*>(data.data()), DType::f32, static_cast<std::int64_t>(data.size())};
  };
  PDSIM_TRY(wait(group.barrier()));
  if (what == "barrier_against_all_reduce" && env.rank == 1) return wait(group.barrier());
  if (what == "raise" && env.rank == 1) return Error{Code::invalid_argument, "the program gave up", {}};
  const Status status = wait(group.all_reduce(view(), ReduceOp::sum));
  for (const float value : data) values["sum"].push_back(value);
  return status;
}

}  // namespace
}  // namespace pdsim

int main(int argc, char** argv) {
  using namespace pdsim;
  const std::string_view what = argc > 5 ? argv[5] : "all_reduce";
  auto channel = RankChannel::open();
  if (!channel.ok()) {
    std::fprintf(stderr, "%s\n", channel.error().message.c_str());
    return 3;
  }
  return scenarios::run_rank(**channel, "gloo", {}, [what](RankEnvironment& env) {
    ProgramResult result;
    result.status = run(env, what, result.values);
    result.relaunch = what == "relaunch" && env.launch == 1 && result.status.ok();
    return result;
  });
}
