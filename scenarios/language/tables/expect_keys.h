// The tables of `expect`. For sections.cpp alone.
#pragma once

#include "scenarios/language/check/limits.h"
#include "scenarios/language/tables/key.h"
#include "scenarios/language/tables/sections.h"
#include "scenarios/text/ending.h"

#include <array>
#include <limits>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::array<std::string_view, 3> stated_for_words{stated_for_seed, stated_for_order, "seed_and_order"};
inline constexpr std::array<std::string_view, 2> across_words{"equal", "differ"};

inline constexpr Key blocked_keys[] = {
    {.name = "rank", .type = Type::int_set, .help = "which ranks", .default_value = "all"},
    {.name = "in", .type = Type::name, .help = "operation or collective in which they are blocked"},
    {.name = "site", .type = Type::name, .help = "operation of the program that made the call"},
    {.name = "step", .type = Type::int_set, .help = "in which step"},
};
inline constexpr Group blocked{
    .title = "expect.blocked", .help = "the rank and call of each blocked rank, when no rank can make progress", .keys = blocked_keys};
inline constexpr Key value_keys[] = {
    {.name = "tensor",
     .type = Type::text,
     .help = "layer.weight, layer.weight.grad, layer.running_mean, loss, grad_norm, logging.bucket_sizes; or the label of a "
             "collective whose `input` is stated: what each rank holds after it",
     .required = true},
    {.name = "across_ranks",
     .type = Type::word,
     .help = "whether all ranks hold the same bits",
     .choices = across_words},
    {.name = "rank",
     .type = Type::integer,
     .help = "the rank to which `near` and `holds` apply; default: 0, for `holds` every rank that has the tensor"},
    {.name = "holds", .type = Type::decimals, .help = "the value of each element, in order"},
    {.name = "near",
     .type = Type::decimal,
     .help = "the value of every element",
     .low = std::numeric_limits<std::int64_t>::min()},
    {.name = "tolerance", .type = Type::decimal, .help = "tolerance of `near`, `holds` and `equals`", .default_value = "0"},
    {.name = "equals",
     .type = Type::word,
     .help = "the result of training on one process with the joined batch; one_batch: all batches between two "
             "optimizer steps are joined, too",
     .choices = enum_words<Reference>},
};
inline constexpr Group value{.title = "expect.values", .help = "values that tensors hold at the end", .keys = value_keys};
inline constexpr Key time_keys[] = {
    {.name = "min", .type = Type::duration, .help = "at least"},
    {.name = "max", .type = Type::duration, .help = "at most"},
    {.name = "near", .type = Type::duration, .help = "about"},
    {.name = "within",
     .type = Type::decimal,
     .help = "relative tolerance of `near`",
     .default_value = "0.001",
     .high = 1},
};
inline constexpr Group time_range{.title = "expect.time", .help = "when the last rank ended", .keys = time_keys};
inline constexpr Key step_time_keys[] = {
    time_keys[0],
    time_keys[1],
    time_keys[2],
    time_keys[3],
    {.name = "step", .type = Type::integer, .help = "the step; default: the last", .high = limits::steps},
};
inline constexpr Group step_time{.title = "expect.step_time",
                                 .help = "time of a step of the last train on its slowest rank",
                                 .keys = step_time_keys};
inline constexpr Key buckets_keys[] = {
    {.name = "count", .type = Type::integer, .help = "how many", .low = 1},
    {.name = "bytes", .type = Type::counts, .help = "bytes of each bucket, in the order in which they are sent"},
    {.name = "initial_bytes",
     .type = Type::counts,
     .help = "bytes of each bucket in the first iteration, before DDP rebuilt them"},
};
inline constexpr Group buckets{.title = "expect.buckets",
                               .help = "the gradient buckets that DDP has at the end, on every rank",
                               .keys = buckets_keys};
inline constexpr Group operation_took{.title = "took", .help = "how long the program spent in it", .keys = time_keys};
inline constexpr Key operation_run_keys[] = {
    {.name = "of", .type = Type::name, .help = "label or name of an operation of the program", .required = true},
    {.name = "rank", .type = Type::int_set, .help = "the ranks", .default_value = "all"},
    {.name = "took", .type = Type::group, .help = "how long the program spent in it", .group = &operation_took},
    {.name = "collectives", .type = Type::names, .help = "collectives that it called, in order; [none] for none"},
};
inline constexpr Group operation_run{
    .title = "expect.operations", .help = "the newest run of operations of the program", .keys = operation_run_keys};
inline constexpr Key expect_keys[] = {
    {.name = "outcome", .type = Type::word, .help = "how the run ends", .required = true, .choices = enum_words<Outcome>},
    {.name = "stated_for",
     .type = Type::word,
     .help =
         "the settings for which it holds: the file's seed, the order fifo, or both; with another seed or strategy it "
         "is not checked",
     .choices = stated_for_words},
    {.name = "rank", .type = Type::int_set, .help = "which ranks raise"},
    {.name = "step", .type = Type::int_set, .help = "in which step"},
    {.name = "in", .type = Type::name, .help = "in which operation"},
    {.name = "error", .type = Type::text, .help = "a code of `pdsim list --what errors`"},
    {.name = "message", .type = Type::text, .help = "a part of the error's text"},
    {.name = "diagnosis", .type = Type::text, .help = "an id of `pdsim list --what diagnoses`, or none"},
    {.name = "culprits", .type = Type::int_set, .help = "exactly the ranks that the diagnosis names"},
    {.name = "says", .type = Type::text, .help = "a part of the diagnosis' headline or cause"},
    {.name = "watchdog",
     .type = Type::text,
     .help = "a part of the message that the simulated backend itself would print on some rank"},
    {.name = "warning", .type = Type::text, .help = "a part of a warning on some rank, without an error"},
    {.name = "blocked", .type = Type::groups, .help = "exactly the blocked ranks", .group = &blocked},
    {.name = "values", .type = Type::groups, .help = "values that tensors hold at the end", .group = &value},
    {.name = "operations",
     .type = Type::groups,
     .help = "how long the newest run of an operation took, and which collectives it called",
     .group = &operation_run},
    {.name = "time", .type = Type::group, .help = "when the last rank ended", .group = &time_range},
    {.name = "step_time",
     .type = Type::group,
     .help = "time of a step of the last train on its slowest rank",
     .group = &step_time},
    {.name = "buckets",
     .type = Type::group,
     .help = "the gradient buckets that DDP has at the end, on every rank",
     .group = &buckets},
    {.name = "device_rows",
     .type = Type::counts,
     .help = "rows that each device of `data_parallel` got in the last forward",
     .high = limits::batch},
};
inline constexpr Group expect{.title = "expect", .help = "the expected outcome", .keys = expect_keys};

}  // namespace pdsim::scenarios::language
