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
  void add(Diagnostic diagnostic);
  bool knows(const Diagnostic& diagnostic) const;
  bool any_error() const { return errors_ > 0; }
  int seen() const { return seen_; }  // errors, also those that were known already
  // By position, errors first where there are more than fit.
  std::vector<Diagnostic> take();

 private:
  std::vector<Diagnostic> all_;
  int errors_ = 0;
  int seen_ = 0;
};

}  // namespace pdsim::scenarios::language
