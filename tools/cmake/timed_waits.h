// Included before everything in a build with the thread sanitizer: clang 14's does not see pthread_cond_clockwait, which libstdc++ waits
// with, and takes the mutex for held all the while. With pthread_cond_timedwait it sees what happens.
#pragma once

#ifdef __cplusplus
#include <version>
#undef _GLIBCXX_USE_PTHREAD_COND_CLOCKWAIT
#endif
