// RawCaller: a communication library called as its own users call it, without pdsim's core: no process group, no Work, no record.
// What our overhead is measured against.
//
//   blocks   prepare() returns at once; what it returns blocks until this rank's part is done
//   memory   of the call must outlive what was prepared; every run of it reads the input and writes the output again
//   threads  one, and nothing else of this rank may use the library meanwhile
#pragma once

#include "core/base/result.h"
#include "core/collectives/collective.h"

#include <functional>

namespace pdsim {

class RawCaller {
 public:
  using Run = std::function<Status()>;
  virtual ~RawCaller() = default;
  // Lays out what can be laid out before the call. `form`: which of the library's functions that do this, from 0; the first is
  // the one that the library's Member calls. Errors: unsupported.
  virtual Result<Run> prepare(const Collective& call, int form) = 0;
};

}  // namespace pdsim
