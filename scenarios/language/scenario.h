// Scenario: a loaded, checked file; what the runner runs. Made by load() only (loader.h), one per variant.
#pragma once

#include "core/base/check.h"
#include "core/base/int_set.h"
#include "core/base/quantity.h"
#include "core/base/types.h"
#include "core/nn/module.h"
#include "core/nn/optimizer.h"
#include "core/semantics/ddp_options.h"
#include "core/sharded/options.h"
#include "scenarios/language/tables/operation_options.h"
#include "scenarios/text/ending.h"
#include "scenarios/text/located.h"
#include "sim/world_spec.h"

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

// Keys are ANDed; a list of selectors is OR. An empty list selects everything.
struct Selector {
  IntSet rank = IntSet::all();
  IntSet node = IntSet::all();
  IntSet step = IntSet::all();
};
struct When {
  std::vector<Selector> any;
  Mark mark{};
  bool selects(int rank, int node, int step) const;  // step -1 (outside a loop): only `all` steps select
};

struct World {
  sim::WorldSpec spec;   // what the simulated world obeys; real ones read ranks and timeout only
  bool checked = false;  // debug: detail
  std::optional<FlopRate> device_speed{};
  std::optional<Rate> memory_speed{};  // of what layers read and write
  int devices = 0;  // GPUs of a node; 0: not counted
  Mark mark{};
};

struct Branch {
  Located<std::string> path;
  When when;
};

// What some ranks build instead of what the others do.
struct ModelChange {
  When when;                          // ranks and nodes only
  std::vector<nn::LayerSpec> layers;  // replace those of the same names
  std::vector<std::string> order;     // in which layers are registered; empty: as in the file
  Mark mark{};
};

// One of several models in a file, each with a wrapper and an optimizer of its own.
struct ModelPart {
  std::string name;
  std::vector<std::string> layers;
  bool has(const std::string& layer) const;
};

struct Model {
  bool given = false;
  nn::ModuleSpec spec;
  std::vector<ModelPart> parts;  // empty: all layers are one model
  std::vector<Branch> branches;
  std::vector<ModelChange> per_rank;
  // The model that this rank builds.
  nn::ModuleSpec spec_of(int rank, int node) const;
  // The part in which a path is, of a model that has parts; the first for a path that the model does not have.
  const ModelPart& part_of(const std::string& path) const;
  bool same_initial_values = false;  // every rank builds the model from the same random numbers
  bool same_noise = false;           // dropout draws the same masks on every rank
  Mark mark{};
};

// The data set of the training and how ranks draw from it. Without one, each rank has batches of its own for every step.
struct Data {
  bool given = false;
  std::int64_t samples = 0;
  std::string sampler = "distributed";  // distributed | none
  std::int64_t over = 0;                // samples of the data set that the sampler was made for
  bool shuffle = true;
  bool drop_last = false;
  bool set_epoch = false;      // called before each epoch
  bool seed_per_rank = false;  // of the sampler
  Mark mark{};
};

struct Ddp {
  bool wrap = true;  // false: ddp: none
  IntSet ranks = IntSet::all();
  bool wraps(int rank) const { return wrap && ranks.contains(rank); }
  std::string group = world_group;  // or a dimension of the mesh
  Mark mark{};
  DdpOptions options{};
  std::map<std::string, Mark> given{};  // the options that the file states, by key
  bool gives(const std::string& key) const { return given.count(key) > 0; }
  // Of the option, or of the section where the file does not state it.
  Mark mark_of(const std::string& key) const { return gives(key) ? given.at(key) : mark; }
};

struct FullyShard {
  ShardedOptions options;
  std::string group = world_group;
  Mark mark{};
};

// Linear layers of which every rank of a group has a part.
struct TensorParallel {
  std::string group = world_group;
  std::vector<std::string> colwise, rowwise;
  Mark mark{};
};

// The ranks as places of a grid, the last dimension fastest, as torch's init_device_mesh lays them out.
struct Mesh {
  struct Dimension {
    std::string name;
    int size = 1;
  };
  std::vector<Dimension> dimensions;  // empty: there is none
  Mark mark{};
  const Dimension* named(std::string_view name) const;
  // The place of a rank along a dimension.
  int place(int rank, std::string_view dimension) const;
  // The groups of a dimension, by the first rank of each: ranks that differ in their place along it alone.
  std::vector<std::vector<int>> groups(std::string_view dimension, int ranks) const;
  // What the n-th group of a dimension is called in a record: "dp_0".
  static std::string group_name(std::string_view dimension, std::size_t number);
};

// One entry of `program`, or of a `do` or `messages`. `name` is a row of the table of operations (operations_table.h), and
// `options` the struct of that row, complete.
struct Operation {
  std::string name;
  std::string label;
  Mark mark{};  // of the name
  When when;
  std::any options{};
  bool has_body = false;            // it has a `do`
  std::vector<Operation> body;      // that one
  std::vector<Operation> messages;  // of a batch
  std::string written;              // its options as the file has them, in the table's order, but `do`

  template <class Options>
  const Options& as() const {
    const auto* typed = std::any_cast<Options>(&options);
    PDSIM_CHECK(typed != nullptr, "an operation has the options of another one");
    return *typed;
  }
  // Null: its options are others.
  template <class Options>
  const Options* if_is() const {
    return std::any_cast<Options>(&options);
  }
  std::int64_t rounds() const;  // how often its `do` runs, or the operation itself
  // The group of a collective, a message or a batch; of other operations, the world.
  const std::string& group() const;
};

struct Fault {
  sim::FaultSpec spec;
  Mark mark{};
};

struct ExpectBlocked {
  IntSet rank = IntSet::all();
  std::string in;    // operation or collective
  std::string site;  // program operation
  std::optional<IntSet> step;
  Mark mark{};
};
struct ExpectValue {
  std::string tensor;  // aux.weight.grad, head.weight, norm.running_mean, loss; or a collective's label
  Mark mark{};
  std::string across_ranks;  // equal | differ, or empty
  std::optional<int> rank;
  std::optional<double> near;
  double tolerance = 0.0;
  std::optional<Reference> equals;  // whose value it must be
  std::optional<std::vector<double>> holds{};  // of each element
};
// Values of a rank that expectations of devices and buckets look at: rows by device, and DDP's logging.
inline constexpr std::string_view device_rows_value = "device_rows";
inline constexpr std::string_view initial_buckets_value = "logging.bucket_sizes";
inline constexpr std::string_view rebuilt_buckets_value = "logging.rebuilt_bucket_sizes";

// What else of a run an expectation was stated for: with another it is not checked.
struct StatedFor {
  bool seed = false;   // the file's
  bool order = false;  // the order fifo, in which ranks run and messages meet
};

struct Expect {
  StatedFor stated_for;
  Located<Outcome> outcome{Outcome::ok, {}};
  std::optional<Located<IntSet>> rank;
  std::optional<Located<IntSet>> step;
  std::optional<Located<std::string>> in;
  std::optional<Located<std::string>> error;      // a code of core/base/errors.h
  std::optional<Located<std::string>> message;    // substring
  std::optional<Located<std::string>> diagnosis;  // an id, or `none`
  std::optional<Located<IntSet>> culprits;        // exactly the ranks that the diagnosis names
  std::optional<Located<std::string>> says;       // substring of its headline or its cause: the call, the parameter
  std::optional<Located<std::string>> watchdog;   // substring of what the backend would report on some rank; simulated
  std::optional<Located<std::string>> warning;    // substring of what some rank was warned of
  std::vector<ExpectBlocked> blocked;             // together they must cover exactly the blocked ranks
  std::vector<ExpectValue> values;
  struct TimeRange {
    std::optional<Time> min, max, near;
    double within = 0.001;  // relative, for near
    Mark mark{};
  };
  std::optional<TimeRange> time;
  std::optional<TimeRange> step_time;
  std::optional<std::int64_t> timed_step;  // of step_time; absent: the last
  struct Buckets {
    std::optional<std::int64_t> count;
    std::vector<std::int64_t> bytes, initial_bytes;  // empty: nothing is expected of them
    Mark mark{};
  };
  std::optional<Buckets> buckets;
  std::optional<Located<std::vector<std::int64_t>>> device_rows;  // of each device of DataParallel, in the last forward
  struct OperationRun {  // of the newest run of an operation of the program, on each of these ranks
    std::string of;      // its label or name
    IntSet rank = IntSet::all();
    std::optional<TimeRange> took;                                 // until the program went on
    std::optional<Located<std::vector<std::string>>> collectives;  // that it called, in order; empty: none
    Mark mark{};
  };
  std::vector<OperationRun> operations;
  Mark mark{};
};

// What a real world does instead, stated per variant:  on: is not a key of the language, so `real: {gloo: {expect: ..,
// why: ..}}`.
struct RealWorld {
  std::optional<Expect> expect;  // instead of the variant's
  bool skip = false;
  std::string why;
};

// What a person meets who has the problem of the file in a job; the gallery of pitfalls is made of it.
struct Pitfall {
  bool given = false;
  std::string symptom;                // the words that one would search for
  std::string cause;                  // one sentence
  std::string cure;                   // one sentence
  std::vector<std::string> worlds;    // real worlds that show it
  std::string elsewhere;              // why the others do not
  std::vector<std::string> versions;  // profiles of the PyTorch versions that show it; empty: every one
  Mark mark{};
};

struct Setting {  // one entry of a variant's `set`
  std::string path;
  Mark mark{};
  Located<std::string> value;  // its source text
};

struct Scenario;
struct LoadedPlan;  // scenarios/plans/own_plan.h

// Training alone, with which `equals` compares: one rank that has the batches of all ranks of another scenario.
struct StandsFor {
  const Scenario* whole = nullptr;
  Reference as = Reference::single_process;  // one_batch: of one path; nothing is scaled
};

struct Scenario {
  std::string file;                         // as given by the user
  std::shared_ptr<const std::string> text;  // of the file, for all its variants; null without a file
  std::string name;
  std::string summary;
  Pitfall pitfall;
  std::uint64_t seed = 0;
  std::uint64_t stated_seed = 0;  // the file's, where `seed` is another that was asked for
  World world;
  Model model;
  Ddp ddp;
  Mesh mesh;
  std::optional<FullyShard> fully_shard;
  std::optional<TensorParallel> tensor_parallel;
  // Ranks that share the parts of split layers have the same batches: which of these a rank has, and how many there are.
  int data_rank(int rank) const;
  int data_ranks() const;
  // Whether this rank has the first part of split layers.
  bool is_first_part(int rank) const;
  struct DataParallel {  // absent: not asked for, devices 0: compared with it, and reported like it
    int devices = 0;
    int output_device = 0;
    Mark mark{};
  };
  std::optional<DataParallel> data_parallel;
  nn::OptimizerSpec optimizer;
  bool optimizer_before_wrapper = false;
  std::optional<Time> optimizer_time;  // of a step
  Data data;
  std::int64_t batch = 4;    // rows per rank and step
  std::string loss = "mse";  // mse | cross_entropy | sum
  std::vector<Operation> program;
  std::map<std::string, std::shared_ptr<const LoadedPlan>> plans;  // of files, by what `algorithm:` says
  std::vector<Fault> faults;
  std::string variant;               // empty when the file has a plain `expect`
  std::optional<VariantRole> shows;  // as the variant says
  // What it says; otherwise the pitfall where its run does not end well or something is diagnosed.
  VariantRole role() const;
  Mark variant_mark{};
  std::vector<Setting> settings;
  Expect expect;
  std::map<std::string, RealWorld> real;
  std::optional<StandsFor> stands_for;  // only of what alone() makes

  // The operation of the program with this label, also inside of others; null: there is none.
  const Operation* labelled(std::string_view label) const;
};

}  // namespace pdsim::scenarios
