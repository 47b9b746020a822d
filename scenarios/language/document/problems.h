// Collects the problems of a file: sorted by place, each reported once, the first limits::diagnostics of them.
#pragma once

#include "scenarios/language/loader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdsim::scenarios::language {

// Facts that one part of a file states and others are checked against. When the part has an error, the fact is in
// doubt, and errors that depend on it are not reported.
enum class Fact : std::uint8_t {
  ranks,          // the world's numbers of ranks and nodes
  world,          // everything else in `world`
  model,          // whether there is one, its layers and paths
  data_parallel,  //
  names,          // labels, groups and losses of the program
  calls,          // its operations: some may have been left out
  steps,          // the number of trained steps
  outcome,        // the expected end of the run
  diagnosis,      // the expected one
};

class Problems {
 public:
  void error(const Mark& mark, std::string what, std::string label);
  void warning(const Mark& mark, std::string what, std::string label);
  void add(Diagnostic diagnostic);
  bool knows(const Diagnostic& diagnostic) const;
  bool any_error() const { return errors_ > 0; }
  int seen() const { return seen_; }  // errors, including those that were known already
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
