// The limits on a scenario file. They are checked before anything is allocated for it; the error names the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pdsim::scenarios::limits {

constexpr std::size_t file_bytes = 1 << 20;  // 1MiB
constexpr int nesting = 32;                  // of lists and mappings
constexpr std::size_t values = 50'000;       // scalars, lists and mappings in a file
constexpr int variants = 200;                // of a file
constexpr std::size_t diagnostics = 1000;    // of a file; further ones are not collected
constexpr int summary_characters = 120;      //
constexpr std::int64_t ranks = 2048;         // with payload: real
constexpr std::int64_t ranks_without_payload = 8192;
constexpr std::int64_t steps = 1'000'000;                 // of one train
constexpr std::int64_t batch = 65'536;                    // rows
constexpr std::int64_t width = 65'536;                    // of a layer
constexpr std::int64_t operations = 10'000'000;           // ranks x the operations that each of them runs
constexpr std::int64_t messages = 12'000'000;             // of all ranks, by the closed forms of the algorithms
constexpr std::int64_t multiplications = 20'000'000'000;  // of all forwards and backwards
constexpr std::int64_t payload_bytes = 8LL << 30;         // of all calls of all ranks
constexpr std::int64_t minutes = 10'000;                  // of any duration
constexpr std::int64_t memory_bytes = 4LL << 30;          // parameters and the largest buffer, summed over ranks
constexpr std::int64_t sized_elements = 1LL << 40;        // of the parameters of a layer without values
constexpr std::int64_t stated_numbers = 1LL << 24;        // of `input`: over all ranks, times ranks
constexpr std::int64_t count = 1LL << 32;                 // elements of one call

}  // namespace pdsim::scenarios::limits
