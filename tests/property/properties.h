// THE table of properties of single cases, and how one is checked: drawn cases, and the smallest that fails.
//
//   cases    PDSIM_CASES of every algorithm; a failing one is shrunk and printed as the one line that replays it
//   replay   PDSIM_CASE='<the case as text>' checks that case alone
//   adding   a function in laws.cpp and a row in properties(), or in simulated_laws.cpp and simulated_properties()
#pragma once

#include "tests/property/worlds/collective_world.h"

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace pdsim::property {

struct Property {
  std::string_view name;
  bool (*applies)(const Algorithm&);
  CollectiveCase (*shape)(CollectiveCase);  // makes a drawn case one that the property speaks about
  std::string (*wrong)(CollectiveWorld&, const CollectiveCase&);  // empty: it holds

  friend void PrintTo(const Property& p, std::ostream* out) { *out << p.name; }
};

inline bool any_collective(const Algorithm& a) { return !row(a.kind).point_to_point; }

std::span<const Property> properties();
// Of time and of death, which only the simulated world has: `world` is not asked.
std::span<const Property> simulated_properties();

struct Outcome {
  int cases = 0;        // that ran, those tried while shrinking included
  std::string failure;  // empty: it held
  std::string replay;   // the line that replays the smallest failing case
  std::optional<CollectiveCase> smallest;
};

// Checks `cases` drawn cases of one algorithm, which may be in no table.
Outcome check(const Property& property, CollectiveWorld& world, const Algorithm& algorithm, int cases);
Outcome check_one(const Property& property, CollectiveWorld& world, const CollectiveCase& c);

// Empty when every rank of the outcome ended well with the right numbers.
std::string wrong_ranks(const CollectiveCase& c, const RankBuffers& inputs, const WorldOutcome& outcome);

// How many cases of every algorithm: PDSIM_CASES, else `otherwise`.
int cases_wanted(int otherwise);
// The case of PDSIM_CASE; a text that is none ends the test program.
std::optional<CollectiveCase> case_wanted();

}  // namespace pdsim::property
