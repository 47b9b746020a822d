// Lines of ProcessGroupNCCL's watchdog, its monitor, its desync report, and of NCCL itself.

#include "core/record/record_check.h"
#include "scenarios/records/logs/line_forms.h"
#include "scenarios/records/logs/line_text.h"

namespace pdsim::scenarios::logs {
namespace {

using NcclRead = std::optional<FactBody>;

// WorkNCCL(SeqNum=610, OpType=COALESCED, NumelIn=56320, NumelOut=450560, Timeout(ms)=600000) ran for 600086 milliseconds before ...
// before 2.0 without SeqNum; before 1.13 TensorShape=[1] in place of the counts.
NcclRead timed_out(std::string_view line) {
  const std::size_t at = line.find("Work");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view work = line.substr(at);
  WatchdogTimeout found;
  found.op = clipped(text_after(work, "OpType=", ",)").value_or(""), 64);
  if (found.op.empty()) return std::nullopt;
  found.seq = number_after(work, "SeqNum=").value_or(-1);
  found.elements_in = number_after(work, "NumelIn=").value_or(-1);
  found.elements_out = number_after(work, "NumelOut=").value_or(-1);
  found.timeout_ms = number_after(work, "Timeout(ms)=").value_or(-1);
  found.ran_ms = number_after(work, "ran for ").value_or(-1);
  return found;
}

// Returns the number after the first of these words that the line has; -1 if it has none, or prints an unsigned -1.
Seq first_of(std::string_view line, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (const auto number = number_after(line, word)) return *number < most_recorded_calls ? *number : -1;
  return -1;
}

// Timeout at NCCL work: 610, last enqueued NCCL work: 616, last completed NCCL work: 609.
// failure detected by watchdog at work sequence id: 610 PG status: last enqueued work: 616, last completed work: 609
// Received a dump signal due to a collective timeout from rank 3 ... Last enqueued NCCL work: 9, last completed NCCL work: 9.
NcclRead progress(std::string_view line) {
  GroupProgress found;
  found.failed = first_of(line, {"Timeout at NCCL work: ", "detected by watchdog at work: ", "work sequence id: "});
  found.enqueued = first_of(line, {"ast enqueued NCCL work: ", "ast enqueued work: "});
  found.completed = first_of(line, {"ast completed NCCL work: ", "ast completed work: "});
  found.says_completed = line.find("ast completed ") != std::string_view::npos;
  constexpr std::string_view signal = "due to a collective timeout from ";
  if (const std::size_t at = line.find(signal); at != std::string_view::npos) {
    found.is_after_timeout = true;
    const auto other = number_after(line.substr(at + signal.size()), "rank ");
    const std::string_view source = line.substr(at + signal.size(), 24);
    if (other && *other >= 0 && *other < most_recorded_ranks && source.find("this local rank") == std::string_view::npos)
      found.timed_out_rank = static_cast<Rank>(*other);
  }
  if (found.enqueued < 0 && found.completed < 0 && found.failed < 0) return std::nullopt;
  return found;
}

// [7] finished collective #182, but didn't join collective #183 (count from 1)
// - [0, 1] joined but didn't finish collective #183 (count from 1)
NcclRead lagging(std::string_view line) {
  DesyncState found;
  found.in_group = ranks_in(text_after(line, "[", "]").value_or(""));
  found.finished = line.find("finished collective #") != std::string_view::npos;
  found.seq = first_of(line, {"finished collective #", "finish collective #"});
  found.lagging = true;
  if (found.in_group.empty() || found.seq < 0) return std::nullopt;
  return found;
}

NcclRead never_joined(std::string_view line) {
  DesyncAbsent found;
  found.in_group = ranks_in(text_after(line, "ranks [", "]").value_or(""));
  if (found.in_group.empty()) return std::nullopt;
  return found;
}

// [3, 4, 5, 6] started _ALLGATHER_BASE; the line before says the number.
NcclRead snapshot(std::string_view line, std::string_view verb, bool finished) {
  if (!trimmed(line).starts_with("[")) return std::nullopt;
  DesyncState found;
  found.in_group = ranks_in(text_after(line, "[", "]").value_or(""));
  found.op = clipped(trimmed(text_after(line, verb, "\n").value_or("")), 64);
  found.finished = finished;
  if (found.in_group.empty() || found.op.empty() || found.op.find(' ') != std::string::npos) return std::nullopt;
  return found;
}
NcclRead snapshot_started(std::string_view line) { return snapshot(line, "] started ", false); }
NcclRead snapshot_finished(std::string_view line) { return snapshot(line, "] finished ", true); }
// "#315 started ranks:", a state of nobody yet
NcclRead snapshot_number(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (!text.starts_with("#")) return std::nullopt;
  DesyncState found;
  found.seq = leading_number(text.substr(1)).value_or(-1);
  if (found.seq < 0) return std::nullopt;
  return found;
}

NcclRead heartbeat(std::string_view line) {
  return HeartbeatLost{number_after(line, "got stuck for ").value_or(number_after(line, "blocked for ").value_or(-1))};
}

// Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered
NcclRead failed_on_device(std::string_view line) {
  const std::size_t at = line.find("CUDA error: ");
  if (at == std::string_view::npos) return std::nullopt;
  return Raised{"CUDA error", clipped(trimmed(line.substr(at + 12))), {}};
}

// NCCL INFO comm 0x55df01b24dd0 rank 24 nranks 32 cudaDev 0 ...
NcclRead communicator(std::string_view line) {
  const auto ranks = number_after(line, " nranks ");
  if (!ranks || *ranks <= 0 || *ranks > most_recorded_ranks) return std::nullopt;
  return WorldSize{*ranks, -1, true};
}

// The process that prints a line of NCCL's own: "a100-22:183006:183220 [1] misc/socket.cc:518 NCCL WARN ..."
struct NcclProcess {
  std::string host;
  std::int64_t pid = -1, device = -1;
};
NcclProcess process_of(std::string_view head) {
  NcclProcess process;
  const std::size_t bracket = head.rfind('[');
  if (bracket == std::string_view::npos) return process;
  process.device = leading_number(head.substr(bracket + 1)).value_or(-1);
  std::string_view name = trimmed(head.substr(0, bracket));  // HOST:PID:THREAD
  name = name.substr(name.find_last_of(" ") + 1);
  const std::size_t thread = name.rfind(':'), pid = thread == std::string_view::npos ? thread : name.rfind(':', thread - 1);
  if (pid == std::string_view::npos || pid == 0) return process;
  process.pid = leading_number(name.substr(pid + 1)).value_or(-1);
  if (process.pid >= 0) process.host = clipped(name.substr(0, pid), 64);
  return process;
}

NcclRead warning(std::string_view line) {
  constexpr std::string_view mark = "NCCL WARN ";
  const std::size_t at = line.find(mark);
  const NcclProcess process = process_of(line.substr(0, at));
  const std::string text = clipped(trimmed(line.substr(at + mark.size())));
  if (text.empty()) return std::nullopt;
  return NcclWarning{process.host, process.pid, process.device, text};
}

// NCCL INFO [Service thread] Connection closed by localRank 2
NcclRead local_rank_left(std::string_view line) {
  const auto local = number_after(line, "onnection closed by localRank ");
  if (!local || *local < 0 || *local >= most_recorded_ranks) return std::nullopt;
  return LocalRankLeft{process_of(line.substr(0, line.find("NCCL "))).host, static_cast<Rank>(*local)};
}

constexpr LineForm rows[] = {
    {"aught collective operation timeout: Work", timed_out},
    {"imeout at NCCL work: ", progress},
    {"detected by watchdog at work", progress},
    {"eceived a dump signal due to a collective timeout", progress},
    {"ast enqueued NCCL work: ", progress},
    {", but didn't join collective #", lagging},
    {"joined but didn't finish collective #", lagging},
    {"They never joined any collectives", never_joined},
    {"] started ", snapshot_started},
    {"] finished ", snapshot_finished},
    {" started ranks:", snapshot_number},
    {" finished ranks:", snapshot_number},
    {"watchdog thread terminated with exception: CUDA error", failed_on_device},
    {"watchdog got stuck for ", heartbeat},
    {"Heartbeat monitor timed out", heartbeat},
    {" nranks ", communicator},
    {"onnection closed by localRank ", local_rank_left},
    {"NCCL WARN ", warning},
};

}  // namespace

std::span<const LineForm> nccl_forms() { return rows; }

}  // namespace pdsim::scenarios::logs
