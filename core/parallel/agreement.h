// One number that the ranks of a group combine; its memory stays alive until the operation is over.
#pragma once

#include "core/group/process_group.h"
#include "core/parallel/coalesced.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace pdsim {

template <class T>
struct Agreement {
  std::shared_ptr<T> value;  // the combination, once the work is done
  WorkPtr work;              // null: nothing was started
};

// Starts an all_reduce of this rank's number.
template <class T>
Result<Agreement<T>> start_agreement(ProcessGroup& group, T mine, ReduceOp op, PurposeKind purpose) {
  const auto value = std::make_shared<T>(mine);
  CallOptions call;
  call.purpose = purpose;
  call.async = true;
  const auto work = keeping(value, group.all_reduce(view_of(*value), op, std::move(call)));
  if (!work.ok()) return work.error();
  return Agreement<T>{value, *work};
}

// Blocks until every rank has given its number.
template <class T>
Result<T> agree(ProcessGroup& group, T mine, ReduceOp op, PurposeKind purpose) {
  const Result<Agreement<T>> started = start_agreement(group, mine, op, purpose);
  if (!started.ok()) return started.error();
  PDSIM_TRY(started->work->wait());
  return *started->value;
}

// The highest group rank that is a candidate; collective_mismatch when none is.
Result<Rank> highest_rank(ProcessGroup& group, bool candidate, PurposeKind purpose);

}  // namespace pdsim
