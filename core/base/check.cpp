#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace pdsim {

void check_failed(const char* expression, const char* file, int line, const char* sentence) {
  std::fprintf(stderr,
               "internal error: %s\n  check failed: %s\n  at %s:%d\n  this is a bug in pdsim, please report it\n",
               sentence, expression, file, line);
  std::abort();
}

}  // namespace pdsim
