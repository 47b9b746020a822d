// Collects what is wrong with a file: sorted by place, each reported once, the first limits::diagnostics of them.
#pragma once

#include "scenarios/language/loader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdsim::scenarios::language {

// What one part of a file states and others are checked against. When the part is in error, the fact is in doubt, and
// what would follow from it is not reported.
enum class Fact : std::uint8_t {
  ranks,          // how many ranks and nodes the world has
  world,          // everything else in `world`
  model,          // that there is one, and of which layers and paths
  data_parallel,  //
  names,          // labels, groups and losses of the program
  steps,          // how many steps are trained
  outcome,        // how the run is expected to end
  diagnosis,      // which is expected
};

class Problems {
 public:
  void error(const Mark& mark, std::string what, std::string label);
  void warning(const Mark& mark, std::string what, std::string label);
  void add(Diagnostic diagnostic);
  bool knows(const Diagnostic& diagnostic) const;
  bool any_error() const { return errors_ > 0; }
  int seen() const { return seen_; }  // errors, also those that were known already
  void doubt(Fact fact) { doubts_ |= bit(fact); }
  bool doubts(Fact fact) const { return (doubts_ & bit(fact)) != 0; }
  // By position.
  std::vector<Diagnostic> take();

 private:
  static constexpr unsigned bit(Fact fact) { return 1U << static_cast<unsigned>(fact); }

  std::vector<Diagnostic> all_;
  int errors_ = 0;
  int seen_ = 0;
  unsigned doubts_ = 0;
};

}  // namespace pdsim::scenarios::language
