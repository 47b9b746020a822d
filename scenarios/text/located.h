// Positions in a scenario file. Every value the loader keeps remembers its place.
#pragma once

#include <string>
#include <utility>

namespace pdsim::scenarios {

struct Mark {
  int line = 0;    // 1-based; 0: not from the file (a default)
  int column = 0;  // 1-based, in bytes
  int width = 1;   // of the caret
};

// A place for an explanation, with a label beside its caret.
struct Span {
  int line = 0, column = 0, width = 1;
  std::string label;
  bool primary = false;
};

template <class T>
struct Located {
  T value{};
  Mark mark{};
  bool given() const { return mark.line > 0; }
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};

}  // namespace pdsim::scenarios
