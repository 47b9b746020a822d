#include "core/group/checked_communicator.h"

#include "core/group/sequence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace pdsim {
namespace {

struct Fields {
  std::int64_t kind, seq, dtype, count, op, root, parts;
  double factor;
  bool operator==(const Fields&) const = default;
};

Fields fields_of(const Collective& call) {
  const CollectiveRow& r = row(call.kind);
  const bool uneven = call.splits != nullptr;
  std::int64_t parts = 0;
  // Splits that must be equal on all ranks; the parts of all_to_all_v may differ on each rank.
  if (uneven && call.kind != CollectiveKind::all_to_all_v)
    for (const auto* offsets : {&call.splits->input, &call.splits->output})
      for (const std::int64_t o : *offsets) parts = parts * 31 + o;
  const bool premul = r.reduces && call.op == ReduceOp::premul_sum;
  return {static_cast<std::int64_t>(call.kind),
          recorded_seq(call),
          static_cast<std::int64_t>(call.dtype),
          uneven ? 0 : call.count,
          r.reduces ? static_cast<std::int64_t>(call.op) : -1,
          r.rooted ? call.root : -1,
          parts,
          premul ? call.premul : 1.0};
}

std::string text_of(const Fields& f, const RankList& global_ranks) {
  const auto kind = static_cast<CollectiveKind>(f.kind);
  std::string text = fmt::format("{} #{}", name_of(kind), f.seq);
  if (kind == CollectiveKind::barrier) return text;
  text += fmt::format(" of {}{}",
                      f.parts != 0   ? "uneven parts of "
                      : f.count != 0 ? fmt::format("{} ", f.count)
                                     : "",
                      name_of(static_cast<DType>(f.dtype)));
  if (f.op >= 0) text += fmt::format(", {}", name_of(static_cast<ReduceOp>(f.op)));
  if (f.factor != 1.0) text += fmt::format(" by {}", f.factor);
  if (f.root >= 0) text += fmt::format(", {} {}", named_rank(kind), global_ranks[static_cast<Rank>(f.root)]);
  return text;
}

std::string_view verdict_of(const Fields& a, const Fields& b) {
  if (a.kind != b.kind) return "op-mismatch";
  if (a.seq != b.seq) return "order-mismatch";
  return a.root != b.root ? "root-mismatch" : "parameter-mismatch";
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

// Buffers of the comparison; the messages keep them alive, for they may outlast it.
struct Exchanged {
  Fields mine;
  std::vector<Fields> theirs;
};

Collective message(CollectiveKind kind, Rank peer, Tag tag, std::byte* data, Time timeout) {
  Collective m;
  m.kind = kind;
  m.dtype = DType::u8;
  m.count = sizeof(Fields);
  if (kind == CollectiveKind::send) m.input = {data, m.dtype, m.count};
  if (kind == CollectiveKind::recv) m.output = {data, m.dtype, m.count};
  m.root = peer;
  m.user_tag = tag;
  m.timeout = timeout;
  return m;
}

}  // namespace

Status CheckedCommunicator::compare(const Collective& call) {
  const Rank size = global_ranks_.size();
  auto state = std::make_shared<Exchanged>();
  state->mine = fields_of(call);
  state->theirs.assign(static_cast<std::size_t>(size), state->mine);
  const Tag tag = first_inner_tag + (Tag{1} << 24) + static_cast<Tag>(call.seq & 0xffffff);
  std::vector<WorkPtr> receives(static_cast<std::size_t>(size));
  std::vector<WorkPtr> works;
  for (Rank peer = 0; peer < size; ++peer)
    for (const CollectiveKind kind : {CollectiveKind::recv, CollectiveKind::send}) {
      if (peer == rank_) continue;
      const bool receives_it = kind == CollectiveKind::recv;
      Fields& fields = receives_it ? state->theirs[static_cast<std::size_t>(peer)] : state->mine;
      Result<WorkPtr> work =
          inner_->start(message(kind, peer, tag, reinterpret_cast<std::byte*>(&fields), Time::max()));
      if (!work.ok()) return work.error();
      (*work)->on_done([state](const Status&) {});
      if (receives_it) receives[static_cast<std::size_t>(peer)] = *work;
      works.push_back(std::move(*work));
    }
  const Time deadline = call.timeout == Time::max() ? Time::max() : runtime_.now() + call.timeout;
  std::vector<Rank> missing;
  for (Rank peer = 0; peer < size; ++peer) {
    const WorkPtr& work = receives[static_cast<std::size_t>(peer)];
    if (!work) continue;
    const Status came = work->wait(deadline);
    if (!came.ok() && work->done()) return came;
    if (!came.ok()) missing.push_back(global_ranks_[peer]);
  }
  if (!missing.empty())
    return Error{Code::timeout,
                 fmt::format("{} of {}: {} did not call anything within {}", text_of(state->mine, global_ranks_),
                             group_, ranks_text(missing), to_string(call.timeout)),
                 {{"verdict", "missing-enter"}, {"missing", fmt::format("{}", fmt::join(missing, ", "))}}};
  for (const WorkPtr& work : works) PDSIM_TRY(work->wait(deadline));

  std::vector<std::pair<Fields, std::vector<Rank>>> calls;
  for (Rank r = 0; r < size; ++r) {
    const Fields& theirs = state->theirs[static_cast<std::size_t>(r)];
    std::size_t i = 0;
    while (i < calls.size() && !(calls[i].first == theirs)) ++i;
    if (i == calls.size()) calls.push_back({theirs, {}});
    calls[i].second.push_back(global_ranks_[r]);
  }
  if (calls.size() == 1) return {};
  std::string text;
  for (const auto& [fields, ranks] : calls)
    text +=
        fmt::format("{}{} on {}", text.empty() ? "" : " against ", text_of(fields, global_ranks_), ranks_text(ranks));
  return Error{Code::collective_mismatch,
               fmt::format("the ranks of {} called different collectives: {}", group_, text),
               {{"verdict", std::string(verdict_of(calls[0].first, calls[1].first))}, {"group", group_}}};
}

Result<WorkPtr> CheckedCommunicator::start(const Collective& call) {
  if (!row(call.kind).point_to_point) PDSIM_TRY(compare(call));
  return inner_->start(call);
}

Result<std::unique_ptr<Communicator>> CheckedBackend::join_group(Store& store, const JoinOptions& options) {
  Result<std::unique_ptr<Communicator>> communicator = inner_.join(store, options);
  if (!communicator.ok()) return communicator;
  const std::string& name = options.name.empty() ? options.group : options.name;
  std::unique_ptr<Communicator> checked =
      std::make_unique<CheckedCommunicator>(std::move(*communicator), runtime_, name, options.members(), options.rank);
  return checked;
}

}  // namespace pdsim
