// A rank's init by env:// lacked a variable that its launcher should have set.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

namespace pdsim::scenarios::diagnoses {

std::optional<Diagnosis> variable_missing(const Report& report) {
  Diagnosis d;
  const Note* first = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    const std::vector<const Note*> all = notes_of<notes::VariableMissing>(log);
    if (all.empty() || log.end != RankEnd::raised || log.error.code != Code::invalid_argument) continue;
    add_once(d.ranks, log.rank);
    d.evidence.push_back(evidence_of(
        log.rank, *all.back(),
        fmt::format("init_process_group with env:// and without {}", all.back()->as<notes::VariableMissing>().variable)));
    if (first == nullptr || all.back()->at < first->at) first = all.back();
  }
  if (first == nullptr) return std::nullopt;
  const std::string& variable = first->as<notes::VariableMissing>().variable;
  const std::vector<Rank> others_wait = others(report, d.ranks);
  d.headline =
      fmt::format("{} init_process_group without {} in the environment", who(d.ranks, "calls", "call"), variable);
  d.cause = fmt::format("{} is not set for {}", variable, short_ranks(d.ranks));
  d.why = fmt::format(
      "init_process_group without arguments means env://: it reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT from "
      "the environment, where a launcher puts them for each process. {} found no {}{}.",
      capitalised(short_ranks(d.ranks)), variable,
      others_wait.empty() ? ", as in a script that is started without a launcher"
                          : ", as happens with ssh or sudo, which do not pass it on");
  if (!others_wait.empty())
    d.why += fmt::format(" {} had it and waited in init_process_group for {}.", capitalised(short_ranks(others_wait)),
                         short_ranks(d.ranks));
  d.fix = "start the script with a launcher: torchrun --nproc-per-node=2 train.py, or pdsim launch -n 2 -- COMMAND";
  d.fix_lines = {alternative("pass it in the call: init_method, rank and world_size")};
  add_span(d, report, first->site.line, first->site.column, fmt::format("wants {}", variable), true);
  d.inevitable_at = first->at;
  d.inevitable = fmt::format("since {}: {} had no {}", to_string(first->at), short_ranks(d.ranks), variable);
  return d;
}

constexpr std::string_view variable_missing_text =
    R"(init_process_group with env://, the default without arguments, takes RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT from the
environment. torchrun, pdsim launch and cluster schedulers' helpers set them for every process; a script that is started without
a launcher, or through ssh or sudo, which drop them, has none.

How to recognise it: "environment variable RANK expected, but not set", at once, on the ranks that lack it. The others wait for
them in init_process_group.

Fix: start with a launcher; or pass init_method, rank and world_size.)";

extern const DiagnosisRow variable_missing_row;
const DiagnosisRow variable_missing_row{160, "variable-missing",
                                        "init_process_group with env:// lacks a launcher variable",
                                        variable_missing, variable_missing_text};

}  // namespace pdsim::scenarios::diagnoses
