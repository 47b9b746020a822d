// The output of `bench --json`, `validate --json` and `doctor --json`. For the table in json_forms.cpp alone.
#pragma once

#include "tools/json/json_forms.h"

namespace pdsim::tools {

inline constexpr JsonMember bench_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"world", JsonType::text, "sim, gloo, mpi or nccl"},
    {"collective", JsonType::text, "that was timed"},
    {"algorithm", JsonType::text, "its name; `raw` for the library's own function"},
    {"function?", JsonType::text, "of `raw`: its name"},
    {"dtype", JsonType::text, "of the elements"},
    {"op", JsonType::text, "of reductions; otherwise none"},
    {"ranks", JsonType::integer, "how many"},
    {"bytes", JsonType::integer, "of the whole array, as nccl-tests counts it"},
    {"count", JsonType::integer, "elements of one rank's part"},
    {"in_place", JsonType::boolean, "whether input and output are one buffer"},
    {"payload", JsonType::text, "real, or none: sizes only"},
    {"chosen?", JsonType::text, "of `auto`: the algorithm that it takes for this size"},
    {"root?", JsonType::integer, "of rooted collectives"},
    {"simulated_us?", JsonType::number, "in the simulated world: the time"},
    {"time_us?", JsonType::number, "in a real world: the time"},
    {"algbw_GBps", JsonType::number, "bytes in that time"},
    {"busbw_GBps", JsonType::number, "algbw times the collective's factor for the busiest link"},
    {"messages?", JsonType::integer, "simulated: of the timed calls"},
    {"wall_s?", JsonType::number, "simulated: by the clock, of the timed calls"},
    {"messages_per_s?", JsonType::number, "simulated: by the clock"},
    {"cpu_s?", JsonType::number, "simulated: of the processor, of the timed calls"},
    {"messages_per_cpu_s?", JsonType::number, "simulated: by the processor's time"},
    {"run_wall_s?", JsonType::number, "simulated: by the clock, with starting and joining"},
    {"peak_rss_bytes?", JsonType::integer, "simulated: memory of the process so far"},
    {"wrong", JsonType::integer, "elements that were not what they must be"},
    {"checked", JsonType::boolean, "whether elements were compared"},
    {"least_us?", JsonType::number, "with --raw: the fastest call"},
    {"raw[]?", JsonType::object, "with --raw: the library's own functions, timed in turns with ours"},
    {"raw[].function", JsonType::text, "its name"},
    {"raw[].time_us", JsonType::number, "median of the blocks"},
    {"raw[].least_us", JsonType::number, "the fastest call"},
    {"raw[].ratio", JsonType::number, "our time in its median"},
    {"raw[].least_ratio", JsonType::number, "our fastest in its fastest"},
    {"raw[].wrong", JsonType::integer, "elements that were not what they must be"},
};

inline constexpr JsonMember failed_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"collective", JsonType::text, "that was tried"},
    {"algorithm", JsonType::text, "its name"},
    {"failure", JsonType::text, "why the run did not end"},
};

inline constexpr JsonMember validated_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"collective", JsonType::text, "that was tried"},
    {"algorithm", JsonType::text, "its name"},
    {"dtype", JsonType::text, "of the elements"},
    {"op?", JsonType::text, "of reductions"},
    {"cases", JsonType::integer, "sizes, roots and places that were tried"},
    {"wrong", JsonType::integer, "elements that were not what they must be"},
    {"max_ulp", JsonType::integer, "largest distance from the exact result, in units of the last place"},
    {"skipped", JsonType::integer, "cases that the world does not support"},
    {"first?", JsonType::object, "the first wrong element"},
    {"first.rank", JsonType::integer, "where"},
    {"first.count", JsonType::integer, "elements of the call"},
    {"first.root", JsonType::integer, "of the call"},
    {"first.in_place", JsonType::boolean, "whether input and output were one buffer"},
    {"first.problem?", JsonType::text, "instead of an element: the input was written"},
    {"first.element?", JsonType::integer, "its index"},
    {"first.expected?", JsonType::number, "its value"},
    {"first.got?", JsonType::number, "instead"},
    {"first.expected_bits?", JsonType::text, "in hexadecimal"},
    {"first.got_bits?", JsonType::text, "in hexadecimal"},
};
inline constexpr JsonMember validation_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"summary", JsonType::boolean, "true"},
    {"world", JsonType::text, "sim, gloo, mpi or nccl"},
    {"ranks", JsonType::integer, "how many"},
    {"cases", JsonType::integer, "of all lines"},
    {"wrong", JsonType::integer, "elements of all lines"},
    {"skipped", JsonType::integer, "cases of all lines"},
    {"failed", JsonType::integer, "runs that did not end"},
    {"skip_reasons", JsonType::object, "why cases were skipped"},
    {"skip_reasons.*", JsonType::integer, "by the reason: cases that were skipped for it"},
};

inline constexpr JsonMember pair_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"pair", JsonType::integers, "the two ranks"},
    {"hosts?", JsonType::texts, "of the two ranks, where the job is on several; simulated: node 0 ..."},
    {"class", JsonType::text, "of the link: same node, other node, same leaf ..."},
    {"latency_us", JsonType::number, "fitted to the times"},
    {"bandwidth_GBps", JsonType::number_or_null, "fitted; null: the sizes are too small to say"},
    {"slowness", JsonType::number, "its time in the median of its class, at the size at which it is largest"},
    {"slow", JsonType::boolean, "whether that is an outlier"},
    {"times[]", JsonType::object, "by size"},
    {"times[].bytes", JsonType::integer, "of the message"},
    {"times[].one_way_us", JsonType::number, "half the time back and forth"},
};
inline constexpr JsonMember class_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"class", JsonType::text, "of links"},
    {"links", JsonType::integer, "in it"},
    {"latency_us", JsonType::number, "fitted to the medians"},
    {"bandwidth_GBps", JsonType::number_or_null, "fitted; null: the sizes are too small to say"},
    {"median[]", JsonType::object, "by size"},
    {"median[].bytes", JsonType::integer, "of the message"},
    {"median[].one_way_us", JsonType::number, "median of the class"},
};
inline constexpr JsonMember fitted_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"world", JsonType::text, "the `world:` of a scenario that reproduces the measurements"},
};
inline constexpr JsonMember prediction_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"collective", JsonType::text, "that was timed"},
    {"algorithm", JsonType::text, "its name"},
    {"bytes", JsonType::integer, "of the whole array"},
    {"predicted_us", JsonType::number, "of the slowest rank, by the fitted world"},
    {"measured_us", JsonType::number, "of the slowest rank"},
    {"ratio", JsonType::number, "measured in predicted"},
    {"held", JsonType::boolean, "whether it was as fast as --expect asks"},
};
inline constexpr JsonMember failure_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"failure", JsonType::text, "why the pairs could not be timed"},
};

inline constexpr JsonMember doctor_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"pdsim", JsonType::text, "its version"},
    {"worlds[]", JsonType::object, "the simulated one, each library, and `run` for scripts"},
    {"worlds[].name", JsonType::text, "of `--on`"},
    {"worlds[].works", JsonType::boolean, "on this machine"},
    {"worlds[].about", JsonType::text, "the library's version, or what is missing and how to get it"},
    {"machine[]", JsonType::object, "what jobs need"},
    {"machine[].subject", JsonType::text, "name resolution, interfaces, limits ..."},
    {"machine[].found", JsonType::text, "its state here"},
    {"machine[].advice?", JsonType::text, "what to change; absent: nothing"},
};

}  // namespace pdsim::tools
