// Element-wise combination, in the one order every transport uses: inout[i] = inout[i] op in[i].
//
//   dtypes   all of THE table; f16 and bf16 compute in f32 and round once per combination (to nearest even); integers
//            wrap
//   bool     sum and max are `or`, product and min are `and`; stored as 0 or 1
//   min/max  a NaN on either side wins; of equal zeros the left stays
//   errors   none: `supports` says beforehand which op x dtype exists
//   threads  pure
#pragma once

#include "core/base/views.h"
#include "core/collectives/kernels.h"

namespace pdsim {

// avg and premul_sum are sums of scaled inputs: the plan runner scales, so for them this only adds.
bool supports(ReduceOp op, DType dtype);

// Counts and dtypes must be equal; both views may be null (payload: none), and nothing happens.
void reduce(MutableView inout, ConstView in, ReduceOp op);

// The same with the instructions of `processor`, which this machine must support: the bits do not depend on it.
void reduce(MutableView inout, ConstView in, ReduceOp op, Processor processor);

// to[i] = from[i] * factor, in the dtype's own arithmetic (f16, bf16: rounded once). May alias.
void scale(MutableView to, ConstView from, double factor);

// data[i] = data[i] / divisor, towards zero. Integers only; divisor > 0.
void divide(MutableView data, std::int64_t divisor);

}  // namespace pdsim
