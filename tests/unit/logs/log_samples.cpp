#include "tests/unit/logs/log_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pdsim::scenarios::logs {

std::string watchdog(int rank, int seq, std::string_view op, long elements, int enqueued, int completed) {
  return fmt::format(
      "[rank{0}]:[E1206 18:44:16.994932383 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective operation "
      "timeout: "
      "WorkNCCL(SeqNum={1}, OpType={2}, NumelIn={3}, NumelOut={3}, Timeout(ms)=600000) ran for 600086 milliseconds "
      "before timing out.\n"
      "[rank{0}]:[E1206 18:44:16.995042142 ProcessGroupNCCL.cpp:1834] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Timeout "
      "at NCCL work: {1}, "
      "last enqueued NCCL work: {4}, last completed NCCL work: {5}.\n"
      "[rank{0}]:[E1206 18:44:16.995062095 ProcessGroupNCCL.cpp:636] [Rank {0}] To avoid data inconsistency, we are "
      "taking the entire "
      "process down.\n",
      rank, seq, op, elements, enqueued, completed);
}

std::string dump_signal(int rank, int enqueued, int completed) {
  return fmt::format(
      "[rank{0}]:[E1206 18:44:17.000000000 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank {0}] "
      "Received a dump signal due to "
      "a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: "
      "{1}, last completed NCCL "
      "work: {2}.This is most likely caused by incorrect usages of collectives\n",
      rank, enqueued, completed);
}

LogFacts facts_of(std::string_view log) { return read_log_texts({{"job.log", log}}); }

LogDiagnosis diagnosed(std::string_view log) { return diagnose_logs(facts_of(log), "job.log"); }

std::string found(const LogDiagnosis& done) {
  const Diagnosis* d = done.report.diagnosis();
  if (d == nullptr) return "none";
  return fmt::format("{}: {} (waiting {})", d->id, fmt::join(d->ranks, ", "), fmt::join(d->waiting, ", "));
}

}  // namespace pdsim::scenarios::logs
