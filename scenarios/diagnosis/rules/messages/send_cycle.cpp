// Every rank of a circle of waits sits in send (or every one in recv): the matching call would come only afterwards.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/messages/messages.h"
#include "scenarios/diagnosis/rules/program_changes.h"
#include "scenarios/diagnosis/rules/waits.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {

namespace {

bool pairs_share_a_stream(const Report& report) {
  const LibrarySemantics* library = library_of(report);
  return library != nullptr && library->one_stream_per_pair;
}

// One rank of the circle that receives first opens it.
void propose_receive_first(Diagnosis& d, const Report& report) {
  const Rank rank = d.ranks.back();
  const auto at = std::find_if(d.evidence.begin(), d.evidence.end(), [rank](const Evidence& e) { return e.rank == rank; });
  const Call* send = at == d.evidence.end() ? nullptr : call_by_id(log_of(report.run, rank), at->call);
  if (send == nullptr || send->site.line <= 0) return;
  d.cures.push_back(receives_first(fmt::format("rank {} receives before it sends (line {})", rank, send->site.line),
                                   {rank, mark_of(send->site)}));
}

// The first rank of the circle that waits for a batch of messages; no_rank when none does.
Rank rank_in_batch(const Report& report, const std::vector<Evidence>& circle) {
  for (const Evidence& e : circle) {
    const RankLog& log = log_of(report.run, e.rank);
    const Call* call = call_by_id(log, e.call);
    const Call* around = call == nullptr ? nullptr : enclosing(log, *call);
    if (around != nullptr && around->name == "batch_isend_irecv") return e.rank;
  }
  return no_rank;
}

// A receive of a batch holds up what stands behind the batch, and with it another rank of the circle.
void explain_batch(Diagnosis& d, Rank rank) {
  const std::string ranks = short_ranks(d.ranks);
  d.headline = fmt::format("{} wait for messages in a cycle, rank {} in a batch that ends only with the last of its "
                           "messages",
                           ranks, rank);
  d.cause = fmt::format("rank {} receives in a batch a message that is sent only after messages that it sends after "
                        "the batch", rank);
  d.why = fmt::format(
      "All messages of a batch_isend_irecv progress together, and a rank's next call begins when the last of them is "
      "done. Rank {} is in its batch, so it does not send the message that the next rank of the cycle waits for, and "
      "the message that the batch waits for never arrives.",
      rank);
  d.fix = fmt::format("let rank {} receive that message in a later batch, after the messages that the others need first", rank);
  d.fix_lines = {"a message that skips stages (a skip connection, a tied embedding) waits for different micro-batches "
                 "than its neighbours"};
}

// Which of the messages is missing, or comes in another order, is not known.
void explain_receives(Diagnosis& d, const std::string& ranks) {
  d.headline = fmt::format("{} receive from each other in a cycle, and none of these messages has been sent", ranks);
  d.cause = fmt::format("a send of one of {} is missing, or comes after its receive", ranks);
  d.why =
      "Every rank of the cycle waits for a message, and none of the messages has been sent, so buffering does not help. Either each rank "
      "would send after its own receive, or the program of one of them lacks its send.";
  d.fix = "compare what each of these ranks sends with what the next one receives: each receive needs its send, before the sender "
          "waits for the receiver";
  d.fix_lines.clear();
}

// Whether one message of the circle lacks its counterpart by the numbers of messages, which opened it (unmatched-message).
bool has_one_unmatched(const Report& report, const std::vector<Evidence>& circle) {
  if (!report.hang) return false;
  return 1 == std::count_if(circle.begin(), circle.end(), [&](const Evidence& e) {
           const Call* call = call_by_id(log_of(report.run, e.rank), e.call);
           return call != nullptr && counterpart_of(report, e.rank, *call).call == nullptr &&
                  side_that_differs(report, e.rank, *call).rank != no_rank;
         });
}

}  // namespace

std::optional<Diagnosis> send_cycle(const Report& report) {
  const Waits waits = waits_of(report);
  if (waits.cycle.size() < 2) return std::nullopt;
  Diagnosis d;
  std::string call;
  Time last{};
  for (const Rank rank : waits.cycle) {
    const auto b =
        std::find_if(waits.blocked.begin(), waits.blocked.end(), [&](const BlockedRank& x) { return x.rank == rank; });
    if (b == waits.blocked.end() || (b->in != "send" && b->in != "recv") || b->any) return std::nullopt;
    if (!call.empty() && b->in != call) return std::nullopt;
    call = b->in;
    last = std::max(last, b->since);
    d.ranks.push_back(rank);
    d.evidence.push_back(
        {rank, b->call, fmt::format("in {} {} rank {}", call, call == "send" ? "to" : "from", b->waits_for->front())});
    const Call* record = call_by_id(log_of(report.run, rank), b->call);
    if (record != nullptr && record->details->batch >= 0) return std::nullopt;  // it holds up no other call
    if (record != nullptr && d.spans.empty())
      add_span(d, report, record->site.line, record->site.column, fmt::format("{} wait here", short_ranks(waits.cycle)),
               true);
  }
  if (has_one_unmatched(report, d.evidence)) return std::nullopt;
  if (!report.hang && send_left_out(report, waits)) return std::nullopt;  // unmatched-message
  const bool sends = call == "send";
  const std::string ranks = short_ranks(d.ranks);
  d.headline = sends ? fmt::format("{} send to each other in a cycle and nobody receives", ranks)
                     : fmt::format("{} receive from each other in a cycle and nobody sends", ranks);
  d.cause = sends ? fmt::format("each of {} sends first and would receive only afterwards", ranks)
                  : fmt::format("each of {} receives first and would send only afterwards", ranks);
  d.why =
      sends
          ? "A blocking send returns when its receiver has posted the matching receive (large messages on any backend, "
            "all messages on Gloo). Here every rank of the cycle is still in its send, so no receive is ever posted. "
            "With buffered sends the same program passes, so it may have worked with smaller messages."
          : "Every rank of the cycle waits for a message that its peer would send only after its own receive. "
            "Buffering does not help: none of these messages has been sent.";
  d.fix = "order the calls: even ranks send first, odd ranks receive first";
  d.fix_lines = {
      pairs_share_a_stream(report)
          ? alternative(
                "put both into one batch_isend_irecv; a separate isend and irecv do not help here: with NCCL all "
                "messages of two ranks run on one stream, in the order of their calls")
          : alternative("start them asynchronously and wait for both afterwards (isend and irecv)")};
  if (!sends && !receives_are_first(report, waits)) explain_receives(d, ranks);
  const Rank batched = sends ? no_rank : rank_in_batch(report, d.evidence);
  if (batched != no_rank) explain_batch(d, batched);
  if (sends) propose_receive_first(d, report);
  d.inevitable_at = last;
  d.inevitable = fmt::format("since {}: the last of {} entered its {}", to_string(last), ranks, call);
  return d;
}

constexpr std::string_view send_cycle_text =
    R"(Blocking send and recv pair up one to one. When every rank of a cycle sends first, each waits for a receive that its peer
posts only after its own send. Whether it hangs depends on buffering: small messages may be buffered and pass, large ones
wait for the receiver, so the same program works in the test and hangs with the real model. Receiving first always hangs.

How to recognise it: all ranks of the cycle are in the same call, send or recv, with their neighbour.

Fix: let even ranks send first and odd ranks receive first, or start both asynchronously and wait for both.)";

extern const DiagnosisRow send_cycle_row;
const DiagnosisRow send_cycle_row{370, "send-cycle", "ranks send to each other in a cycle and nobody receives",
                                  send_cycle, send_cycle_text};

}  // namespace pdsim::scenarios::diagnoses
