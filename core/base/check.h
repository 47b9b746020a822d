// PDSIM_CHECK: a bug in pdsim prints the expression, its place and a sentence, then aborts; in release builds too.
#pragma once

namespace pdsim {
[[noreturn]] void check_failed(const char* expression, const char* file, int line, const char* sentence);
}  // namespace pdsim

#define PDSIM_CHECK(condition, sentence)                               \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::pdsim::check_failed(#condition, __FILE__, __LINE__, sentence); \
  } while (false)
