#include "core/collectives/plan_data.h"

#include "core/collectives/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace pdsim {
namespace {

// The beginning of what a message will be written to; the processor fetches the rest by itself.
void prefetch(const std::byte* data, std::size_t size) {
  constexpr std::size_t line = 64, most = 512;
  for (std::size_t at = 0; at < std::min(size, most); at += line) __builtin_prefetch(data + at, 1);
}

}  // namespace

PlanData::PlanData(const Collective& call, const Algorithm& algorithm, const PlanArgs& args)
    : room_(room_of(call, algorithm, args)),
      width_(size_of(call.dtype)),
      real_(call.input.data != nullptr || call.output.data != nullptr),
      call_(call) {
  if (row(call.kind).reduces && call.op == ReduceOp::avg) factor_ = 1.0 / room_.size;
  if (call.op == ReduceOp::premul_sum && row(call.kind).reduces) factor_ = call.premul;
  divides_at_end_ = call.op == ReduceOp::avg && !row(call.dtype).floating;
}

Status PlanData::make_scratch() {
  if (!real_) return {};
  const std::int64_t elements = std::max<std::int64_t>(room_.scratch(), 0);
  try {
    scratch_.resize(bytes(elements));
    return {};
  } catch (const std::exception&) {
    return Error{Code::limit_exceeded,
                 fmt::format("{}: no memory for {} elements of scratch", name_of(call_.kind), elements),
                 {}};
  }
}

std::byte* PlanData::at(const Slice& s) {
  if (!real_) return nullptr;
  const std::size_t offset = bytes(s.offset);
  if (s.buffer == BufferId::output) return call_.output.data == nullptr ? nullptr : call_.output.data + offset;
  if (s.buffer == BufferId::scratch) return scratch_.data() + offset;
  // Sends only read it; Message is one struct for both directions.
  return call_.input.data == nullptr ? nullptr : const_cast<std::byte*>(call_.input.data) + offset;
}

void PlanData::begin_round(std::span<const Step> round) {
  if (!real_) return;
  staging_.resize(staged_before(round, round.size()));
  for (const Step& step : round) {
    if (step.kind != Step::Kind::receive && step.kind != Step::Kind::receive_reduce) continue;
    if (const std::byte* target = at(step.slice); target != nullptr) prefetch(target, bytes(step.slice.count));
  }
}

std::size_t PlanData::staged_before(std::span<const Step> round, std::size_t index) const {
  std::size_t staged = 0;
  for (const Step& step : round.first(index))
    if (step.kind == Step::Kind::receive_reduce) staged += bytes(step.slice.count);
  return staged;
}

std::byte* PlanData::place_of(const Step& step, std::size_t staged) {
  if (!real_) return nullptr;
  return step.kind == Step::Kind::receive_reduce ? staging_.data() + staged : at(step.slice);
}

std::int64_t PlanData::end_round(std::span<const Step> round) {
  std::int64_t combined = 0;
  std::size_t offset = 0;
  for (const Step& s : round) {
    if (s.kind == Step::Kind::copy) copy_slice(s);
    if (s.kind != Step::Kind::receive_reduce && s.kind != Step::Kind::reduce) continue;
    const std::byte* from = s.kind == Step::Kind::reduce ? at(s.from) : real_ ? staging_.data() + offset : nullptr;
    if (s.kind == Step::Kind::receive_reduce) offset += bytes(s.slice.count);
    reduce({at(s.slice), call_.dtype, s.slice.count}, {from, call_.dtype, s.slice.count}, call_.op);
    combined += static_cast<std::int64_t>(bytes(s.slice.count));
  }
  return combined;
}

void PlanData::copy_slice(const Step& s) {
  std::byte* to = at(s.slice);
  const std::byte* from = at(s.from);
  if (to == nullptr || from == nullptr) return;
  if (s.from.buffer == BufferId::input && factor_ != 1.0 && !divides_at_end_)
    return scale({to, call_.dtype, s.slice.count}, {from, call_.dtype, s.slice.count}, factor_);
  if (to != from && s.slice.count > 0) std::memmove(to, from, bytes(s.slice.count));
}

void PlanData::end() {
  if (divides_at_end_ && real_ && call_.output.data != nullptr) divide(call_.output, room_.size);
  leave_scratch();
}

// The output of a rank that is not the root, which has one where its caller passed a whole one.
void PlanData::leave_scratch() {
  const MutableView& out = call_.output;
  if (!room_.algorithm->leaves_scratch || room_.rank == call_.root || out.data == nullptr || out.count != call_.count) return;
  std::copy_n(scratch_.begin(), std::min(scratch_.size(), bytes(out.count)), out.data);
}

}  // namespace pdsim
