// Planted leaks: the ways in which nondeterminism creeps into a simulator, each behind a name, so that the determinism
// check can be tested against them. Off unless RunOptions::leak names one; then every message is late by what the leak
// gives, some picoseconds.
//
// Adding one: a function and a row in leaks.cpp.
#pragma once

#include "core/base/random.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace pdsim::sim {

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

}  // namespace pdsim::sim
