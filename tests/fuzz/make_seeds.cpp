// Writes what the fuzzers begin with: what pdsim itself writes for the readers. make_seeds DIR makes DIR/<target>/<number>.
//
// Adding seeds for a target: a row in `rows`.
#include "backends/launch/job_link.h"
#include "backends/launch/packed_ring.h"
#include "backends/launch/remote_rank.h"
#include "backends/tcp_store/tcp_wire.h"
#include "core/store/log_records.h"
#include "scenarios/language/loader.h"
#include "scenarios/records/pytorch/write.h"
#include "scenarios/records/record_json.h"
#include "scenarios/records/record_origin.h"
#include "scenarios/run/run_scenarios.h"
#include "tests/fuzz/frames.h"
#include "tests/helpers/catalog_files.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace pdsim::fuzz {
namespace {

namespace fs = std::filesystem;
using Inputs = std::vector<std::string>;

constexpr std::size_t most_bytes = 8'000;  // small inputs are what a fuzzer is good at

struct Run {
  std::unique_ptr<scenarios::LoadedFile> file;
  std::vector<scenarios::Report> reports;
};

// Every variant of every file of the catalog.
std::vector<Run> run_catalog() {
  std::vector<Run> runs;
  std::string problem;
  const scenarios::WorldRow* world = scenarios::world_named("sim", problem);
  for (const fs::path& path : scenarios::catalog_files()) {
    Result<scenarios::LoadedFile> file = scenarios::load_file(path.string());
    PDSIM_CHECK(file.ok() && file->errors == 0, "the catalog is without errors");
    Run run{std::make_unique<scenarios::LoadedFile>(std::move(*file)), {}};
    for (const scenarios::Scenario& variant : run.file->variants)
      if (Result<scenarios::Report> report = scenarios::run_scenario(variant, *world, {}); report.ok())
        run.reports.push_back(std::move(*report));
    runs.push_back(std::move(run));
  }
  return runs;
}

// What `write` makes of every run.
template <class Write>
Inputs of_each(const std::vector<Run>& runs, Write write) {
  Inputs inputs;
  for (const Run& run : runs)
    for (const scenarios::Report& report : run.reports) write(*run.file, report, inputs);
  return inputs;
}

Inputs flight_records(const std::vector<Run>& runs) {
  return of_each(runs, [](const scenarios::LoadedFile& file, const scenarios::Report& report, Inputs& inputs) {
    const scenarios::Scenario& ran = *report.scenario;
    const scenarios::RecordOrigin origin{ran.name, ran.variant, ran.file, report.world.name(), ran.seed, file.text};
    inputs.push_back(origin_line(origin) + scenarios::events_jsonl(report.run));
  });
}

template <auto text_of_dump>
Inputs dumps(const std::vector<Run>& runs) {
  return of_each(runs, [](const auto&, const scenarios::Report& report, Inputs& inputs) {
    const auto all = scenarios::pytorch::dumps_of(report.run, {});
    if (!all.empty()) inputs.push_back(text_of_dump(all.front()));
  });
}

std::vector<std::uint64_t> ring_of(const RankLog& log) {
  constexpr RingShape shape{12, 4};
  std::vector<std::uint64_t> words(RecordRing::bytes_for(shape) / 8);
  const auto memory = std::as_writable_bytes(std::span(words));
  RecordRing ring(memory, shape, log.rank, log.launch);
  for (const Call& call : log.calls) ring.write(call);
  for (std::size_t n = 0; n < log.notes.size(); ++n) ring.write(static_cast<std::int64_t>(n), log.notes[n]);
  if (log.end != RankEnd::running) mark_end(memory, {log.end == RankEnd::died ? 9 : 0, 0, false});
  return words;
}

// Times as only a broken or hostile process leaves them: every call begins at the first or the last one there is.
void add_rings_of_extreme_times(RankLog log, Inputs& inputs) {
  constexpr std::array extremes{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  for (const std::int64_t extreme : extremes) {
    for (Call& call : log.calls) call.issued = Time{extreme};
    const std::vector<std::uint64_t> words = ring_of(log);
    const auto memory = std::as_bytes(std::span(words));
    inputs.emplace_back(reinterpret_cast<const char*>(memory.data()), memory.size());
  }
}

Inputs rings(const std::vector<Run>& runs) {
  return of_each(runs, [](const auto&, const scenarios::Report& report, Inputs& inputs) {
    if (report.run.ranks.empty()) return;
    const std::vector<std::uint64_t> words = ring_of(report.run.ranks.front().log);
    const auto memory = std::as_bytes(std::span(words));
    inputs.emplace_back(reinterpret_cast<const char*>(memory.data()), memory.size());
    if (inputs.size() % 16 == 0) inputs.push_back(packed_ring(memory));
    if (inputs.size() == 1) add_rings_of_extreme_times(report.run.ranks.front().log, inputs);
  });
}

Inputs rank_frames(const std::vector<Run>& runs) {
  RankStart word;
  word.size = 2;
  word.work_dir = "/tmp/a folder";
  word.request = R"({"kind":"pairs"})";
  const std::string start = frame_bytes(FrameKind::start, text_of(word)),
                    progress = frame_bytes(FrameKind::progress, "");
  return of_each(runs, [&](const auto&, const scenarios::Report& report, Inputs& inputs) {
    if (report.run.ranks.empty()) return;
    const std::string record = scenarios::to_json(report.run.ranks.back());
    inputs.push_back(inputs.size() % 2 == 0 ? start + progress + frame_bytes(FrameKind::record, record)
                                            : frame_bytes(FrameKind::final_record, "n" + record));
  });
}

Inputs job_frames(const std::vector<Run>& runs) {
  JobHello hello;
  hello.size = 2;
  hello.version = "0.1.0";
  hello.name = "a job";
  AgentStart start;
  start.arguments = {"rank", "gloo"};
  const std::vector<std::uint64_t> ring = ring_of(runs.front().reports.front().run.ranks.front().log);
  return {frame_bytes(FrameKind::hello, text_of(hello)),
          frame_bytes(FrameKind::welcome, "") + frame_bytes(FrameKind::start, text_of(start)),
          frame_bytes(FrameKind::ended, text_of(AgentEnded{{0, 9}, false, "its output\n"})),
          frame_bytes(FrameKind::ring, packed_ring(std::as_bytes(std::span(ring)))),
          frame_bytes(FrameKind::goodbye, text_of(JobGoodbye{2, true, "rank 1 is of another version"}))};
}

Inputs store_frames(const std::vector<Run>&) {
  using namespace tcp;
  const std::string greeting = hello() + offer("");
  Inputs inputs{greeting, hello() + offer("a secret")};
  for (std::uint8_t op = 0; op < static_cast<std::uint8_t>(Op::count_); ++op)
    for (std::size_t texts = 0; texts < 4; ++texts)
      inputs.push_back(greeting + encode(Request{static_cast<Op>(op), Time{5}, 1, Inputs(texts, "/a key")}));
  inputs.push_back(greeting + encode(Request{Op::wait, Time{}, 0, {"/a key", "/another"}}) +
                   encode(Request{Op::set, Time{}, 0, {"/another", ""}}) +
                   encode(Request{Op::set, Time{}, 0, {"/a key", "its value"}}));
  inputs.push_back(encode(Result<Response>(Response{7, {"a value", ""}})));
  inputs.push_back(encode(Result<Response>(Error{Code::store_timeout, "rank 1 is late", {{"key", "/a key"}}})));
  return inputs;
}

Inputs shapes(const std::vector<Run>&) {
  return {R"({"dtype": "f32", "ready_order": [[4096], [4096, 25088]]})", R"({"ready_order": [[], [0], [1]]})",
          R"({"dtype": "f16",)"
          "\n\t"
          R"("ready_order": [[1152921504606846975, 2]]})"};
}

Inputs quantity_words(const std::vector<Run>&) {
  return {"5us",
          "1.5ms",
          "10min",
          "0.001ns",
          "25MiB",
          "4KiB",
          "100B",
          "25GB/s",
          "1Gb/s",
          "inf",
          "0.1%",
          "20ppm",
          "env://",
          "tcp://[::1]:29500?rank=1&world_size=2",
          "file:///tmp/x?rank=0&world_size=1",
          "localhost:29500"};
}

Inputs store_files(const std::vector<Run>&) {
  return {log_record("/default_pg/0", "an address"), log_record("/k", "v") + log_record("-/k", ""),
          log_record(cleanup_key, "2") + log_record(refcount_key, "1") + log_record("/", std::string(300, '\0'))};
}

struct Row {
  const char* target;
  Inputs (*inputs)(const std::vector<Run>&);
};
constexpr std::array rows{
    Row{"flight_record", flight_records},
    Row{"job_link", job_frames},
    Row{"pytorch_json", dumps<scenarios::pytorch::json_text>},
    Row{"pytorch_pickle", dumps<scenarios::pytorch::pickle_text>},
    Row{"quantities", quantity_words},
    Row{"rank_channel", rank_frames},
    Row{"record_ring", rings},
    Row{"shapes_file", shapes},
    Row{"store_file", store_files},
    Row{"store_protocol", store_frames},
};

bool write_all(const fs::path& folder, const Inputs& inputs) {
  fs::create_directories(folder);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() > most_bytes) continue;
    std::ofstream file(folder / std::to_string(i), std::ios::binary | std::ios::trunc);
    file << inputs[i] << std::flush;
    if (!file) return false;
  }
  return true;
}

}  // namespace
}  // namespace pdsim::fuzz

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_seeds DIR\n");
    return 2;
  }
  const std::vector<pdsim::fuzz::Run> runs = pdsim::fuzz::run_catalog();
  for (const pdsim::fuzz::Row& row : pdsim::fuzz::rows)
    if (!pdsim::fuzz::write_all(std::filesystem::path(arguments[1]) / row.target, row.inputs(runs))) {
      std::fprintf(stderr, "cannot write into %s/%s\n", arguments[1], row.target);
      return 1;
    }
  return 0;
}
