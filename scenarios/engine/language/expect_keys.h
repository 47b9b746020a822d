// The tables of `expect`. For sections.cpp alone.
#pragma once

#include "scenarios/engine/language/key.h"
#include "scenarios/engine/language/sections.h"
#include "scenarios/engine/limits.h"

#include <array>
#include <limits>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::array<std::string_view, 4> outcome_words{"ok", "deadlock", "timeout", "error"};
inline constexpr std::array<std::string_view, 3> stated_for_words{stated_for_seed, stated_for_order, "seed_and_order"};
inline constexpr std::array<std::string_view, 2> across_words{"equal", "differ"};
inline constexpr std::array<std::string_view, 2> equals_words{"single_process", "one_batch"};

inline constexpr Key blocked_keys[] = {
    {.name = "rank", .shape = Shape::int_set, .about = "which ranks", .otherwise = "all"},
    {.name = "in", .shape = Shape::name, .about = "operation or collective they sit in"},
    {.name = "site", .shape = Shape::name, .about = "operation of the program that called it"},
    {.name = "step", .shape = Shape::int_set, .about = "in which step"},
};
inline constexpr Group blocked{
    .title = "expect.blocked", .about = "who sits where when nothing can happen any more", .keys = blocked_keys};
inline constexpr Key value_keys[] = {
    {.name = "tensor",
     .shape = Shape::text,
     .about = "layer.weight, layer.weight.grad, layer.running_mean, loss, grad_norm, logging.bucket_sizes",
     .required = true},
    {.name = "across_ranks",
     .shape = Shape::word,
     .about = "whether all ranks hold the same bits",
     .words = across_words},
    {.name = "rank", .shape = Shape::integer, .about = "whose value `near` means", .otherwise = "0"},
    {.name = "near",
     .shape = Shape::decimal,
     .about = "the value of every element",
     .low = std::numeric_limits<std::int64_t>::min()},
    {.name = "tolerance", .shape = Shape::decimal, .about = "how far it may be off", .otherwise = "0"},
    {.name = "equals",
     .shape = Shape::word,
     .about = "what training alone on the joined batch gives; one_batch: with all batches between two optimizer steps "
              "joined to one, too",
     .words = equals_words},
};
inline constexpr Group value{
    .title = "expect.values", .about = "what tensors must hold at the end", .keys = value_keys};
inline constexpr Key time_keys[] = {
    {.name = "min", .shape = Shape::duration, .about = "at least"},
    {.name = "max", .shape = Shape::duration, .about = "at most"},
    {.name = "near", .shape = Shape::duration, .about = "about"},
    {.name = "within",
     .shape = Shape::decimal,
     .about = "how far from `near`, relatively",
     .otherwise = "0.001",
     .high = 1},
};
inline constexpr Group time_range{.title = "expect.time", .about = "when the last rank ended", .keys = time_keys};
inline constexpr Key step_time_keys[] = {
    time_keys[0],
    time_keys[1],
    time_keys[2],
    time_keys[3],
    {.name = "step", .shape = Shape::integer, .about = "which step; default: the last", .high = limits::steps},
};
inline constexpr Group step_time{.title = "expect.step_time",
                                 .about = "how long a step of the last train took its slowest rank",
                                 .keys = step_time_keys};
inline constexpr Key buckets_keys[] = {
    {.name = "count", .shape = Shape::integer, .about = "how many", .low = 1},
    {.name = "bytes", .shape = Shape::counts, .about = "of each, in the order in which they leave"},
    {.name = "initial_bytes",
     .shape = Shape::counts,
     .about = "of each in the first iteration, before DDP built them anew"},
};
inline constexpr Group buckets{.title = "expect.buckets",
                               .about = "the gradient buckets that DDP has at the end, on every rank",
                               .keys = buckets_keys};
inline constexpr Group operation_took{.title = "took", .about = "how long the program was in it", .keys = time_keys};
inline constexpr Key operation_run_keys[] = {
    {.name = "of", .shape = Shape::name, .about = "label or name of an operation of the program", .required = true},
    {.name = "rank", .shape = Shape::int_set, .about = "on which ranks", .otherwise = "all"},
    {.name = "took", .shape = Shape::group, .about = "how long the program was in it", .group = &operation_took},
    {.name = "collectives", .shape = Shape::names, .about = "that it called, in order; [none] for none"},
};
inline constexpr Group operation_run{
    .title = "expect.operations", .about = "the newest run of operations of the program", .keys = operation_run_keys};
inline constexpr Key expect_keys[] = {
    {.name = "outcome", .shape = Shape::word, .about = "how the run ends", .required = true, .words = outcome_words},
    {.name = "stated_for",
     .shape = Shape::word,
     .about =
         "what it holds for alone: the file's seed, the order fifo, or both; with another seed or strategy it is not "
         "checked",
     .words = stated_for_words},
    {.name = "rank", .shape = Shape::int_set, .about = "which ranks raise"},
    {.name = "step", .shape = Shape::int_set, .about = "in which step"},
    {.name = "in", .shape = Shape::name, .about = "in which operation"},
    {.name = "error", .shape = Shape::text, .about = "a code of `pdsim list --what errors`"},
    {.name = "message", .shape = Shape::text, .about = "a part of the error's text"},
    {.name = "diagnosis", .shape = Shape::text, .about = "an id of `pdsim list --what diagnoses`, or none"},
    {.name = "culprits", .shape = Shape::int_set, .about = "exactly the ranks that the diagnosis names"},
    {.name = "says", .shape = Shape::text, .about = "a part of the diagnosis' headline or cause"},
    {.name = "watchdog",
     .shape = Shape::text,
     .about = "a part of what the simulated backend itself would report on some rank"},
    {.name = "warning", .shape = Shape::text, .about = "a part of what some rank was warned of, without an error"},
    {.name = "blocked", .shape = Shape::groups, .about = "together exactly the blocked ranks", .group = &blocked},
    {.name = "values", .shape = Shape::groups, .about = "what tensors must hold at the end", .group = &value},
    {.name = "operations",
     .shape = Shape::groups,
     .about = "how long the newest run of an operation took, and which collectives it called",
     .group = &operation_run},
    {.name = "time", .shape = Shape::group, .about = "when the last rank ended", .group = &time_range},
    {.name = "step_time",
     .shape = Shape::group,
     .about = "how long a step of the last train took its slowest rank",
     .group = &step_time},
    {.name = "buckets",
     .shape = Shape::group,
     .about = "the gradient buckets that DDP has at the end, on every rank",
     .group = &buckets},
    {.name = "device_rows",
     .shape = Shape::counts,
     .about = "rows that each device of `data_parallel` got in the last forward",
     .high = limits::batch},
};
inline constexpr Group expect{.title = "expect", .about = "what must come out", .keys = expect_keys};

}  // namespace pdsim::scenarios::language
