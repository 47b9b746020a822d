#include "scenarios/engine/language/sections.h"

#include "core/nn/module.h"
#include "core/parallel/ddp_options.h"
#include "core/semantics/profile.h"
#include "scenarios/engine/language/expect_keys.h"
#include "scenarios/engine/language/model_keys.h"
#include "scenarios/engine/operations_table.h"
#include "sim/faults.h"

#include <array>

namespace pdsim::scenarios::language {
namespace {

using Words = std::string_view;

constexpr std::array<Words, 3> sharing_words{"none", "ports", "links"};
constexpr std::array<Words, 2> first_byte_words{"paid", "free"};
constexpr std::array<Words, 3> buffering_words{"backend", "zero", "unbounded"};
constexpr std::array<Words, 2> payload_words{"real", "none"};
constexpr std::array<Words, 2> debug_words{"none", "detail"};
constexpr std::array<Words, 3> loss_words{"mse", "cross_entropy", "sum"};
constexpr Key loss_rows[] = {
    {.name = loss_words[0], .shape = Shape::word, .about = "mean of the squared distances from the targets"},
    {.name = loss_words[1], .shape = Shape::word, .about = "mean of the negative log-probabilities of the classes"},
    {.name = loss_words[2], .shape = Shape::word, .about = "sum of the outputs"},
};

constexpr Key selector_keys[] = {
    {.name = "rank", .shape = Shape::int_set, .about = "ranks", .otherwise = "all"},
    {.name = "node", .shape = Shape::int_set, .about = "nodes", .otherwise = "all"},
    {.name = "step", .shape = Shape::int_set, .about = "steps of the training loop, from 0", .otherwise = "all"},
};

constexpr Key link_keys[] = {
    {.name = "latency", .shape = Shape::duration, .about = "of every message", .otherwise = "5us"},
    {.name = "bandwidth", .shape = Shape::rate, .about = "of one direction", .otherwise = "25GB/s"},
    {.name = "jitter",
     .shape = Shape::duration,
     .about = "each message is late by a seeded part of this",
     .otherwise = "0us"},
    {.name = "loss",
     .shape = Shape::decimal,
     .about = "probability that a message is lost",
     .otherwise = "0",
     .high = 1},
    {.name = "header", .shape = Shape::size, .about = "added to every message", .otherwise = "0B"},
    {.name = "first_byte",
     .shape = Shape::word,
     .about = "free: the first byte's time is in the latency, as in LogGP",
     .otherwise = "paid",
     .words = first_byte_words},
    {.name = "overhead",
     .shape = Shape::duration,
     .about = "of every message at each end, whose port is busy for it",
     .otherwise = "0us"},
    {.name = "tick",
     .shape = Shape::duration,
     .about = "transfers take whole numbers of these, what is left is dropped; default: exact"},
    {.name = "sharing",
     .shape = Shape::word,
     .about = "what messages at the same time share",
     .otherwise = "ports",
     .words = sharing_words},
};
constexpr Group link{.title = "world.link", .about = "the one kind of link of a flat world", .keys = link_keys};
constexpr Group intra{.title = "world.intra", .about = "links within a node", .keys = link_keys};
constexpr Group inter{.title = "world.inter", .about = "links between nodes", .keys = link_keys};

constexpr Key hop{.name = "hop",
                  .shape = Shape::duration,
                  .about = "latency of each switch or link of a route beyond the first",
                  .otherwise = "0us"};
constexpr Key oversubscription{.name = "oversubscription",
                               .shape = Shape::decimal,
                               .about = "bandwidth below a leaf switch for one above it",
                               .otherwise = "1",
                               .low = 1,
                               .high = 1000};
constexpr Key fat_tree_keys[] = {
    {.name = "leaf",
     .shape = Shape::integer,
     .about = "nodes below a leaf switch; in a flat world, ranks",
     .required = true,
     .low = 1,
     .high = limits::ranks_without_payload},
    oversubscription,
    hop,
};
constexpr Group fat_tree{.title = "fat_tree", .about = "leaf switches below a spine", .keys = fat_tree_keys};
constexpr Key rail_keys[] = {oversubscription, hop};
constexpr Group rail{.title = "rail", .about = "a switch for each place in a node", .keys = rail_keys};
constexpr Key torus_side(Words name, Words about, bool required) {
  return {.name = name,
          .shape = Shape::integer,
          .about = about,
          .otherwise = required ? "" : "1",
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
constexpr Group torus{.title = "torus", .about = "neighbours along three dimensions", .keys = torus_keys};
constexpr Key topology_rows[] = {
    {.name = "fat_tree",
     .shape = Shape::group,
     .about = "leaf switches below a spine; what crosses it shares the links of both leaves",
     .group = &fat_tree},
    {.name = "rail",
     .shape = Shape::group,
     .about = "a switch for each place in a node, and a spine between these; every rank has a port of its own",
     .group = &rail},
    {.name = "torus",
     .shape = Shape::group,
     .about = "each is linked to its neighbours; routes are the shortest, along x, then y, then z",
     .group = &torus},
};
constexpr Group topology{.title = "world.topology",
                         .about = "what lies between the nodes, or the ranks of a flat world",
                         .one_of = topology_rows,
                         .noun = "topology"};

constexpr Key speed_keys[] = {
    {.name = "rank", .shape = Shape::int_set, .about = "which ranks", .otherwise = "all"},
    {.name = "work",
     .shape = Shape::decimal,
     .about = "computing and combining take that many times as long",
     .otherwise = "1",
     .high = 1000},
    {.name = "bandwidth", .shape = Shape::rate, .about = "of the rank's port at most; default: the link's"},
};
constexpr Group speed{.title = "world.speeds", .about = "ranks that differ", .keys = speed_keys};

constexpr Key nccl_keys[] = {
    {.name = "blocking_wait",
     .shape = Shape::boolean,
     .about = "TORCH_NCCL_BLOCKING_WAIT: wait() itself raises at the timeout, and no watchdog runs",
     .otherwise = "false"},
    {.name = "async_error_handling",
     .shape = Shape::integer,
     .about = "TORCH_NCCL_ASYNC_ERROR_HANDLING: the watchdog ends the process at the timeout; 0: nobody watches",
     .otherwise = "3",
     .low = 0,
     .high = 3},
};
constexpr Group nccl{.title = "world.nccl", .about = "what NCCL's variables say", .keys = nccl_keys};

constexpr Key world_keys[] = {
    {.name = "ranks",
     .shape = Shape::integer,
     .about = "ranks of a flat world",
     .low = 1,
     .high = limits::ranks_without_payload},
    {.name = "link", .shape = Shape::group, .about = "the links of a flat world", .group = &link},
    {.name = "nodes",
     .shape = Shape::integer,
     .about = "a world of two levels: how many nodes",
     .low = 1,
     .high = limits::ranks_without_payload},
    {.name = "ranks_per_node",
     .shape = Shape::integer,
     .about = "a world of two levels: ranks of each node",
     .low = 1,
     .high = limits::ranks_without_payload},
    {.name = "intra", .shape = Shape::group, .about = "links within a node", .group = &intra},
    {.name = "inter", .shape = Shape::group, .about = "links between nodes", .group = &inter},
    {.name = "topology",
     .shape = Shape::group,
     .about = "what lies between the nodes, or the ranks of a flat world; its links are shared unless `sharing` says "
              "otherwise",
     .group = &topology},
    {.name = "speeds", .shape = Shape::groups, .about = "ranks that are slower or faster", .group = &speed},
    {.name = "device_speed",
     .shape = Shape::flop_rate,
     .about = "of each rank's device: how long layers take that say no `compute`; default: they take a toy's time"},
    {.name = "reduce_bandwidth",
     .shape = Shape::rate,
     .about = "how fast a rank combines what it received; default: free"},
    {.name = "backend",
     .shape = Shape::word,
     .about = "whose semantics the simulated world obeys",
     .otherwise = "gloo",
     .words = library_names},
    {.name = "profile",
     .shape = Shape::word,
     .about = "whose DistributedDataParallel",
     .otherwise = "pytorch-2.6",
     .words = profile_names},
    {.name = "timeout", .shape = Shape::duration, .about = "of every operation; default: the backend's"},
    {.name = "nccl", .shape = Shape::group, .about = "what NCCL's variables say, with `backend: nccl`", .group = &nccl},
    {.name = "devices",
     .shape = Shape::integer,
     .about = "GPUs of a node, on the first of which every process starts; default: nobody counts",
     .low = 1,
     .high = 64},
    {.name = "streams",
     .shape = Shape::boolean,
     .about =
         "programs run ahead of their devices: kernels, and nccl's collectives, are launched and waited for on streams",
     .otherwise = "false"},
    {.name = "buffering",
     .shape = Shape::word,
     .about = "whether sends wait for their receives",
     .otherwise = "backend",
     .words = buffering_words},
    {.name = "payload",
     .shape = Shape::word,
     .about = "none moves sizes only",
     .otherwise = "real",
     .words = payload_words},
    {.name = "debug",
     .shape = Shape::word,
     .about = "detail compares what all ranks call before each collective, as TORCH_DISTRIBUTED_DEBUG",
     .otherwise = "none",
     .words = debug_words},
};
constexpr Group world{.title = "world", .about = "where it runs", .keys = world_keys};

constexpr Key delay_keys[] = {{.name = "by", .shape = Shape::duration, .about = "how much later", .required = true}};
constexpr Key slow_keys[] = {{.name = "factor",
                              .shape = Shape::decimal,
                              .about = "how many times slower",
                              .required = true,
                              .low = 1,
                              .high = 1'000'000}};
constexpr Key skew_keys[] = {
    {.name = "offset", .shape = Shape::duration, .about = "how far the clock is ahead", .otherwise = "0us"},
    {.name = "drift", .shape = Shape::drift, .about = "how much faster the clock runs", .otherwise = "0ppm"},
};
constexpr Key partition_keys[] = {
    {.name = "groups", .shape = Shape::rank_groups, .about = "ranks that still reach each other", .required = true}};
constexpr Group delay{.title = "delay", .about = sim::fault_kind("delay").explanation, .keys = delay_keys};
constexpr Group slow{.title = "slow", .about = sim::fault_kind("slow").explanation, .keys = slow_keys};
constexpr Group skew{.title = "skew", .about = sim::fault_kind("skew").explanation, .keys = skew_keys};
constexpr Group partition{
    .title = "partition", .about = sim::fault_kind("partition").explanation, .keys = partition_keys};

constexpr Key fault_row(const sim::FaultKind& kind) {
  const Group* options = &no_options;
  for (const Group* group : {&delay, &slow, &skew, &partition})
    if (group->title == kind.name) options = group;
  const unsigned traits = kind.strikes == sim::Strikes::messages ? hits_messages
                          : kind.strikes == sim::Strikes::ranks  ? hits_ranks
                                                                 : plain;
  return {.name = kind.name, .shape = Shape::group, .about = kind.explanation, .group = options, .traits = traits};
}

constexpr auto rows_of_faults() {
  std::array<Key, sim::fault_kinds.size()> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = fault_row(sim::fault_kinds[i]);
  return rows;
}
constexpr auto fault_rows = rows_of_faults();

constexpr Key match_keys[] = {
    {.name = "rank", .shape = Shape::int_set, .about = "which ranks", .otherwise = "all"},
    {.name = "from", .shape = Shape::int_set, .about = "messages of these ranks", .otherwise = "all"},
    {.name = "to", .shape = Shape::int_set, .about = "messages to these ranks", .otherwise = "all"},
    {.name = "nth",
     .shape = Shape::int_set,
     .about = "which of the messages that match, counted from 1",
     .otherwise = "all"},
    {.name = "op", .shape = Shape::name, .about = "messages of this collective or operation; default: of any"},
};
constexpr Group match{.title = "match", .about = "which messages or ranks", .keys = match_keys};
constexpr Key at_keys[] = {
    {.name = "step", .shape = Shape::integer, .about = "from this step on", .high = limits::steps},
    {.name = "before", .shape = Shape::name, .about = "before this operation of the step; default: at its start"},
    {.name = "time", .shape = Shape::duration, .about = "from this moment on"},
    {.name = "launch", .shape = Shape::integer, .about = "in this launch, counted from 1", .low = 1, .high = 1000},
};
constexpr Group at{.title = "at", .about = "from when", .keys = at_keys};
constexpr Key fault_keys[] = {
    {.name = "match", .shape = Shape::group, .about = "which messages or ranks; default: all", .group = &match},
    {.name = "at", .shape = Shape::group, .about = "from when; default: the beginning", .group = &at},
    {.name = "for", .shape = Shape::duration, .about = "how long; default: to the end"},
};
constexpr Group fault{.title = "a fault",
                      .about = "what goes wrong",
                      .keys = fault_keys,
                      .one_of = fault_rows,
                      .bare = true,
                      .noun = "fault"};

constexpr Key real_keys[] = {
    {.name = "expect", .shape = Shape::group, .about = "what must come out there instead", .group = &expect},
    {.name = "skip", .shape = Shape::boolean, .about = "not run there", .otherwise = "false"},
    {.name = "why", .shape = Shape::text, .about = "why it differs there", .required = true},
};
constexpr Group real_world{.title = "real", .about = "what differs in a real world", .keys = real_keys};
constexpr Key real_rows[] = {
    {.name = "gloo", .shape = Shape::group, .about = "real Gloo", .group = &real_world},
    {.name = "mpi", .shape = Shape::group, .about = "a real MPI", .group = &real_world},
    {.name = "nccl", .shape = Shape::group, .about = "real NCCL", .group = &real_world},
};
constexpr Group real{.title = "real", .about = "what differs in real worlds", .keys = real_rows};

constexpr Key variant_keys[] = {
    {.name = "set", .shape = Shape::settings, .about = "dotted paths and their new values"},
    {.name = "expect", .shape = Shape::group, .about = "what must come out", .required = true, .group = &expect},
    {.name = "real", .shape = Shape::group, .about = "what differs in real worlds", .group = &real},
};
constexpr Group variant_group{
    .title = "a variant", .about = "the document with some values replaced", .keys = variant_keys};
constexpr Key variant_key{.name = "variant", .shape = Shape::group, .about = "a variant", .group = &variant_group};

constexpr Key pitfall_keys[] = {
    {.name = "symptom",
     .shape = Shape::text,
     .about = "what one sees, in the words that one would search for",
     .required = true},
    {.name = "cause", .shape = Shape::text, .about = "one sentence", .required = true},
    {.name = "cure", .shape = Shape::text, .about = "one sentence", .required = true},
    {.name = "worlds", .shape = Shape::names, .about = "real worlds that show it too: gloo, mpi, nccl; default: none"},
    {.name = "elsewhere", .shape = Shape::text, .about = "why gloo or mpi is not among them"},
    {.name = "versions",
     .shape = Shape::names,
     .about = "profiles of the PyTorch versions that show it; default: every one",
     .words = profile_names},
};
constexpr Group pitfall{
    .title = "pitfall", .about = "what a person meets who has the problem of the file in a job", .keys = pitfall_keys};

constexpr Key entry_keys[] = {
    {.name = "when", .shape = Shape::selectors, .about = "who runs it and in which steps; default: every rank, always"},
    {.name = "label", .shape = Shape::name, .about = "a name, for `set`, `wait` and reports"},
};

constexpr Key document_keys[] = {
    {.name = "pdsim", .shape = Shape::integer, .about = "language version", .required = true, .low = 1, .high = 1},
    {.name = "name", .shape = Shape::name, .about = "equals the name of the file", .required = true},
    {.name = "summary", .shape = Shape::text, .about = "one sentence, shown by `pdsim list`", .required = true},
    {.name = "pitfall", .shape = Shape::group, .about = "its line in the gallery of pitfalls", .group = &pitfall},
    {.name = "seed", .shape = Shape::integer, .about = "of everything random", .otherwise = "0"},
    {.name = "world", .shape = Shape::group, .about = "where it runs", .required = true, .group = &world},
    {.name = "model", .shape = Shape::group, .about = "a toy model", .group = &model},
    {.name = "ddp",
     .shape = Shape::group,
     .about = "options of DistributedDataParallel, or none",
     .words = none_word,
     .group = &ddp},
    {.name = "data_parallel",
     .shape = Shape::group,
     .about = "DataParallel instead of DDP, in a world of one rank, with copies over its `link`; none: with DDP, but "
              "devices are reported as with it",
     .words = none_word,
     .group = &data_parallel},
    {.name = "optimizer",
     .shape = Shape::group,
     .about = "the optimizer",
     .otherwise = "{sgd: {lr: 0.1}}",
     .group = &optimizer},
    {.name = "data",
     .shape = Shape::group,
     .about = "the data set and how ranks draw from it; default: each rank has batches of its own",
     .group = &data},
    {.name = "batch",
     .shape = Shape::integer,
     .about = "rows per rank and step",
     .otherwise = "4",
     .low = 1,
     .high = limits::batch},
    {.name = "loss", .shape = Shape::word, .about = "the loss", .otherwise = "mse", .words = loss_words},
    {.name = "program", .shape = Shape::operations, .about = "what every rank runs", .required = true},
    {.name = "faults", .shape = Shape::groups, .about = "what goes wrong", .group = &fault},
    {.name = "expect", .shape = Shape::group, .about = "what must come out", .group = &expect},
    {.name = "real", .shape = Shape::group, .about = "what differs in real worlds", .group = &real},
    {.name = "variants", .shape = Shape::named, .about = "the same with some values replaced", .element = &variant_key},
};

static_assert(layer_rows.size() == static_cast<std::size_t>(nn::LayerKind::sized) + 1);
static_assert(hook_rows.size() == static_cast<std::size_t>(CommHookSpec::Kind::powersgd));

}  // namespace

const Group document_group{.title = "the file", .about = "a pdsim scenario", .keys = document_keys};
const Group operation_entry{.title = "program",
                            .about = "one entry of the program",
                            .keys = entry_keys,
                            .one_of = operation_table,
                            .bare = true,
                            .noun = "operation"};
const Group selector{.title = "when", .about = "integer sets, all of which must hold", .keys = selector_keys};

std::span<const Key> fault_kinds() { return fault_rows; }
std::span<const Key> layer_kinds() { return layer_rows; }
std::span<const Key> hook_kinds() { return hook_rows; }
std::span<const Key> optimizer_kinds() { return optimizer_rows; }
std::span<const Key> loss_kinds() { return loss_rows; }
std::span<const std::string_view> backends() { return library_names; }
std::span<const std::string_view> profiles() { return profile_names; }

}  // namespace pdsim::scenarios::language
