// What it costs to read the dumps of a PyTorch job and to explain them. Items are entries; each of the ranks has 2,000, with stacks of 20
// frames, from 40 places of the program.
#include "scenarios/records/pytorch/job.h"
#include "scenarios/records/pytorch/write.h"
#include "scenarios/run/analyse.h"

#include <benchmark/benchmark.h>
#include <string>
#include <vector>

namespace pdsim::scenarios::pytorch {
namespace {

constexpr int entries = 2000, places = 40, depth = 20;
constexpr std::int64_t began_at_ns = 1'700'000'000'000'000'000;

std::vector<SharedValue<std::vector<Frame>>> stacks() {
  std::vector<SharedValue<std::vector<Frame>>> all;
  for (int place = 0; place < places; ++place) {
    std::vector<Frame> frames;
    for (int i = 0; i < depth; ++i)
      frames.push_back({"function_" + std::to_string(i), "/job/module_" + std::to_string(i) + ".py", 10 * i + place});
    all.emplace_back(std::move(frames));
  }
  return all;
}

// The last rank lacks the newest call, in which the others are.
std::string pickled(Rank rank, int ranks) {
  const auto shared = stacks();
  Dump dump;
  dump.version = "2.9";
  Group& group = dump.groups.emplace_back(Group{"0", "default_pg", {}});
  for (int r = 0; r < ranks; ++r) group.ranks.push_back(r);
  for (int i = 0; i + (rank == ranks - 1 ? 1 : 0) < entries; ++i) {
    Entry entry;
    entry.record_id = i;
    entry.group = "0";
    entry.group_desc = "default_pg";
    entry.collective_seq = i + 1;
    entry.name = "nccl:all_reduce";
    entry.created_ns = began_at_ns + 1'000'000 * i;
    entry.input_sizes = entry.output_sizes = {{1024, i % places}};
    entry.input_dtypes = entry.output_dtypes = std::vector<std::string>{"Float"};
    entry.state = i + 1 < entries ? EntryState::completed : EntryState::started;
    if (entry.state == EntryState::completed) entry.completed_ns = entry.created_ns + 500'000;
    entry.frames = shared[static_cast<std::size_t>(i % places)];
    dump.entries.push_back(std::move(entry));
  }
  return pickle_text(dump);
}

void explained_dumps(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  std::vector<std::string> files;
  for (Rank r = 0; r < ranks; ++r) files.push_back(pickled(r, ranks));
  Scenario scenario;
  scenario.world.spec.ranks_per_node = ranks;
  for (auto _ : state) {
    std::vector<Dump> dumps;
    for (Rank r = 0; r < ranks; ++r)
      dumps.push_back(std::move(*dump_of(*read_tree(files[static_cast<std::size_t>(r)]), r)));
    const Report report = analyse(scenario, std::move(*run_of(std::move(dumps))), RunWorld(pytorch_world));
    if (report.diagnosis() == nullptr) state.SkipWithError("the missing call was not found");
  }
  state.SetItemsProcessed(state.iterations() * ranks * entries);
}
BENCHMARK(explained_dumps)->Arg(8)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pdsim::scenarios::pytorch
