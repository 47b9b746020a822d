#include "tools/json/json_forms.h"

#include "tools/json/measure_members.h"
#include "tools/json/report_members.h"

namespace pdsim::tools {
namespace {

constexpr JsonMember problem_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"command", JsonType::text, "the command that was given"},
    {"status", JsonType::integer, "the exit status: 2 wrong input, 3 not available here, 4 pdsim failed"},
    {"problems[]", JsonType::object, "the problems, in the order in which they were found"},
    {"problems[].severity", JsonType::text, "error, or warning"},
    {"problems[].message", JsonType::text, "what is wrong"},
    {"problems[].file?", JsonType::text, "the file, where the problem concerns one; line, column and width where it concerns a part of it"},
    {"problems[].line?", JsonType::integer, "the line, from 1"},
    {"problems[].column?", JsonType::integer, "the column in bytes, from 1"},
    {"problems[].width?", JsonType::integer, "length of the wrong text, in bytes"},
    {"problems[].hint?", JsonType::text, "the correct form, or the next step"},
    {"problems[].cause?", JsonType::object, "the place in another file that it comes from: the line of a plan"},
    {"problems[].cause.file", JsonType::text, "that file"},
    {"problems[].cause.line", JsonType::integer, "the line, from 1"},
    {"problems[].cause.column", JsonType::integer, "the column in bytes, from 1"},
    {"problems[].cause.width", JsonType::integer, "length of the text, in bytes"},
    {"problems[].cause.hint?", JsonType::text, "what is wrong there"},
};

constexpr JsonMember check_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"file", JsonType::text, "as it was found"},
    {"ok", JsonType::boolean, "whether it has no error"},
    {"variants", JsonType::texts, "names of the variants; empty for a file with a plain `expect`, or with errors"},
    {"document?", JsonType::text, "with --print: the effective document"},
    {"table?", JsonType::text, "with --table: the operations of every rank in every step, for all variants"},
    {"problems[]", JsonType::object, "every error and warning of the file, by place"},
    {"problems[].severity", JsonType::text, "error, or warning"},
    {"problems[].message", JsonType::text, "what is wrong"},
    {"problems[].file?", JsonType::text, "the file, where the problem concerns one; line, column and width where it concerns a part of it"},
    {"problems[].line?", JsonType::integer, "the line, from 1"},
    {"problems[].column?", JsonType::integer, "the column in bytes, from 1"},
    {"problems[].width?", JsonType::integer, "length of the wrong text, in bytes"},
    {"problems[].hint?", JsonType::text, "the correct form"},
    {"problems[].cause?", JsonType::object, "the place in another file that it comes from: the line of a plan"},
    {"problems[].cause.file", JsonType::text, "that file"},
    {"problems[].cause.line", JsonType::integer, "the line, from 1"},
    {"problems[].cause.column", JsonType::integer, "the column in bytes, from 1"},
    {"problems[].cause.width", JsonType::integer, "length of the text, in bytes"},
    {"problems[].cause.hint?", JsonType::text, "what is wrong there"},
};

constexpr JsonMember list_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"name", JsonType::text, "as scenario files and flags write it; for the catalog the path, or the name in a "
                             "portable pdsim, which contains the files"},
    {"summary", JsonType::text, "one line"},
};

constexpr JsonMember gallery_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"index", JsonType::text, "path of index.html"},
    {"scenarios", JsonType::integer, "files that were run"},
    {"reports", JsonType::integer, "variants with a report"},
    {"unexpected", JsonType::integer, "variants that are not as expected"},
};

constexpr JsonMember buckets_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"file", JsonType::text, "as given"},
    {"parameters", JsonType::integer, "how many"},
    {"bucket_cap", JsonType::integer, "bytes"},
    {"initial_bytes", JsonType::integers, "bytes of each bucket in the first iteration"},
    {"buckets_bytes", JsonType::integers, "bytes of each bucket afterwards, in the order in which they are sent"},
    {"initial[]", JsonType::object, "the buckets of the first iteration"},
    {"initial[].bytes", JsonType::integer, "bytes of the bucket"},
    {"initial[].parameters", JsonType::texts, "in it"},
    {"rebuilt[]", JsonType::object, "the buckets afterwards"},
    {"rebuilt[].bytes", JsonType::integer, "bytes of the bucket"},
    {"rebuilt[].parameters", JsonType::texts, "in it"},
};
constexpr JsonMember sweep_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"scenario", JsonType::text, "its name"},
    {"bucket_cap", JsonType::integer, "bytes"},
    {"buckets", JsonType::integer, "how many"},
    {"step_ns", JsonType::integer, "time of the last step"},
    {"communication_ns", JsonType::integer, "part of it in collectives"},
    {"exposed_ns", JsonType::integer, "part of the collectives that is not hidden behind backward"},
};

constexpr JsonMember explain_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"kind", JsonType::text, "diagnosis, error, concept, pitfall, algorithm, plan, pipeline, page, symptom, or cause for one outside the calls of the ranks"},
    {"name", JsonType::text, "id of the entry; for a symptom, the best match"},
    {"text", JsonType::text, "the page as `pdsim explain` prints it"},
    {"files?", JsonType::texts, "names of the catalog's files that show it"},
    {"wrong?", JsonType::texts, "ids of diagnoses: what goes wrong with a concept"},
    {"see?", JsonType::texts, "names of related concepts"},
    {"algorithms?", JsonType::texts, "names of the algorithms that a concept describes, as all_reduce/ring"},
    {"near?", JsonType::boolean, "true: the text is not the name of an entry, but its words match this one best"},
    {"also?", JsonType::texts, "names of other concepts that match the words, the best first"},
    {"pitfalls?", JsonType::texts, "names of the catalog's pitfalls that match the words, the best first"},
    {"proven?", JsonType::boolean, "for a plan's file: whether it is proven for these ranks"},
    {"matches[]?", JsonType::object, "for a symptom: entries whose texts match the error text, the surest first"},
    {"matches[].entry", JsonType::text, "a diagnosis or an error code"},
    {"matches[].sureness", JsonType::text, "sure, likely or near"},
    {"matches[].cause", JsonType::boolean, "whether the text names the cause; otherwise it reports a consequence"},
    {"matches[].pattern", JsonType::text, "the known text; * stands for parts that differ from job to job"},
    {"matches[].says", JsonType::text, "what the text proves, and what it leaves open"},
};

constexpr JsonMember prove_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"collective", JsonType::text, "of the plan"},
    {"algorithm", JsonType::text, "its name"},
    {"ok", JsonType::boolean, "whether it is proven"},
    {"cases", JsonType::integer, "that were tried"},
    {"ranks", JsonType::integers, "the first and the last number of ranks"},
    {"costs[]?", JsonType::object, "costs of a proven plan, for some numbers of ranks"},
    {"costs[].ranks", JsonType::integer, "how many"},
    {"costs[].rounds", JsonType::integer, "number of consecutive messages"},
    {"costs[].messages", JsonType::integer, "messages of all ranks"},
    {"costs[].busiest_sends", JsonType::integer, "elements that the busiest rank sends"},
    {"costs[].at_least", JsonType::integer, "least that it must send in any algorithm"},
    {"counterexample?", JsonType::object, "the smallest case that fails"},
    {"counterexample.ranks", JsonType::integer, "how many"},
    {"counterexample.count", JsonType::integer, "elements"},
    {"counterexample.root", JsonType::integer, "the root"},
    {"counterexample.in_place", JsonType::boolean, "whether input and output are one buffer"},
    {"counterexample.problem", JsonType::text, "the failure"},
    {"counterexample.rank", JsonType::integer, "where"},
    {"counterexample.round", JsonType::integer, "and when"},
    {"counterexample.drawn", JsonType::text, "its messages as a picture"},
    {"counterexample.place?", JsonType::text, "file, line and column of the round"},
};

constexpr JsonMember labs_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"labs[]", JsonType::object, "all of them, by number"},
    {"labs[].number", JsonType::integer, "of `pdsim lab N`"},
    {"labs[].name", JsonType::text, "of its folder"},
    {"labs[].title", JsonType::text, "in the requested language"},
    {"labs[].done", JsonType::boolean, "whether a check has passed"},
    {"labs[].tries", JsonType::integer, "checks so far"},
    {"labs[].hints", JsonType::integer, "hints shown so far"},
    {"labs[].best", JsonType::text, "the newest score that passed; empty: none"},
};
constexpr JsonMember lab_check_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"lab", JsonType::integer, "its number"},
    {"ok", JsonType::boolean, "whether it passed"},
    {"problems[]", JsonType::object, "one problem for each failed check"},
    {"problems[].text", JsonType::text, "what is wrong, with the smallest counterexample"},
    {"problems[].replay", JsonType::text, "a command that shows it; empty: none"},
    {"score", JsonType::text, "empty: the lab has no par, or the check failed"},
    {"on_par", JsonType::boolean, "whether the score is the par or better"},
};
constexpr JsonMember lab_begin_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"lab", JsonType::integer, "its number"},
    {"title", JsonType::text, "of the lab"},
    {"task?", JsonType::text, "without --hint: the task"},
    {"folder?", JsonType::text, "without --hint: where the files are"},
    {"written?", JsonType::texts, "without --hint: the files that were put there now"},
    {"hints?", JsonType::texts, "with --hint: the hints shown so far"},
};

constexpr JsonMember launch_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"status", JsonType::integer, "exit status of the rank that failed first, 128 + n after signal n; 0: none failed"},
    {"quiet", JsonType::boolean, "whether all ranks were idle when the job ended"},
    {"ranks[]", JsonType::object, "by rank"},
    {"ranks[].rank", JsonType::integer, "its number"},
    {"ranks[].exit_status?", JsonType::integer, "its own exit status; absent: the launcher or a signal ended it"},
    {"ranks[].signal?", JsonType::integer, "the signal that ended it, where the launcher did not"},
    {"ranks[].last_call?", JsonType::text, "the newest call of its flight record, where it kept one"},
    {"records?", JsonType::text, "the folder of --records"},
};

constexpr JsonMember completion_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"shell", JsonType::text, "bash, fish or zsh"},
    {"script", JsonType::text, "the script for that shell"},
};

constexpr JsonMember man_members[] = {
    {"version", JsonType::integer, "version of this format: 1"},
    {"pdsim", JsonType::text, "its version"},
    {"commands[]", JsonType::object, "in the order of `pdsim --help`"},
    {"commands[].name", JsonType::text, "of the command"},
    {"commands[].summary", JsonType::text, "a description of the command"},
    {"commands[].options[]", JsonType::object, "flags and positionals"},
    {"commands[].options[].names", JsonType::texts, "the flag with its dashes, or the name of a positional"},
    {"commands[].options[].help", JsonType::text, "a description of the flag"},
    {"commands[].options[].required", JsonType::boolean, "whether it must be given"},
    {"commands[].options[].takes_value", JsonType::boolean, "whether a value follows"},
    {"commands[].options[].default", JsonType::text, "empty: none"},
};

constexpr JsonForm all_forms[] = {
    {"scenario", "a scenario file", report_members},
    {"run", "a run of the script, as a scenario with one variant", report_members},
    {"check", "a scenario file", check_members},
    {"launch", "the job", launch_members},
    {"buckets", "the file", buckets_members},
    {"buckets", "with --sweep: a cap", sweep_members},
    {"list", "an entry", list_members},
    {"gallery", "the gallery", gallery_members},
    {"explain", "an entry", explain_members},
    {"prove", "the plan", prove_members},
    {"lab", "the list", labs_members},
    {"lab", "a check", lab_check_members},
    {"lab", "beginning a lab, or a hint", lab_begin_members},
    {"diagnose", "a job", findings_members},
    {"bench", "a row: one size, in place or not", bench_members},
    {"bench", "a run that did not end", failed_members},
    {"validate", "a collective, algorithm, dtype and operation", validated_members},
    {"validate", "a run that did not end", failed_members},
    {"validate", "all lines, the last one", validation_members},
    {"validate", "with --pairs: a link", pair_members},
    {"validate", "with --pairs: a class of links", class_members},
    {"validate", "with --expect: the fitted world", fitted_members},
    {"validate", "with --expect: a prediction", prediction_members},
    {"validate", "with --pairs or --expect: links that could not be timed", failure_members},
    {"doctor", "the machine", doctor_members},
    {"completion", "the script", completion_members},
    {"man", "the manual", man_members},
    {"problems", "a command that could not do its task", problem_members},
};

}  // namespace

std::span<const JsonForm> json_forms() { return all_forms; }

}  // namespace pdsim::tools
