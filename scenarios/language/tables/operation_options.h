// The options of the operations, as a loaded program has them: typed and complete. A member initialiser is the default of
// its key; the keys are in scenarios/program/operations.
#pragma once

#include "core/base/int_set.h"
#include "core/base/quantity.h"
#include "core/base/types.h"
#include "core/pipeline/families.h"
#include "core/pipeline/program.h"
#include "core/semantics/device_type.h"
#include "scenarios/text/located.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {

// A whole number, or the one word allowed instead.
struct NumberOrWord {
  std::int64_t number = 0;
  bool word = false;
};

// The input of each rank to a collective, by its rank in the group.
struct CallInput {
  enum class Kind : std::uint8_t { pattern, ranks, rows };
  Kind kind = Kind::pattern;
  std::vector<std::vector<double>> rows;
};

// In the order of the keys' words.
enum class InitMethod : std::uint8_t { tcp, env, file };
enum class FileStoreKind : std::uint8_t { c10d, gloo };
enum class ThroughWrapper : std::uint8_t { ddp, module };
enum class NormType : std::uint8_t { two, infinity };
enum class ClippedNorm : std::uint8_t { parameters, model };
enum class ContiguousCopy : std::uint8_t { dropped, copied_back };

inline const std::string world_group = "world";

struct InitOptions {
  InitMethod method = InitMethod::tcp;
  std::string path;
  FileStoreKind file_store = FileStoreKind::c10d;
  std::string unset;
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> interfaces;
  std::string address;
  std::optional<NumberOrWord> rank;  // or local_rank
  std::optional<std::int64_t> port;
};
struct TrainOptions {
  std::int64_t steps = 0;
};
struct RepeatOptions {
  std::int64_t times = 0;
};
struct EvalOptions {
  ThroughWrapper through = ThroughWrapper::ddp;
  std::optional<std::int64_t> steps;
};
struct ForwardOptions {
  std::string input = "batch";
  std::string output = "loss";
  std::optional<Located<std::string>> path;
  std::optional<std::int64_t> rows;
  ThroughWrapper through = ThroughWrapper::ddp;
};
struct ClipOptions {
  double max_norm = 1.0;
  NormType norm_type = NormType::two;
  bool error_if_nonfinite = false;
  ClippedNorm of = ClippedNorm::parameters;
  std::optional<Located<std::string>> part;
};
struct OptimizerStepOptions {
  std::optional<double> lr, momentum;
  std::int64_t unscale = 1;
};
struct RequiresGradOptions {
  std::vector<std::string> layers;
  bool to = true;
};

// The options of every collective, object collective and message; each operation binds the keys that it takes.
struct CollectiveOptions {
  std::int64_t count = 1;
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
  std::optional<NumberOrWord> src;  // or any
  std::optional<NumberOrWord> dst;
  std::int64_t group_src = 0;
  std::int64_t group_dst = 0;
  std::string group = world_group;
  bool async = false;
  std::string algorithm = "auto";
  std::optional<DeviceType> device;
  std::int64_t stride = 1;
  std::optional<ContiguousCopy> contiguous;
  std::string tensor;
  CallInput input;
  std::optional<NumberOrWord> device_ids;  // or local_rank
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> input_split_sizes, output_split_sizes;
  std::int64_t tag = 0;
  Bytes size{64};  // of an object
};
struct BatchOptions {
  std::string group = world_group;
};
struct PipelineOptions {
  std::string schedule = "1f1b";
  std::optional<Located<std::string>> order;  // a line for each rank, instead of a published schedule
  std::int64_t microbatches = 4;
  std::int64_t stages_per_rank = 1;
  PipelineSends sends = PipelineSends::isend;
  std::int64_t count = 1;
  DType dtype = DType::f32;
  Time forward{1'000'000'000};
  Time input_backward{1'000'000'000};
  Time weight_backward{1'000'000'000};
  std::optional<std::int64_t> rows;  // of the batch
  std::string group = world_group;
};
struct RpcPipelineOptions {
  std::vector<std::string> shards;  // paths of the model, in order
  std::vector<std::string> workers{};  // the owner of each; empty: worker1, worker2 ...
  std::int64_t num_split = 1;
  std::int64_t steps = 1;
  std::int64_t input = 0;  // elements of a row without values; 0: the batches of the file
  std::int64_t server_threads = 128;
  Time rpc_timeout{300'000'000'000'000};
};
struct NewGroupOptions {
  std::string name;
  IntSet ranks = IntSet::of({});
  std::optional<Time> timeout;
};
struct MonitoredBarrierOptions {
  std::optional<Time> timeout;
  bool wait_all_ranks = false;
  std::string group = world_group;
};
struct DestroyOptions {
  std::string group = world_group;
};
struct WaitOptions {
  std::string label;
};
struct CheckpointOptions {
  std::string path;
  Time takes{};
  ThroughWrapper of = ThroughWrapper::module;
  bool rank0_only = false;
  std::optional<Located<std::string>> part;
};
struct LoadCheckpointOptions {
  std::string path;
  ThroughWrapper into = ThroughWrapper::module;
  bool strict = true;
  std::optional<Located<std::string>> part;
};
struct RelaunchOptions {
  bool clean = false;
};

}  // namespace pdsim::scenarios
