// At the first sequence number where the ranks of a group disagree they called different things. Names DDP's own buffer
// broadcast when an evaluation through the wrapper made it, because no line of the user's program says broadcast.
#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/calls/lone_forward.h"
#include "scenarios/diagnosis/rules/calls/other_calls.h"
#include "scenarios/diagnosis/rules/calls/part_sizes.h"
#include "scenarios/diagnosis/rules/calls/recorded_calls.h"
#include "scenarios/diagnosis/rules/calls/sharded_calls.h"
#include "scenarios/diagnosis/rules/messages/messages.h"
#include "scenarios/diagnosis/rules/training/batch_statistics.h"
#include "scenarios/diagnosis/rules/training/unsent_gradients.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

using Camp = CallCamp;

const Call* call_of(const Report& report, const Divergence::Entry& entry) {
  return entry.id < 0 ? nullptr : call_by_id(log_of(report.run, entry.rank), entry.id);
}

std::vector<Camp> camps_of(const Report& report) {
  RankCalls calls;
  for (const Divergence::Entry& entry : report.divergence->entries)
    if (const Call* call = call_of(report, entry)) calls.emplace_back(entry.rank, call);
  return scenarios::camps_of(calls);
}

std::string sizes_text(const Call& call) {
  const CallDetails& details = *call.details;
  const std::string count = fmt::format("{} element{}", call.count, call.count == 1 ? "" : "s");
  if (details.shape == fmt::format("[{}]", call.count)) return count;
  if (!details.shape.empty()) return fmt::format("{}, shape {}", count, details.shape);
  if (details.sends.empty() && details.receives.empty()) return count;
  return fmt::format("parts of {} elements", text_of(details.sends.empty() ? details.receives : details.sends));
}

std::string_view word_for_root(const Call& call) {
  const auto found = std::find_if(collective_table.begin(), collective_table.end(),
                                  [&](const CollectiveRow& row) { return row.name == call.name; });
  return found == collective_table.end() ? "root" : named_rank(found->kind);
}

std::string argument_text(const Call& call, DivergenceKind field) {
  if (field == DivergenceKind::root) return fmt::format("{} {}", word_for_root(call), call.root);
  if (field == DivergenceKind::reduce_operation) return std::string(name_of(call.op));
  if (field == DivergenceKind::dtype && !call.details->dtype.empty()) return call.details->dtype;
  if (field == DivergenceKind::dtype) return std::string(name_of(call.dtype));
  if (field == DivergenceKind::count) return sizes_text(call);
  return call_text(call);
}

// "rank 0 called all_reduce with 4 elements"; with `number`, as " #1", after the name of the call.
std::string camp_text(const Camp& camp, const Divergence& d, std::string_view number = {}) {
  const bool by_argument = d.field != DivergenceKind::operation && d.field != DivergenceKind::purpose;
  const std::string what = by_argument
                               ? fmt::format("{}{} with {}", call_text(*camp.call), number, argument_text(*camp.call, d.field))
                               : fmt::format("{}{}", call_text(*camp.call), number);
  return fmt::format("{} {}", who(camp.ranks, "called", "called"), what);
}

bool is_eval_broadcast(const Camp& camp) {
  return camp.call->name == "broadcast" && camp.call->purpose.kind == PurposeKind::buffers &&
         camp.call->site.op == "eval";
}

// Returns the next call of the first rank of the camp that went on.
const Call* next_of(const Report& report, const Camp& camp) {
  for (const Rank rank : camp.ranks)
    if (const Call* next =
            collective_at(log_of(report.run, rank), report.divergence->group, report.divergence->seq + 1))
      return next;
  return nullptr;
}

// How the culprit's calls relate to the others'.
enum class Order : std::uint8_t {
  unknown,   // nobody went on, or to something that does not say
  in_step,   // they agree again next
  swapped,   // the same two in the other order
  left_out,  // one fewer
  one_more,
};

Order order_of(const Report& report, const Camp& culprit, const Camp& other) {
  const Call* culprit_next = next_of(report, culprit);
  const Call* other_next = next_of(report, other);
  if (culprit_next != nullptr && other_next != nullptr && same_call(*culprit_next, *other_next)) return Order::in_step;
  const bool theirs_comes = culprit_next != nullptr && same_call(*culprit_next, *other.call);
  const bool mine_comes = other_next != nullptr && same_call(*other_next, *culprit.call);
  if (theirs_comes && mine_comes) return Order::swapped;
  if (mine_comes) return Order::left_out;
  return theirs_comes ? Order::one_more : Order::unknown;
}

// Only a rank that is one call ahead or behind makes every later call meet another one.
std::string order_text(Order order, const Camp& culprit, const Camp& other) {
  constexpr std::string_view later = " Every later call on this group is mismatched as well.";
  const std::string ranks = capitalised(short_ranks(culprit.ranks));
  switch (order) {
    case Order::unknown:
    case Order::in_step:
      return {};
    case Order::swapped:
      return fmt::format(" {} made the same two calls in the opposite order.", ranks);
    case Order::left_out:
      return fmt::format(" {} left out {} and went on.{}", ranks, call_text(*other.call), later);
    case Order::one_more:
      return fmt::format(" {} made one call more, {}.{}", ranks, call_text(*culprit.call), later);
  }
  return {};
}

enum class Differs : std::uint8_t { operation, parameter, root };

// A call that was left out or made once more shows in an argument where its neighbour is of the same kind.
Differs what_differs(const Report& report, const Camp& culprit, const Camp& other) {
  const DivergenceKind field = report.divergence->field;
  const Order order = order_of(report, culprit, other);
  if (field == DivergenceKind::operation || field == DivergenceKind::purpose ||
      (order != Order::unknown && order != Order::in_step))
    return Differs::operation;
  // An all_reduce of the program against one of DDP's: two calls that have only their name in common.
  if (culprit.call->purpose != other.call->purpose) return Differs::operation;
  return field == DivergenceKind::root ? Differs::root : Differs::parameter;
}

Time since(const Report& report, const std::vector<Camp>& camps) {
  Time both{};
  for (const Camp& camp : camps) {
    Time first = Time::max();
    for (const Rank rank : camp.ranks)
      if (const Call* call = collective_at(log_of(report.run, rank), report.divergence->group, report.divergence->seq))
        first = std::min(first, call->issued);
    both = std::max(both, first);
  }
  return both;
}

void explain_eval(Diagnosis& d, const Report& report, const Camp& eval, const Camp& other) {
  const Seq seq = report.divergence->seq;
  const std::string ranks = short_ranks(eval.ranks), rest = short_ranks(other.ranks);
  d.headline = fmt::format("{} broadcasts buffers in eval, where {} called {}", ranks, rest, call_text(*other.call));
  if (eval.ranks.size() > 1) d.headline.replace(ranks.size() + 1, 10, "broadcast");
  d.cause =
      fmt::format("the forward of the wrapper in eval made DDP broadcast its buffers as #{} on {} only", seq, ranks);
  d.why = fmt::format(
      "A forward through the DDP wrapper first broadcasts the module's buffers from rank 0, in evaluation and under "
      "no_grad too. Only {} evaluated, so this broadcast #{} met {} #{} of {}, and the ranks cannot all finish them. No line of the "
      "program says broadcast, and the checkpoint or print that follows was never reached.",
      ranks, seq, call_text(*other.call), seq, rest);
  d.fix = {"evaluate through the module:  eval: {through: module}   (ddp.module(x) in PyTorch)",
           "evaluate through the module: model.module(x), not model(x)"};
  d.fix_lines = {
      alternative(
          "ddp: {broadcast_buffers: false}, which lets running statistics differ per rank",
          "DistributedDataParallel(..., broadcast_buffers=False), which lets running statistics differ per rank"),
      alternative("let every rank run the evaluation")};
  add_span(d, report, eval.call->site.line, eval.call->site.column,
           fmt::format("{} {} through the wrapper, which broadcasts buffers", ranks,
                       eval.ranks.size() == 1 ? "evaluates" : "evaluate"),
           true);
}

// Says what else a library that compares nothing may do.
std::string undefined_text(const Report& report, DivergenceKind field) {
  if (field != DivergenceKind::count && field != DivergenceKind::dtype) return {};
  const LibrarySemantics* library = library_of(report);
  if (library == nullptr || library->on_long_message != OnLongMessage::never_completes) return {};
  const std::string undefined = " NCCL compares neither counts nor element types, so this is undefined: ";
  if (report.outcome == Outcome::ok)
    return undefined + "here it completed, and with other sizes or another algorithm the same program may also hang.";
  if (report.outcome == Outcome::error && first_cause(report.errors).code == Code::wrong_data)
    return undefined + "here it completed, with wrong data, and with other sizes or another algorithm the same program may also hang.";
  return undefined + "here the call hangs, and with other sizes or another algorithm it may also complete, with wrong or partial data "
                     "and no error.";
}

constexpr std::string_view tie_text =
    " Both sides have the same number of ranks, so the record cannot say which of them is right.";

void explain_general(Diagnosis& d, const Report& report, const Camp& culprit, const Camp& other, bool tie) {
  const Divergence& at = *report.divergence;
  const std::string mine = camp_text(culprit, at), theirs = camp_text(other, at);
  const std::string_view differs = at.field == DivergenceKind::root ? word_for_root(*culprit.call) : name_of(at.field);
  d.headline = fmt::format("{}, {}", mine, theirs);
  d.cause = fmt::format("at #{} of group {} the {} differs: {}, {}", at.seq, at.group, differs, mine, theirs);
  d.why = fmt::format(
      "Collectives of a group pair up by order: the n-th call of one rank meets the n-th call of every other. At #{} "
      "{} "
      "and {}.{}",
      at.seq, mine, theirs, order_text(order_of(report, culprit, other), culprit, other));
  d.why += silence_text(report, *culprit.call, *other.call);
  const bool by_argument = what_differs(report, culprit, other) != Differs::operation;
  if (tie && by_argument) d.why += tie_text;
  d.why += undefined_text(report, at.field);
  d.fix = by_argument ? fmt::format("pass the same {} on every rank", differs)
                      : "make every rank of the group issue the same collectives in the same order";
  const Site &here = culprit.call->site, &there = other.call->site;
  if (const std::string mine_at = place_text(here), theirs_at = place_text(there);
      by_argument && !mine_at.empty() && !theirs_at.empty() && mine_at != theirs_at)
    d.fix = fmt::format(
        "if the calls at {} and {} are meant to be one call, give it the same {} on every rank{}; if they are two "
        "calls, make both on every rank, in the same order",
        mine_at, theirs_at, differs,
        at.field == DivergenceKind::count ? " (pad to the largest, or exchange the sizes first)" : "");
  if (by_argument && here.line != there.line && here.line > 0 && there.line > 0)
    d.fix = fmt::format(
        "if the calls at lines {} and {} are meant to be one call, give it the same {} on every rank{}; if they are "
        "two calls, make both on every rank, in the same order",
        std::min(here.line, there.line), std::max(here.line, there.line), differs,
        at.field == DivergenceKind::count ? " (pad to the largest, or exchange the sizes first)" : "");
  add_span(d, report, culprit.call->site.line, culprit.call->site.column, mine, true);
}

std::optional<Diagnosis> mismatch(const Report& report, Differs wanted) {
  if (!report.divergence || report.divergence->field == DivergenceKind::missing) return std::nullopt;
  const std::vector<Camp> camps = camps_of(report);
  if (camps.size() < 2) return std::nullopt;
  const Divergence& at = *report.divergence;
  const auto eval = std::find_if(camps.begin(), camps.end(), is_eval_broadcast);
  const bool by_eval = eval != camps.end() &&
                       std::any_of(camps.begin(), camps.end(), [](const Camp& c) { return c.call->site.op != "eval"; });
  const auto lone = std::find_if(camps.begin(), camps.end(),
                                 [&](const Camp& c) { return is_lone_forward(report, c.ranks, *c.call); });
  const auto culprit = by_eval               ? eval
                       : lone != camps.end() ? lone
                                             : std::find_if(camps.begin(), camps.end(), [&](const Camp& c) {
                                                 return at.minority.empty() || contains(at.minority, c.ranks.front());
                                               });
  const auto other = std::find_if(camps.begin(), camps.end(), [&](const Camp& c) {
    return &c != &*culprit && (by_eval ? c.call->site.op != "eval" : !contains(at.minority, c.ranks.front()));
  });
  if (culprit == camps.end() || other == camps.end()) return std::nullopt;
  const bool by_forward = !by_eval && culprit == lone;
  if ((by_eval || by_forward ? Differs::operation : what_differs(report, *culprit, *other)) != wanted)
    return std::nullopt;

  Diagnosis d;
  const bool tie = at.minority.empty() && !by_eval && !by_forward;
  d.ranks = culprit->ranks;
  if (tie)
    for (const Camp& camp : camps)
      d.ranks.insert(d.ranks.end(), &camp == &*culprit ? camp.ranks.end() : camp.ranks.begin(), camp.ranks.end());
  for (const Camp& camp : camps)
    d.evidence.push_back(evidence_of(camp.ranks.front(), *camp.call, fmt::format("{} as #{}", camp_text(camp, at), at.seq)));
  if (by_eval) {
    explain_eval(d, report, *culprit, *other);
  } else if (by_forward) {
    explain_lone_forward(d, report, culprit->ranks, *culprit->call, other->ranks, *other->call);
  } else {
    explain_general(d, report, *culprit, *other, tie);
  }
  add_span(d, report, other->call->site.line, other->call->site.column,
           fmt::format("{} {} here", who(other->ranks, "is in", "are in"), call_text(*other->call)), false);
  if (by_eval)
    add_span(d, report, Section::broadcast_buffers, "every forward of the wrapper broadcasts the buffers", false);
  d.inevitable_at = since(report, camps);
  const std::string number = fmt::format(" #{}", at.seq);
  d.inevitable = fmt::format("since {}: {}, {}", to_string(d.inevitable_at), camp_text(*culprit, at, number),
                             camp_text(*other, at, number));
  return d;
}

// As where each side has as many ranks as the other.
bool accuses_all(const Diagnosis& d, const std::vector<Camp>& camps) {
  return std::all_of(camps.begin(), camps.end(), [&](const Camp& c) { return contains(d.ranks, c.ranks.front()); });
}

// Calls that are shifted since an earlier one say nothing of its cause.
bool speaks_of(const Diagnosis& d, const std::vector<Camp>& camps) {
  return std::any_of(d.evidence.begin(), d.evidence.end(), [&](const Evidence& e) {
    return std::any_of(camps.begin(), camps.end(),
                       [&](const Camp& c) { return c.call->id == e.call && contains(c.ranks, e.rank); });
  });
}

// Gloo ends the process whose receive is too small for what comes, and its record with it. Its last words say so.
std::optional<Diagnosis> ended_by_length(const Report& report) {
  const auto dead = std::find_if(report.errors.begin(), report.errors.end(), [&](const RankError& e) {
    const RankLog& log = log_of(report.run, e.rank);
    return e.code == Code::process_aborted && fact(log.error.facts, "cause") == message_too_long && log.calls.empty();
  });
  if (dead == report.errors.end()) return std::nullopt;
  for (const RankError& e : report.errors) {
    const Call* last = nullptr;
    for (const Call& call : log_of(report.run, e.rank).calls)
      if (call.layer == Layer::collective && call.state != CallState::completed) last = &call;
    if (!is_consequence(e.code) || last == nullptr) continue;
    Diagnosis d;
    const std::string theirs = fmt::format("{} #{} of {}", call_text(*last), last->seq, sizes_text(*last));
    d.ranks = {dead->rank};
    d.headline =
        fmt::format("gloo ended rank {}, whose receive was too short; rank {} was in {}", dead->rank, e.rank, theirs);
    d.cause = fmt::format("rank {} passed fewer elements than rank {}, which was in {}", dead->rank, e.rank, theirs);
    d.why = fmt::format(
        "A message arrived that was longer than the receive waiting for it. Gloo checks this on its own thread and "
        "ends the process, {}: no exception can be caught, and the rank left no record of this call. Rank {} only saw "
        "its connection close.",
        "printing how many bytes arrived and how many it expected", e.rank);
    d.fix = fmt::format("pass the same count and dtype in {} on every rank", call_text(*last));
    d.fix_lines = {FixLine{"world: {debug: detail} compares them before each collective and names the ranks",
                           "TORCH_DISTRIBUTED_DEBUG=DETAIL compares them before each collective and names the ranks"}};
    d.evidence.push_back(evidence_of(e.rank, *last, fmt::format("was in {} when the connection closed", theirs)));
    add_span(d, report, last->site.line, last->site.column, fmt::format("rank {} was here", e.rank), true);
    d.inevitable_at = last->issued;
    d.inevitable = fmt::format("since {}: rank {} called {}", to_string(last->issued), e.rank, theirs);
    return d;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> collective_mismatch(const Report& report) {
  if (std::optional<Diagnosis> statistics = statistics_of_some(report)) return statistics;
  std::optional<Diagnosis> found = other_calls(report, Face::met);
  if (!found) found = recorded_calls(report, Face::met);
  const bool by_places = found.has_value();
  if (!found) found = mismatch(report, Differs::operation);
  if (!found || !report.divergence) return found;
  const std::vector<Camp> camps = camps_of(report);
  if (!by_places || speaks_of(*found, camps)) explain_units(*found, report, camps);
  if (!by_places && accuses_all(*found, camps)) found->why += tie_text;
  explain_unsent_gradients(*found, report);
  return found;
}
std::optional<Diagnosis> parameter_mismatch(const Report& report) {
  if (std::optional<Diagnosis> parts = part_mismatch(report)) {
    parts->why += undefined_text(report, DivergenceKind::count);
    return parts;
  }
  std::optional<Diagnosis> found = mismatch(report, Differs::parameter);
  return found ? found : ended_by_length(report);
}
std::optional<Diagnosis> root_mismatch(const Report& report) { return mismatch(report, Differs::root); }

constexpr std::string_view collective_mismatch_text =
    R"(The collectives of a process group have no names: the n-th call of one rank meets the n-th call of every other. When the n-th
calls are different operations, the result depends on the library. Gloo and MPI tag messages by operation, so different
operations never meet: Gloo's sides time out, MPI's hang. NCCL pairs by order and hangs, or computes garbage. Two all_reduces
of equal size in opposite orders mix silently on every library.

A common source is a collective that no line of the program names. A forward through the DistributedDataParallel wrapper
broadcasts buffers, also in evaluation and under no_grad. "Only rank 0 evaluates, then everybody meets at a barrier"
therefore calls broadcast on rank 0 against barrier on the others.

How to recognise it: the ranks hang in different operations with the same sequence number.

Fix: every rank of the group issues the same collectives in the same order. Evaluate on one rank through ddp.module, not
through ddp.)";

constexpr std::string_view parameter_mismatch_text =
    R"(All ranks call the same collective, and one passes another count, dtype or reduce operation. What happens depends on the
library and on which of the three it is:

             count                                          dtype of equal size         reduce operation
  Gloo       ends the process that has the smaller buffer,  adds the bits of the one    combines each chunk with its
             without an exception; its peers see the        as if they were the other   owner's operation: all ranks
             connection close                               kind: garbage, no error     agree on a mixture
  MPI        a truncation error on one rank, the others     garbage, no error           one of the two, silently
             wait forever
  NCCL       undefined: hangs, or corrupts                  garbage                     a mixture

How to recognise it: values are wrong in the same way on every rank, or an error mentions bytes or lengths.

Fix: compute arguments from values that are the same on all ranks. For parts of different sizes use the uneven collectives,
or exchange the sizes first. `world: {debug: detail}` compares the arguments of all ranks before each collective.)";

constexpr std::string_view root_mismatch_text =
    R"(The ranks agree on the collective and disagree on its root: broadcast(src=rank), a root computed from a value that differs
between ranks, or a rank within the group passed where a rank of the world is meant. Two ranks that both believe they are
the root send to each other and nobody receives; two ranks that both believe they are not wait for each other. With Gloo all
ranks time out. With MPI small messages are copied into a buffer, so every rank returns although nobody received anything.
With NCCL the call may end, and the next one hangs.

How to recognise it: all ranks are in the same operation with the same number, and the roots differ. PyTorch's own checks
(TORCH_DISTRIBUTED_DEBUG=DETAIL) do not compare roots.

Fix: one root, given by the same expression on every rank; roots are ranks of the world, also in subgroups.)";

extern const DiagnosisRow collective_mismatch_row;
const DiagnosisRow collective_mismatch_row{400, "collective-mismatch",
                                           "ranks called different collectives at one sequence number",
                                           collective_mismatch, collective_mismatch_text};
extern const DiagnosisRow parameter_mismatch_row;
const DiagnosisRow parameter_mismatch_row{410, "parameter-mismatch",
                                          "ranks passed one collective different counts, dtypes or reduce operations",
                                          parameter_mismatch, parameter_mismatch_text};
extern const DiagnosisRow root_mismatch_row;
const DiagnosisRow root_mismatch_row{420, "root-mismatch", "ranks named different roots in one collective",
                                     root_mismatch, root_mismatch_text};

}  // namespace pdsim::scenarios::diagnoses
