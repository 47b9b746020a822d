// DataParallel's devices: some without rows, or one with more than the others.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace pdsim::scenarios::diagnoses {
namespace {

// Memory of the fullest device in that of the median one, and the step in what a device computes of it.
constexpr double much_more = 1.5;

const notes::DeviceLoad& load_of(const Note& note) { return note.as<notes::DeviceLoad>(); }

std::int64_t memory_of(const notes::DeviceLoad& load) {
  return load.parameters + load.gradients + load.optimizer + load.activations;
}

struct Devices {
  Rank rank = 0;
  std::vector<const Note*> loads;
};

// Returns the devices of the process that has several; empty if there is no such process.
Devices devices_of(const Report& report) {
  for (const RankResult& result : report.run.ranks)
    if (auto loads = notes_of<notes::DeviceLoad>(result.log);
        loads.size() > 1 && load_of(*loads.front()).data_parallel)  // else layers on devices, not rows
      return {result.log.rank, std::move(loads)};
  return {};
}

void place(Diagnosis& d, const Report& report, const Devices& devices) {
  for (const Note* load : devices.loads)
    d.evidence.push_back(evidence_of(devices.rank, *load,
                              fmt::format("device {}: {} rows, {}", load_of(*load).device, load_of(*load).rows,
                                          to_string(Bytes{memory_of(load_of(*load))}))));
  add_span(d, report, Section::data_parallel, fmt::format("{} devices", devices.loads.size()), true);
  d.inevitable_at = devices.loads.front()->at;
}

}  // namespace

std::optional<Diagnosis> devices_idle(const Report& report) {
  const Devices devices = devices_of(report);
  std::vector<std::string> idle;
  std::vector<std::int64_t> rows;
  for (const Note* load : devices.loads) {
    rows.push_back(load_of(*load).rows);
    if (rows.back() == 0) idle.push_back(load_of(*load).device);
  }
  if (idle.empty()) return std::nullopt;
  const std::int64_t batch = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  Diagnosis d;
  d.ranks = {devices.rank};
  const std::string names = fmt::format("device{} {}", idle.size() == 1 ? "" : "s", list_text(idle));
  d.headline = fmt::format("{} no rows: a batch of {} is split across {} devices",
                           names + (idle.size() == 1 ? " gets" : " get"), batch, rows.size());
  d.cause = fmt::format("the pieces have {} rows", fmt::join(rows, ", "));
  d.why = fmt::format(
      "DataParallel splits the batch as torch.chunk does: pieces of ceil({} / {}) = {} rows until none are left. The "
      "devices after the last piece get no replica and compute nothing. The others behave as if the batch had been "
      "split across fewer devices, and a piece of one row is an error for batch normalisation.",
      batch, rows.size(), rows.front());
  d.fix = fmt::format("use a batch of at least {} rows, ideally a multiple of it, or fewer devices", rows.size());
  d.fix_lines = {"the batch is for all devices together; with DistributedDataParallel it is per device",
                 "drop_last=True, if it is the last batch of the epoch"};
  place(d, report, devices);
  d.inevitable = fmt::format("in the last step: {} waited", names);
  return d;
}

std::optional<Diagnosis> device_imbalance(const Report& report) {
  const Devices devices = devices_of(report);
  if (devices.loads.size() < 2) return std::nullopt;
  std::vector<std::int64_t> memory;
  for (const Note* load : devices.loads) memory.push_back(memory_of(load_of(*load)));
  const auto fullest = std::max_element(memory.begin(), memory.end());
  const auto device = static_cast<std::size_t>(fullest - memory.begin());
  std::vector<std::int64_t> sorted = memory;
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t usual = sorted[(sorted.size() - 1) / 2];
  if (usual < 1 || static_cast<double>(*fullest) < much_more * static_cast<double>(usual)) return std::nullopt;
  const notes::DeviceLoad& load = load_of(*devices.loads[device]);
  Time computing{};
  const Time step = load.step;
  for (const Note* note : devices.loads) computing = std::max(computing, load_of(*note).computing);
  if (computing.ps < 1 || static_cast<double>(step.ps) < much_more * static_cast<double>(computing.ps))
    return std::nullopt;  // nobody said how long layers take, or the devices are busy
  Diagnosis d;
  d.ranks = {devices.rank};
  d.headline = fmt::format("device {} uses {} of memory, {:.1f} times as much as the others", load.device,
                           to_string(Bytes{*fullest}), static_cast<double>(*fullest) / static_cast<double>(usual));
  d.cause =
      fmt::format("no device computes for longer than {1} of the step's {0}", to_string(step), to_string(computing));
  d.why =
      "DataParallel is one process: parameters, their gradients and the optimizer's state live on the first device, "
      "outputs are gathered on the output device, and in every step parameters are copied to all devices and gradients "
      "back. The first device runs out of memory while the others are half empty, and all wait for its copies.";
  d.fix = "data_parallel: none, in a world with a rank for each device: DistributedDataParallel";
  d.fix_lines = {"data_parallel: {output_device: 1} moves the outputs away, not the rest",
                 "compute the loss inside the module, so that little data is gathered"};
  place(d, report, devices);
  d.inevitable = fmt::format("in every step: {} of the parameters are on device {}", "the originals", load.device);
  return d;
}

constexpr std::string_view devices_idle_text =
    R"(DataParallel has fewer rows than devices, or a number that does not divide evenly: torch.chunk makes pieces of ceil(rows /
devices) rows, and the last devices get fewer or none. For 5 rows on 4 devices the pieces are 2, 2 and 1.

How to recognise it: nvidia-smi shows 0 % on some GPUs although all were passed; "Expected more than 1 value per channel
when training" from batch normalisation in one replica; mostly in the last batch of an epoch.

Fix: a batch that is a multiple of the number of devices, drop_last=True, or fewer devices.)";

constexpr std::string_view device_imbalance_text =
    R"(DataParallel keeps the original parameters on its first device and gathers the outputs on one device. That device holds more
than the others, and in every step all data pass through it, one device after another.

How to recognise it: GPU 0 runs out of memory while the others have space; GPU 0 is at 100 % and the others below; "There is
an imbalance between your GPUs" at construction, where their memory or cores differ.

Fix: DistributedDataParallel with one process per GPU, even on one machine.)";

extern const DiagnosisRow devices_idle_row;
const DiagnosisRow devices_idle_row{620, "devices-idle", "DataParallel has fewer pieces than devices", devices_idle,
                                    devices_idle_text};
extern const DiagnosisRow device_imbalance_row;
const DiagnosisRow device_imbalance_row{630, "device-imbalance", "DataParallel puts more load on one device than on "
                                                                 "the others",
                                        device_imbalance, device_imbalance_text};

}  // namespace pdsim::scenarios::diagnoses
