#include "tests/helpers/group_programs.h"

#include "core/group/new_group.h"
#include "tests/helpers/planted_algorithms.h"
#include "tests/helpers/sharded_programs.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

template <std::size_t n>
MutableView view(std::array<float, n>& data) {
  return {reinterpret_cast<std::byte*>(data.data()), DType::f32, static_cast<std::int64_t>(n)};
}

Error wrong(std::string what) { return {Code::wrong_data, std::move(what), {}}; }

// That `status` is an error with this code.
Status expect(const Status& status, Code code) {
  if (!status.ok() && status.error().code == code) return {};
  return wrong(fmt::format("instead of {}: {}", name_of(code), status.ok() ? "ok" : status.error().message));
}

Status any_source_program(RankEnvironment& env, Store&, ProcessGroup& world) {
  std::array<float, 1> value{static_cast<float>(env.rank)};
  if (env.rank != 0) return wait(world.send(view(value), 0, 5));
  for (int i = 1; i < env.world_size; ++i) {
    const Result<WorkPtr> work = world.recv(view(value), any_source, 5);
    PDSIM_TRY(wait(work));
    if (static_cast<float>((*work)->source()) != value[0])
      return wrong(fmt::format("{} came from rank {}", value[0], (*work)->source()));
  }
  return {};
}

Status tags_program(RankEnvironment& env, Store&, ProcessGroup& world) {
  std::array<float, 1> first{1}, second{2};
  std::vector<ProcessGroup::Message> messages{{true, view(first), 1 - env.rank, 1},
                                              {true, view(second), 1 - env.rank, 2}};
  std::array<float, 1> got_first{}, got_second{};
  messages.push_back({false, view(got_second), 1 - env.rank, 2});
  messages.push_back({false, view(got_first), 1 - env.rank, 1});
  const auto works = world.batch(messages);
  PDSIM_TRY(works.status());
  for (const WorkPtr& work : *works) PDSIM_TRY(work->wait());
  return got_first[0] == 1 && got_second[0] == 2 ? Status{} : wrong("a message was received under another tag");
}

Status long_message(RankEnvironment& env, Store&, ProcessGroup& world) {
  std::array<float, 8> eight{};
  std::array<float, 4> four{};
  if (env.rank == 0) return wait(world.send(view(eight), 1, 0));
  return expect(wait(world.recv(view(four), 0, 0)), Code::size_mismatch);
}

Status subgroups(RankEnvironment& env, Store& store, ProcessGroup&) {
  GroupMaker maker(env.backend, store, env.rank, env.world_size, env.recorder);
  for (int round = 0; round < 3; ++round)
    for (const auto& ranks : {std::vector<Rank>{0, 1}, {1, 2}, {0, 2}, {0, 1, 2}}) {
      const auto group = maker.new_group(ranks);
      PDSIM_TRY(group.status());
      std::array<float, 2> sum{1, static_cast<float>(env.rank)};
      PDSIM_TRY(wait((*group)->all_reduce(view(sum), ReduceOp::sum)));
      float ranks_sum = 0;
      for (const Rank r : ranks) ranks_sum += static_cast<float>(r);
      const bool right = sum[0] == static_cast<float>(ranks.size()) && sum[1] == ranks_sum;
      if ((*group)->is_member() && !right) return wrong("a group summed what is not its own");
    }
  return {};
}

// Rank 0 does `body` alone; the others leave it alone until it is done, and it serves the store until they have seen that.
template <class Body>
Status alone_in(RankEnvironment& env, Store& store, Body body) {
  const std::vector<std::string> done{"rank 0 is done"};
  std::vector<std::string> seen;
  for (Rank r = 1; r < env.world_size; ++r) seen.push_back(fmt::format("rank {} has seen it", r));
  if (env.rank != 0) {
    PDSIM_TRY(store.wait(done, 20_s));
    return store.set(seen[static_cast<std::size_t>(env.rank - 1)], "yes");
  }
  Status status = body();
  PDSIM_TRY(store.set(done[0], "yes"));
  PDSIM_TRY(store.wait(seen, 20_s));
  return status;
}

Status ring_in_vain(ProcessGroup& world, std::int64_t count) {
  std::vector<float> data(static_cast<std::size_t>(count));
  CallOptions options;
  options.algorithm = "ring";
  options.timeout = 50_ms;
  return wait(world.all_reduce({reinterpret_cast<std::byte*>(data.data()), DType::f32, count}, ReduceOp::sum, options));
}

Status plan_timeout(RankEnvironment& env, Store& store, ProcessGroup& world) {
  return alone_in(env, store, [&]() -> Status {
    PDSIM_TRY(expect(ring_in_vain(world, 4), Code::timeout));
    return expect(ring_in_vain(world, 4), Code::timeout);
  });
}

Status large_plan_timeout(RankEnvironment& env, Store& store, ProcessGroup& world) {
  return alone_in(env, store, [&]() -> Status {
    PDSIM_TRY(expect(ring_in_vain(world, 1 << 20), Code::timeout));
    return expect(wait(world.barrier()), Code::group_unusable);
  });
}

Status native_alone(RankEnvironment& env, Store& store, ProcessGroup& world) {
  return alone_in(env, store, [&]() -> Status {
    std::array<float, 4> data{};
    return wait(world.all_reduce(view(data), ReduceOp::sum));
  });
}

Status destroyed(RankEnvironment& env, Store& store, ProcessGroup& world) {
  return alone_in(env, store, [&]() -> Status {
    std::array<float, 4> data{};
    const Result<WorkPtr> work = world.all_reduce(view(data), ReduceOp::sum);
    PDSIM_TRY(work.status());
    world.destroy();
    return expect((*work)->wait(), Code::cancelled);
  });
}

Status sum_unless(RankEnvironment& env, ProcessGroup& world, void (*rank_1)()) {
  if (env.rank == 1) rank_1();
  std::array<float, 4> data{};
  return wait(world.all_reduce(view(data), ReduceOp::sum));
}
Status dies(RankEnvironment& env, Store&, ProcessGroup& world) {
  return sum_unless(env, world, [] { raise(SIGKILL); });
}
// Within a call that nobody answers, so that the newest of its record is open.
Status dies_inside(RankEnvironment& env, Store&, ProcessGroup& world) {
  std::array<float, 4> data{};
  if (env.rank == 1) {
    const Result<WorkPtr> work = world.recv(view(data), 0, 9);
    raise(SIGKILL);
  }
  return wait(world.all_reduce(view(data), ReduceOp::sum));
}
Status hangs(RankEnvironment& env, Store&, ProcessGroup& world) {
  if (env.rank == 1) (void)env.runtime.make_event()->wait(Time::max());
  return sum_unless(env, world, [] {});
}

Status alone(RankEnvironment& env, Store& store, ProcessGroup&) {
  auto communicator = env.backend.join(store, {fmt::format("only {}", env.rank), 0, 1, 20_s, {env.rank}});
  PDSIM_TRY(communicator.status());
  ProcessGroup group("alone", {env.rank}, 0, 20_s, std::move(*communicator), env.recorder);
  std::array<float, 2> data{1, 2};
  PDSIM_TRY(wait(group.all_reduce(view(data), ReduceOp::sum)));
  return data[0] == 1 && data[1] == 2 ? Status{} : wrong("the sum over one rank changed its data");
}

Status own_algorithms(RankEnvironment&, Store&, ProcessGroup& world) { return planted::try_own_algorithms(world); }

constexpr std::array<std::pair<std::string_view, GroupProgram>, 14> programs{{
    {"any_source", any_source_program},
    {"tags", tags_program},
    {"long_message", long_message},
    {"subgroups", subgroups},
    {"plan_timeout", plan_timeout},
    {"large_plan_timeout", large_plan_timeout},
    {"native_alone", native_alone},
    {"destroyed", destroyed},
    {"dies", dies},
    {"dies_inside", dies_inside},
    {"hangs", hangs},
    {"alone", alone},
    {"sharded", sharded_equals_ddp},
    {"own_algorithms", own_algorithms},
}};

}  // namespace

GroupProgram group_program(std::string_view name) {
  for (const auto& [known, program] : programs)
    if (known == name) return program;
  return nullptr;
}

}  // namespace pdsim
