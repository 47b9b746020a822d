// RawCaller: a communication library called as its own users call it, without pdsim's core: no process group, no Work, no record.
// `pdsim bench --raw` measures pdsim's overhead against it.
//
//   blocks   prepare() returns at once; the Run that it returns blocks until this rank's part is done
//   memory   the call's buffers must outlive the Run; every run reads the input and writes the output again
//   forms    the library's functions that do a collective, from 0; they follow from the names in the table of collectives.
//            Collectives of uneven parts are not called directly
//   where    the callers are in backends/<library>/raw.cpp, as they need the library's headers
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
  // Does the setup that can be done before the call. `form` selects one of the library's functions for it, from 0; the library's
  // Communicator calls the first. Errors: unsupported.
  virtual Result<Run> prepare(const Collective& call, int form) = 0;
};

// Names by form, from 0; the library's `native` takes the first. Empty: the library has none.
std::vector<std::string> raw_functions(std::string_view world, CollectiveKind kind);

// Why this cannot be called directly; empty when it can.
std::string raw_problem(std::string_view world, CollectiveKind kind, DType dtype, ReduceOp op);

}  // namespace pdsim
