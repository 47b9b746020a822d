// Included before everything in a build with the thread sanitizer: that of clang 14 does not intercept pthread_cond_clockwait,
// which libstdc++ waits with, and considers the mutex held throughout. It does intercept pthread_cond_timedwait.
#pragma once

#ifdef __cplusplus
#include <version>
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#endif
