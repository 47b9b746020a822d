// Collects what is wrong with a file: sorted by place, each told once.
#pragma once

#include "scenarios/engine/loader.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::language {

class Problems {
 public:
  void error(const Mark& mark, std::string what, std::string label);
  void warning(const Mark& mark, std::string what, std::string label);
  bool any_error() const { return errors_ > 0; }
  int errors() const { return errors_; }
  // By position, errors first where there are more than fit.
  std::vector<Diagnostic> take();

 private:
  void add(Diagnostic diagnostic);
  std::vector<Diagnostic> all_;
  int errors_ = 0;
};

}  // namespace pdsim::scenarios::language
