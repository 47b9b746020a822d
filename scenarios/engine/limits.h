// What a scenario file may ask for. Checked before anything is allocated for it; the error names the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pdsim::scenarios::limits {

constexpr std::size_t file_bytes = 1 << 20;  // 1MiB
constexpr int nesting = 32;                  // of lists and mappings
constexpr std::size_t values = 50'000;       // scalars, lists and mappings in a file
constexpr int variants = 200;                // of a file
constexpr int diagnostics = 20;              // shown of a file
constexpr int summary_characters = 120;      //
constexpr std::int64_t ranks = 4096;         // with payload: real
constexpr std::int64_t ranks_without_payload = 1 << 20;
constexpr std::int64_t steps = 1'000'000;         // of one train
constexpr std::int64_t batch = 65'536;            // rows
constexpr std::int64_t width = 65'536;            // of a layer
constexpr std::int64_t operations = 20'000'000;   // ranks x what each of them runs
constexpr std::int64_t memory_bytes = 4LL << 30;  // parameters and the largest buffer, of all ranks together
constexpr std::int64_t count = 1LL << 32;         // elements of one call

}  // namespace pdsim::scenarios::limits
