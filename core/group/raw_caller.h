// RawCaller: a communication library called as its own users call it, without pdsim's core: no process group, no Work, no record.
// What our overhead is measured against, by `pdsim bench --raw`.
//
//   blocks   prepare() returns at once; what it returns blocks until this rank's part is done
//   memory   of the call must outlive what was prepared; every run of it reads the input and writes the output again
//   forms    the library's functions that do a collective, from 0; they follow from the names in the table of collectives. Collectives of
//            uneven parts are not called directly
//   where    the callers are in backends/<library>/raw.cpp, for they need the library's headers
//   threads  one, and nothing else of this rank may use the library meanwhile
#pragma once

#include "core/base/result.h"
#include "core/collectives/collective.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

class RawCaller {
 public:
  using Run = std::function<Status()>;
  virtual ~RawCaller() = default;
  // Lays out what can be laid out before the call. `form`: which of the library's functions that do this, from 0; the first is
  // the one that the library's Communicator calls. Errors: unsupported.
  virtual Result<Run> prepare(const Collective& call, int form) = 0;
};

// By form, from 0; the first one is what the library's `native` takes. Empty: the library has none.
std::vector<std::string> raw_functions(std::string_view world, CollectiveKind kind);

// Why this cannot be called directly; empty: it can.
std::string raw_problem(std::string_view world, CollectiveKind kind, DType dtype, ReduceOp op);

}  // namespace pdsim
