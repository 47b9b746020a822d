#include "scenarios/language/tables/sections.h"

#include "core/nn/module.h"
#include "core/record/fault_kinds.h"
#include "core/semantics/ddp_options.h"
#include "core/semantics/libraries.h"
#include "core/semantics/profile.h"
#include "scenarios/language/tables/expect_keys.h"
#include "scenarios/language/tables/model_keys.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/sharding_keys.h"
#include "sim/world_spec.h"

#include <array>

namespace pdsim::scenarios::language {
namespace {

using Words = std::string_view;

constexpr std::array<Words, 2> first_byte_words{"paid", "free"};
constexpr std::array<Words, 2> payload_words{"real", "none"};
constexpr std::array<Words, 2> debug_words{"none", "detail"};
constexpr std::array<Words, 3> loss_words{"mse", "cross_entropy", "sum"};
constexpr Key loss_rows[] = {
    {.name = loss_words[0], .type = Type::word, .help = "mean of the squared distances from the targets"},
    {.name = loss_words[1], .type = Type::word, .help = "mean of the negative log-probabilities of the classes"},
    {.name = loss_words[2], .type = Type::word, .help = "sum of the outputs"},
};

constexpr Key selector_keys[] = {
    {.name = "rank", .type = Type::int_set, .help = "ranks", .default_value = "all"},
    {.name = "node", .type = Type::int_set, .help = "nodes", .default_value = "all"},
    {.name = "step", .type = Type::int_set, .help = "steps of the training loop, from 0", .default_value = "all"},
};

constexpr Key link_keys[] = {
    {.name = "latency", .type = Type::duration, .help = "latency of every message", .default_value = "5us"},
    {.name = "bandwidth", .type = Type::rate, .help = "bandwidth in each direction", .default_value = "25GB/s"},
    {.name = "jitter",
     .type = Type::duration,
     .help = "each message is delayed by a seeded part of this time",
     .default_value = "0us"},
    {.name = "loss",
     .type = Type::decimal,
     .help = "probability that a message is lost",
     .default_value = "0",
     .high = 1},
    {.name = "header", .type = Type::size, .help = "bytes added to every message", .default_value = "0B"},
    {.name = "first_byte",
     .type = Type::word,
     .help = "free: the first byte's time is in the latency, as in LogGP",
     .default_value = "paid",
     .choices = first_byte_words},
    {.name = "overhead",
     .type = Type::duration,
     .help = "time that every message keeps the port busy at each end",
     .default_value = "0us"},
    {.name = "tick",
     .type = Type::duration,
     .help = "transfer times are rounded down to multiples of this; default: exact"},
    {.name = "sharing",
     .type = Type::word,
     .help = "the resource that simultaneous messages share",
     .default_value = "ports",
     .choices = enum_words<sim::Sharing>},
};
constexpr Group link{.title = "world.link", .help = "the one kind of link of a flat world", .keys = link_keys};
constexpr Group intra{.title = "world.intra", .help = "links within a node", .keys = link_keys};
constexpr Group inter{.title = "world.inter", .help = "links between nodes", .keys = link_keys};

constexpr Key hop{.name = "hop",
                  .type = Type::duration,
                  .help = "latency of each switch or link of a route beyond the first",
                  .default_value = "0us"};
constexpr Key oversubscription{.name = "oversubscription",
                               .type = Type::decimal,
                               .help = "ratio of the bandwidth below a leaf switch to that above it",
                               .default_value = "1",
                               .low = 1,
                               .high = 1000};
constexpr Key fat_tree_keys[] = {
    {.name = "leaf",
     .type = Type::integer,
     .help = "nodes below a leaf switch; in a flat world, ranks",
     .required = true,
     .low = 1,
     .high = limits::ranks_without_payload},
    oversubscription,
    hop,
};
constexpr Group fat_tree{.title = "fat_tree", .help = "leaf switches below a spine", .keys = fat_tree_keys};
constexpr Key rail_keys[] = {oversubscription, hop};
constexpr Group rail{.title = "rail", .help = "a switch for each place in a node", .keys = rail_keys};
constexpr Key torus_side(Words name, Words about, bool required) {
  return {.name = name,
          .type = Type::integer,
          .help = about,
          .default_value = required ? "" : "1",
          .required = required,
          .low = 1,
          .high = limits::ranks_without_payload};
}
constexpr Key torus_keys[] = {
    torus_side("x", "nodes along x; in a flat world, ranks", true),
    torus_side("y", "along y", false),
    torus_side("z", "along z", false),
    hop,
};
constexpr Group torus{.title = "torus", .help = "neighbours along three dimensions", .keys = torus_keys};
constexpr Key topology_rows[] = {
    {.name = "fat_tree",
     .type = Type::group,
     .help = "leaf switches below a spine; messages across the spine share the links of both leaves",
     .group = &fat_tree},
    {.name = "rail",
     .type = Type::group,
     .help = "a switch for each place in a node, and a spine between these; every rank has its own port",
     .group = &rail},
    {.name = "torus",
     .type = Type::group,
     .help = "each node is linked to its neighbours; routes are the shortest, along x, then y, then z",
     .group = &torus},
};
constexpr Group topology{.title = "world.topology",
                         .help = "the network between the nodes, or between the ranks of a flat world",
                         .one_of = topology_rows,
                         .noun = "topology"};

constexpr Key speed_keys[] = {
    {.name = "rank", .type = Type::int_set, .help = "which ranks", .default_value = "all"},
    {.name = "work",
     .type = Type::decimal,
     .help = "computing and combining take this many times as long",
     .default_value = "1",
     .high = 1000},
    {.name = "bandwidth", .type = Type::rate, .help = "upper limit for the rank's port; default: the link's"},
};
constexpr Group speed{.title = "world.speeds", .help = "the slower or faster ranks", .keys = speed_keys};

constexpr Key nccl_keys[] = {
    {.name = "blocking_wait",
     .type = Type::boolean,
     .help = "TORCH_NCCL_BLOCKING_WAIT: wait() itself raises at the timeout, and no watchdog runs",
     .default_value = "false"},
    {.name = "async_error_handling",
     .type = Type::integer,
     .help = "TORCH_NCCL_ASYNC_ERROR_HANDLING: the watchdog ends the process at the timeout; 0: no watchdog",
     .default_value = "3",
     .low = 0,
     .high = 3},
};
constexpr Group nccl{.title = "world.nccl", .help = "settings of NCCL's environment variables", .keys = nccl_keys};

constexpr Key world_keys[] = {
    {.name = "ranks",
     .type = Type::integer,
     .help = "ranks of a flat world",
     .low = 1,
     .high = limits::ranks_without_payload},
    {.name = "link", .type = Type::group, .help = "the links of a flat world", .group = &link},
    {.name = "nodes",
     .type = Type::integer,
     .help = "number of nodes, in a world of two levels",
     .low = 1,
     .high = limits::ranks_without_payload},
    {.name = "ranks_per_node",
     .type = Type::integer,
     .help = "ranks of each node, in a world of two levels",
     .low = 1,
     .high = limits::ranks_without_payload},
    {.name = "intra", .type = Type::group, .help = "links within a node", .group = &intra},
    {.name = "inter", .type = Type::group, .help = "links between nodes", .group = &inter},
    {.name = "topology",
     .type = Type::group,
     .help = "the network between the nodes, or between the ranks of a flat world; its links are shared unless `sharing` says "
             "otherwise",
     .group = &topology},
    {.name = "cores",
     .type = Type::integer,
     .help = "cores of each node, or of a flat world, which its ranks share for their messages; each message keeps one "
             "core busy at either end; default: always enough",
     .low = 1,
     .high = 1024},
    {.name = "speeds", .type = Type::groups, .help = "ranks that are slower or faster", .group = &speed},
    {.name = "device_speed",
     .type = Type::flop_rate,
     .help = "speed of each rank's device, for layers without `compute`; default: they take a toy model's time"},
    {.name = "memory_speed",
     .type = Type::rate,
     .help = "memory speed of each rank's device, for the `traffic` of layers"},
    {.name = "reduce_bandwidth",
     .type = Type::rate,
     .help = "how fast a rank combines received data; default: free"},
    {.name = "backend",
     .type = Type::word,
     .help = "the library whose semantics the simulated world follows",
     .default_value = "gloo",
     .choices = library_names},
    {.name = "profile",
     .type = Type::word,
     .help = "whose DistributedDataParallel",
     .default_value = "pytorch-2.6",
     .choices = profile_names},
    {.name = "timeout", .type = Type::duration, .help = "timeout of every operation; default: the backend's"},
    {.name = "nccl", .type = Type::group, .help = "settings of NCCL's environment variables, with `backend: nccl`", .group = &nccl},
    {.name = "devices",
     .type = Type::integer,
     .help = "GPUs of a node; every process starts on the first one; default: not checked",
     .low = 1,
     .high = 64},
    {.name = "streams",
     .type = Type::boolean,
     .help =
         "programs run ahead of their devices: kernels, and nccl's collectives, run on streams",
     .default_value = "false"},
    {.name = "buffering",
     .type = Type::word,
     .help = "whether sends wait for their receives",
     .default_value = "backend",
     .choices = enum_words<sim::Buffering>},
    {.name = "payload",
     .type = Type::word,
     .help = "none: only sizes are moved",
     .default_value = "real",
     .choices = payload_words},
    {.name = "debug",
     .type = Type::word,
     .help = "detail: compares the calls of all ranks before each collective, like TORCH_DISTRIBUTED_DEBUG",
     .default_value = "none",
     .choices = debug_words},
};
constexpr Group world{.title = "world", .help = "where it runs", .keys = world_keys};

constexpr Key delay_keys[] = {{.name = "by", .type = Type::duration, .help = "how much later", .required = true}};
constexpr Key slow_keys[] = {{.name = "factor",
                              .type = Type::decimal,
                              .help = "how many times slower",
                              .required = true,
                              .low = 1,
                              .high = 1'000'000}};
constexpr Key skew_keys[] = {
    {.name = "offset", .type = Type::duration, .help = "how far the clock is ahead", .default_value = "0us"},
    {.name = "drift", .type = Type::drift, .help = "how much faster the clock runs", .default_value = "0ppm"},
};
constexpr Key partition_keys[] = {
    {.name = "groups", .type = Type::rank_groups, .help = "groups of ranks that can still reach each other", .required = true}};
constexpr Group no_options{.title = "", .help = "takes no options"};
constexpr Group delay{.title = "delay", .help = row_of(FaultKind::delay).explanation, .keys = delay_keys};
constexpr Group slow{.title = "slow", .help = row_of(FaultKind::slow).explanation, .keys = slow_keys};
constexpr Group skew{.title = "skew", .help = row_of(FaultKind::skew).explanation, .keys = skew_keys};
constexpr Group partition{
    .title = "partition", .help = row_of(FaultKind::partition).explanation, .keys = partition_keys};

constexpr Key fault_row(const FaultRow& kind) {
  const Group* options = &no_options;
  for (const Group* group : {&delay, &slow, &skew, &partition})
    if (group->title == kind.name) options = group;
  const unsigned traits = kind.strikes == Strikes::messages ? hits_messages
                          : kind.strikes == Strikes::ranks  ? hits_ranks
                                                                 : plain;
  return {.name = kind.name, .type = Type::group, .help = kind.explanation, .group = options, .traits = traits};
}

constexpr auto fault_rows = rows_of(fault_table, fault_row);

constexpr Key match_keys[] = {
    {.name = "rank", .type = Type::int_set, .help = "which ranks", .default_value = "all"},
    {.name = "from", .type = Type::int_set, .help = "messages from these ranks", .default_value = "all"},
    {.name = "to", .type = Type::int_set, .help = "messages to these ranks", .default_value = "all"},
    {.name = "nth",
     .type = Type::int_set,
     .help = "the n-th matching message, counted from 1",
     .default_value = "all"},
    {.name = "op", .type = Type::name, .help = "messages of this collective or operation; default: any"},
};
constexpr Group match{.title = "match", .help = "the messages or ranks that it affects", .keys = match_keys};
constexpr Key at_keys[] = {
    {.name = "step", .type = Type::integer, .help = "from this step on", .high = limits::steps},
    {.name = "before", .type = Type::name, .help = "before this operation of the step; default: at its start"},
    {.name = "time", .type = Type::duration, .help = "from this moment on"},
    {.name = "launch", .type = Type::integer, .help = "in this launch, counted from 1", .low = 1, .high = 1000},
};
constexpr Group at{.title = "at", .help = "from when", .keys = at_keys};
constexpr Key fault_keys[] = {
    {.name = "match", .type = Type::group, .help = "the messages or ranks that it affects; default: all", .group = &match},
    {.name = "at", .type = Type::group, .help = "when it begins; default: at the start", .group = &at},
    {.name = "for", .type = Type::duration, .help = "how long it lasts; default: to the end"},
};
constexpr Group fault{.title = "a fault",
                      .help = "faults of messages and ranks",
                      .keys = fault_keys,
                      .one_of = fault_rows,
                      .bare = true,
                      .noun = "fault"};

constexpr Key real_keys[] = {
    {.name = "expect", .type = Type::group, .help = "the expected outcome there", .group = &expect},
    {.name = "skip", .type = Type::boolean, .help = "the file is not run there", .default_value = "false"},
    {.name = "why", .type = Type::text, .help = "why it differs there", .required = true},
};
constexpr Group real_world{.title = "real", .help = "differences in one real world", .keys = real_keys};
constexpr auto real_rows = [] {
  std::array<Key, real_library_names.size()> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = {.name = real_library_names[i],
               .type = Type::group,
               .help = "differences over this real library",
               .group = &real_world};
  return rows;
}();
constexpr Group real{.title = "real", .help = "differences in real worlds", .keys = real_rows};

constexpr Key variant_keys[] = {
    {.name = "set", .type = Type::settings, .help = "dotted paths and their new values"},
    {.name = "expect", .type = Type::group, .help = "the expected outcome", .required = true, .group = &expect},
    {.name = "real", .type = Type::group, .help = "differences in real worlds", .group = &real},
    {.name = "shows",
     .type = Type::word,
     .help = "the file's pitfall or its cure; default: the pitfall where the run does not end well or something is diagnosed",
     .choices = enum_words<VariantRole>},
};
constexpr Group variant_group{
    .title = "a variant", .help = "the document with some values replaced", .keys = variant_keys};
constexpr Key variant_key{.name = "variant", .type = Type::group, .help = "a variant", .group = &variant_group};

constexpr Key pitfall_keys[] = {
    {.name = "symptom",
     .type = Type::text,
     .help = "the visible symptom, in words that a user would search for",
     .required = true},
    {.name = "cause", .type = Type::text, .help = "one sentence", .required = true},
    {.name = "cure", .type = Type::text, .help = "one sentence", .required = true},
    {.name = "worlds", .type = Type::names, .help = "real worlds that show it too: gloo, mpi, nccl; default: none"},
    {.name = "elsewhere", .type = Type::text, .help = "why gloo or mpi is not among them"},
    {.name = "versions",
     .type = Type::names,
     .help = "profiles of the PyTorch versions that show it; default: every one",
     .choices = profile_names},
};
constexpr Group pitfall{
    .title = "pitfall", .help = "how the file's problem appears in a job, for the gallery of pitfalls", .keys = pitfall_keys};

constexpr Key entry_keys[] = {
    {.name = "when", .type = Type::selectors, .help = "the ranks and steps that run it; default: every rank, always"},
    {.name = "label", .type = Type::name, .help = "a name, for `set`, `wait` and reports"},
};

constexpr Key document_keys[] = {
    {.name = "pdsim", .type = Type::integer, .help = "language version", .required = true, .low = 1, .high = 1},
    {.name = "name", .type = Type::name, .help = "equals the name of the file", .required = true},
    {.name = "summary", .type = Type::text, .help = "one sentence, shown by `pdsim list`", .required = true},
    {.name = "pitfall", .type = Type::group, .help = "how the problem appears in a job, for the gallery of pitfalls", .group = &pitfall},
    {.name = "seed", .type = Type::integer, .help = "of every random decision", .default_value = "0"},
    {.name = "world", .type = Type::group, .help = "where it runs", .required = true, .group = &world},
    {.name = "model", .type = Type::group, .help = "a toy model", .group = &model},
    {.name = "ddp",
     .type = Type::group,
     .help = "options of DistributedDataParallel, or none",
     .choices = none_word,
     .group = &ddp},
    {.name = "data_parallel",
     .type = Type::group,
     .help = "DataParallel instead of DDP, in a world of one rank, with copies over its `link`; none: DDP, but devices "
             "are reported as with DataParallel",
     .choices = none_word,
     .group = &data_parallel},
    {.name = "optimizer",
     .type = Type::group,
     .help = "the optimizer",
     .default_value = "{sgd: {lr: 0.1}}",
     .group = &optimizer},
    {.name = "data",
     .type = Type::group,
     .help = "the data set and how ranks draw from it; default: each rank has its own batches",
     .group = &data},
    {.name = "batch",
     .type = Type::integer,
     .help = "rows per rank and step",
     .default_value = "4",
     .low = 1,
     .high = limits::batch},
    {.name = "loss", .type = Type::word, .help = "the loss", .default_value = "mse", .choices = loss_words},
    {.name = "fully_shard", .type = Type::group, .help = "a sharded model instead of DDP", .group = &fully_shard},
    {.name = "mesh",
     .type = Type::named,
     .help = "the ranks as a grid, `{dp: 2, tp: 4}`, the last dimension fastest: each name is the group of the ranks "
             "along it",
     .element = &mesh_size_key},
    {.name = "tensor_parallel",
     .type = Type::group,
     .help = "linear layers that are split across ranks",
     .group = &tensor_parallel},
    {.name = "program", .type = Type::operations, .help = "the operations that every rank runs", .required = true},
    {.name = "faults", .type = Type::groups, .help = "faults of messages and ranks", .group = &fault},
    {.name = "expect", .type = Type::group, .help = "the expected outcome", .group = &expect},
    {.name = "real", .type = Type::group, .help = "differences in real worlds", .group = &real},
    {.name = "variants", .type = Type::named, .help = "the same with some values replaced", .element = &variant_key},
};

static_assert(layer_rows.size() == static_cast<std::size_t>(nn::LayerKind::meta) + 1);

}  // namespace

const Group document_group{.title = "the file", .help = "a pdsim scenario", .keys = document_keys};
const Group selector{.title = "when", .help = "integer sets, which must all hold", .keys = selector_keys};

const Group& operation_entry() {
  static const Group entry{.title = "program",
                           .help = "one entry of the program",
                           .keys = entry_keys,
                           .one_of = operation_table(),
                           .bare = true,
                           .noun = "operation"};
  return entry;
}

std::span<const Key> fault_kinds() { return fault_rows; }
std::span<const Key> layer_kinds() { return layer_rows; }
std::span<const Key> hook_kinds() { return hook_rows; }
std::span<const Key> ddp_options() { return ddp_keys; }
std::span<const Key> fully_shard_options() { return fully_shard_keys; }
std::span<const Key> powersgd_options() { return powersgd_keys; }
std::span<const Key> optimizer_kinds() { return optimizer_rows; }
std::span<const Key> loss_kinds() { return loss_rows; }
std::span<const std::string_view> backends() { return library_names; }
std::span<const std::string_view> profiles() { return profile_names; }

}  // namespace pdsim::scenarios::language
