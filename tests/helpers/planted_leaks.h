// Planted leaks: the ways in which nondeterminism creeps into a simulator, each behind a name, so that the determinism
// check can be tested against them. As sim::RunOptions::disturb, a leak makes every message late by some picoseconds.
//
// Adding one: a function and a row in planted_leaks.cpp.
#pragma once

#include "core/base/random.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace pdsim::planted {

enum class CaughtBy : std::uint8_t {
  rerun,    // two runs in one process differ
  another,  // only runs of two processes, or of programs from two compilers, differ
};

struct LeakRow {
  std::string_view name;
  std::string_view about;
  CaughtBy caught_by;
  std::int64_t (*draw)(Random&);  // 0 to 1023
};

std::span<const LeakRow> leaks();

// Null for a name that is none, `` included.
const LeakRow* leak_named(std::string_view name);

}  // namespace pdsim::planted
