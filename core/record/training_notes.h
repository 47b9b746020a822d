// Notes on training: the model, DDP, tensors, samples and devices (core/record/notes.h).
#pragma once

#include "core/base/enum_names.h"
#include "core/base/quantity.h"
#include "core/base/types.h"
#include "core/record/note_field.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::notes {

enum class LayoutPhase : std::uint8_t { initial, rebuilt };
enum class LossReduction : std::uint8_t { mean, sum };
enum class ReplicaMoment : std::uint8_t { wrapped, forward, local_forward, step, end };

// The path of the model that a forward takes, and the place in the file that says so.
struct PathTaken {
  std::string path;
  bool usual = true;
  int line = 0, column = 0;
  static constexpr std::string_view kind = "path-taken";
  static constexpr void fields(auto field) {
    field("path", &PathTaken::path), field("default", &PathTaken::usual), field("line", &PathTaken::line),
    field("column", &PathTaken::column);
  }
  bool operator==(const PathTaken&) const = default;
};

// The settings of a training known before the first forward.
struct TrainingSetup {
  LossReduction reduction = LossReduction::mean;
  std::int64_t rows = 0;               // in a batch, where a forward does not say
  bool sampled = false;                // rows come from a data set, through a sampler
  std::vector<std::string> recompute;  // layers under a reentrant checkpoint
  static constexpr std::string_view kind = "training-setup";
  static constexpr void fields(auto field) {
    field("reduction", &TrainingSetup::reduction), field("rows", &TrainingSetup::rows), field("sampled", &TrainingSetup::sampled),
    field("recompute", &TrainingSetup::recompute);
  }
  bool operator==(const TrainingSetup&) const = default;
};

// DDP was constructed.
struct DdpOptions {
  bool find_unused_parameters = false, broadcast_buffers = true;
  std::string comm_hook;
  std::int64_t buckets = 0;
  int line = 0, column = 0;
  static constexpr std::string_view kind = "ddp-options";
  static constexpr void fields(auto field) {
    field("find_unused_parameters", &DdpOptions::find_unused_parameters), field("broadcast_buffers", &DdpOptions::broadcast_buffers),
    field("comm_hook", &DdpOptions::comm_hook), field("buckets", &DdpOptions::buckets), field("line", &DdpOptions::line),
    field("column", &DdpOptions::column);
  }
  bool operator==(const DdpOptions&) const = default;
};

struct BucketLayout {
  LayoutPhase phase = LayoutPhase::initial;
  std::int64_t bucket = 0, bytes = 0;
  std::vector<std::string> parameters;
  static constexpr std::string_view kind = "bucket-layout";
  static constexpr void fields(auto field) {
    field("phase", &BucketLayout::phase), field("bucket", &BucketLayout::bucket), field("bytes", &BucketLayout::bytes),
    field("parameters", &BucketLayout::parameters);
  }
  bool operator==(const BucketLayout&) const = default;
};

struct BucketLaunched {
  std::int64_t bucket = 0;
  static constexpr std::string_view kind = "bucket-launched";
  static constexpr void fields(auto field) { field("bucket", &BucketLaunched::bucket); }
  bool operator==(const BucketLaunched&) const = default;
};

// Backward returned, and no gradient became ready for `missing`.
struct BucketUnfilled {
  std::int64_t bucket = 0, ready = 0, total = 0;
  std::vector<std::string> missing;
  static constexpr std::string_view kind = "bucket-unfilled";
  static constexpr void fields(auto field) {
    field("bucket", &BucketUnfilled::bucket), field("ready", &BucketUnfilled::ready), field("total", &BucketUnfilled::total),
    field("missing", &BucketUnfilled::missing);
  }
  bool operator==(const BucketUnfilled&) const = default;
};

// One step of one optimizer on the parameters of one model. `settings` are what it went by (lr, momentum, ...), and `values` theirs, as
// many; two ranks with other settings move their parameters elsewhere. So do two whose gradients or optimizer's state are not the same.
struct OptimizerStep {
  static constexpr std::int64_t unknown = -1;
  bool synchronised = true;  // the gradients were
  std::string replica;       // of ReplicaMade; empty: the rank has one model
  std::vector<std::string> settings, values;
  std::int64_t averaged = unknown;   // a digest of the gradients when the backward that averaged them returned
  std::int64_t gradients = unknown;  // of the gradients when the step began
  std::int64_t state = unknown;      // of the optimizer's state then: its momentum, its moments
  static constexpr std::string_view kind = "optimizer-step";
  static constexpr void fields(auto field) {
    field("synchronised", &OptimizerStep::synchronised), field("replica", &OptimizerStep::replica),
    field("settings", &OptimizerStep::settings), field("values", &OptimizerStep::values),
    field("averaged", &OptimizerStep::averaged), field("gradients", &OptimizerStep::gradients), field("state", &OptimizerStep::state);
  }
  bool operator==(const OptimizerStep&) const = default;
};

// A scaler of gradients made no step of the optimizer: it had found a NaN or an infinity in the gradients of `replica`.
struct StepSkipped {
  std::string replica;
  static constexpr std::string_view kind = "step-skipped";
  static constexpr void fields(auto field) { field("replica", &StepSkipped::replica); }
  bool operator==(const StepSkipped&) const = default;
};

// A model was wrapped for data parallel training by these ranks: the n-th note of a rank with these ranks is about the same model as
// the n-th of each of the others. `replica` is the rank's own name for it.
struct ReplicaMade {
  std::string replica;
  std::vector<Rank> ranks;
  std::vector<std::string> parameters;
  static constexpr std::string_view kind = "replica-made";
  static constexpr void fields(auto field) {
    field("replica", &ReplicaMade::replica), field("ranks", &ReplicaMade::ranks), field("parameters", &ReplicaMade::parameters);
  }
  bool operator==(const ReplicaMade&) const = default;
};

// Its gradients are averaged by a hook of the program's, which may leave replicas different on purpose.
struct ReplicaHooked {
  std::string replica, hook;
  static constexpr std::string_view kind = "replica-hooked";
  static constexpr void fields(auto field) { field("replica", &ReplicaHooked::replica), field("hook", &ReplicaHooked::hook); }
  bool operator==(const ReplicaHooked&) const = default;
};

// The values that the parameters of a replica have: after wrapping, before a forward whose backward will be synchronised (forward) or not
// (local_forward), after a step of an optimizer, and at the end of the program.
struct ReplicaState {
  std::string replica;
  ReplicaMoment moment = ReplicaMoment::step;
  std::int64_t calls = -1;  // collectives of the model's group that the rank had begun: the same moment of the program on all ranks
  std::int64_t digest = 0;  // of all parameters together
  std::vector<std::int64_t> digests;  // of each, as ReplicaMade has them; empty: not kept
  static constexpr std::string_view kind = "replica-state";
  static constexpr void fields(auto field) {
    field("replica", &ReplicaState::replica), field("moment", &ReplicaState::moment), field("calls", &ReplicaState::calls),
    field("digest", &ReplicaState::digest), field("digests", &ReplicaState::digests);
  }
  bool operator==(const ReplicaState&) const = default;
};

// Tensors with which a rank begins to train and which DDP does not make equal: buffers where it broadcasts none, parameters where its
// constructor shares none. A digest of each.
struct FirstValues {
  bool buffers = false;  // else parameters
  std::vector<std::string> tensors;
  std::vector<std::int64_t> digests;
  static constexpr std::string_view kind = "first-values";
  static constexpr void fields(auto field) {
    field("buffers", &FirstValues::buffers), field("tensors", &FirstValues::tensors), field("digests", &FirstValues::digests);
  }
  bool operator==(const FirstValues&) const = default;
};

// The rank's dropout draws its masks from this stream of random numbers; ranks with the same stream draw the same masks.
struct NoiseSeeded {
  std::int64_t stream = 0;
  static constexpr std::string_view kind = "noise-seeded";
  static constexpr void fields(auto field) { field("stream", &NoiseSeeded::stream); }
  bool operator==(const NoiseSeeded&) const = default;
};

// A tensor was saved for backward in this version.
struct TensorSaved {
  std::string tensor;
  std::int64_t version = 0;
  std::string by;
  static constexpr std::string_view kind = "tensor-saved";
  static constexpr void fields(auto field) {
    field("tensor", &TensorSaved::tensor), field("version", &TensorSaved::version), field("by", &TensorSaved::by);
  }
  bool operator==(const TensorSaved&) const = default;
};

// A tensor was written in place; `version` is the one afterwards.
struct TensorWritten {
  std::string tensor;
  std::int64_t version = 0;
  std::string by;
  bool broadcast = false;  // DDP's broadcast of buffers wrote it
  static constexpr std::string_view kind = "tensor-written";
  static constexpr void fields(auto field) {
    field("tensor", &TensorWritten::tensor), field("version", &TensorWritten::version), field("by", &TensorWritten::by),
    field("broadcast", &TensorWritten::broadcast);
  }
  bool operator==(const TensorWritten&) const = default;
};

// Backward found a saved tensor with a different version.
struct VersionError {
  std::string tensor;
  std::int64_t version = -1, expected = -1;
  static constexpr std::string_view kind = "version-error";
  static constexpr void fields(auto field) {
    field("tensor", &VersionError::tensor), field("version", &VersionError::version), field("expected", &VersionError::expected);
  }
  bool operator==(const VersionError&) const = default;
};

// "name [2 x 3]" for every trained parameter, as registered.
struct ModelBuilt {
  std::vector<std::string> parameters;
  static constexpr std::string_view kind = "model-built";
  static constexpr void fields(auto field) { field("parameters", &ModelBuilt::parameters); }
  bool operator==(const ModelBuilt&) const = default;
};

// A forward with gradients went through the module itself. The site is the forward's, or the backward's where only that was seen.
struct WrapperBypassed {
  std::string replica;  // empty: the rank has one model
  bool forward = true;
  static constexpr std::string_view kind = "wrapper-bypassed";
  static constexpr void fields(auto field) { field("replica", &WrapperBypassed::replica), field("forward", &WrapperBypassed::forward); }
  bool operator==(const WrapperBypassed&) const = default;
};

struct LossScaled {
  std::int64_t by = 1, divided_by = 1;
  int ranks = 1;
  LossReduction reduction = LossReduction::mean;
  static constexpr std::string_view kind = "loss-scaled";
  static constexpr void fields(auto field) {
    field("by", &LossScaled::by), field("divided_by", &LossScaled::divided_by), field("ranks", &LossScaled::ranks),
    field("reduction", &LossScaled::reduction);
  }
  bool operator==(const LossScaled&) const = default;
};

struct OptimizerMade {
  bool copies = false, wrapped = false;  // of the parameters; DDP was there
  static constexpr std::string_view kind = "optimizer-made";
  static constexpr void fields(auto field) { field("copies", &OptimizerMade::copies), field("wrapped", &OptimizerMade::wrapped); }
  bool operator==(const OptimizerMade&) const = default;
};

// The samples that this rank draws in an epoch.
struct SamplesDrawn {
  std::int64_t epoch = 0, samples = 0, over = 0;
  std::string sampler;
  bool shuffled = false;
  std::uint64_t seed = 0;
  std::vector<std::int64_t> indices;
  static constexpr std::string_view kind = "samples-drawn";
  static constexpr void fields(auto field) {
    field("epoch", &SamplesDrawn::epoch), field("sampler", &SamplesDrawn::sampler), field("samples", &SamplesDrawn::samples),
    field("over", &SamplesDrawn::over), field("shuffled", &SamplesDrawn::shuffled), field("seed", &SamplesDrawn::seed),
    field("indices", &SamplesDrawn::indices);
  }
  bool operator==(const SamplesDrawn&) const = default;
};

struct RequiresGradSet {
  std::vector<std::string> layers;
  bool to = true, wrapped = false;
  static constexpr std::string_view kind = "requires-grad-set";
  static constexpr void fields(auto field) {
    field("layers", &RequiresGradSet::layers), field("to", &RequiresGradSet::to), field("wrapped", &RequiresGradSet::wrapped);
  }
  bool operator==(const RequiresGradSet&) const = default;
};

// The model was sharded in these units, the root last.
struct UnitsSharded {
  std::vector<std::string> units;
  int stage = 3, line = 0, column = 0;
  static constexpr std::string_view kind = "units-sharded";
  static constexpr void fields(auto field) {
    field("units", &UnitsSharded::units), field("stage", &UnitsSharded::stage), field("line", &UnitsSharded::line),
    field("column", &UnitsSharded::column);
  }
  bool operator==(const UnitsSharded&) const = default;
};

// Gradients of a sharded model were clipped by the norm of this rank's shard of them.
struct ShardClipped {
  std::string norm, max_norm;
  static constexpr std::string_view kind = "shard-clipped";
  static constexpr void fields(auto field) { field("norm", &ShardClipped::norm), field("max_norm", &ShardClipped::max_norm); }
  bool operator==(const ShardClipped&) const = default;
};

// A file that holds one of several parts of split layers, written or read by the rank that has `part`.
struct PartStored {
  std::string path;
  int part = 0, parts = 1;
  bool loaded = false;
  static constexpr std::string_view kind = "part-stored";
  static constexpr void fields(auto field) {
    field("path", &PartStored::path), field("part", &PartStored::part), field("parts", &PartStored::parts),
    field("loaded", &PartStored::loaded);
  }
  bool operator==(const PartStored&) const = default;
};

// This rank has the process group and the bare model.
struct NotWrapped {
  static constexpr std::string_view kind = "not-wrapped";
  static constexpr void fields(auto) {}
  bool operator==(const NotWrapped&) const = default;
};

// The model, of several, that a forward or backward runs.
struct ModelUsed {
  std::string model;
  static constexpr std::string_view kind = "model-used";
  static constexpr void fields(auto field) { field("model", &ModelUsed::model); }
  bool operator==(const ModelUsed&) const = default;
};

// The last step of a training loop, for each device; bytes and times.
struct DeviceLoad {
  std::string device;
  std::int64_t rows = 0, parameters = 0, gradients = 0, optimizer = 0, activations = 0;
  Time computing{}, step{};
  bool data_parallel = false;  // one of several devices of one process that share the rows
  static constexpr std::string_view kind = "device-load";
  static constexpr void fields(auto field) {
    field("device", &DeviceLoad::device), field("rows", &DeviceLoad::rows), field("parameters", &DeviceLoad::parameters),
    field("gradients", &DeviceLoad::gradients), field("optimizer", &DeviceLoad::optimizer), field("activations", &DeviceLoad::activations),
    field("computing_ps", &DeviceLoad::computing), field("step_ps", &DeviceLoad::step), field("data_parallel", &DeviceLoad::data_parallel);
  }
  bool operator==(const DeviceLoad&) const = default;
};

// A forward that states its number of rows.
struct RowsTaken {
  std::int64_t rows = 0;
  static constexpr std::string_view kind = "rows-taken";
  static constexpr void fields(auto field) { field("rows", &RowsTaken::rows); }
  bool operator==(const RowsTaken&) const = default;
};

}  // namespace pdsim::notes

namespace pdsim {

template <>
inline constexpr auto enum_rows<notes::LayoutPhase> = std::to_array<EnumRow<notes::LayoutPhase>>({
    {notes::LayoutPhase::initial, "initial"},
    {notes::LayoutPhase::rebuilt, "rebuilt"},
});
template <>
inline constexpr auto enum_rows<notes::LossReduction> = std::to_array<EnumRow<notes::LossReduction>>({
    {notes::LossReduction::mean, "mean"},
    {notes::LossReduction::sum, "sum"},
});

template <>
inline constexpr auto enum_rows<notes::ReplicaMoment> = std::to_array<EnumRow<notes::ReplicaMoment>>({
    {notes::ReplicaMoment::wrapped, "wrapped"},
    {notes::ReplicaMoment::forward, "forward"},
    {notes::ReplicaMoment::local_forward, "local-forward"},
    {notes::ReplicaMoment::step, "step"},
    {notes::ReplicaMoment::end, "end"},
});

}  // namespace pdsim
