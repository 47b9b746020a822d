// Wording for how a run ended and whether its expectations held.
#pragma once

#include "core/base/enum_names.h"

#include <array>
#include <cstdint>

namespace pdsim::scenarios {

enum class Outcome : std::uint8_t { ok, deadlock, timeout, error };
enum class Verdict : std::uint8_t { pass, fail, skip };
// The same training by one process: as the program has it, or with one backward for all batches between two steps.
enum class Reference : std::uint8_t { single_process, one_batch };
enum class VariantRole : std::uint8_t { pitfall, cure };

}  // namespace pdsim::scenarios

namespace pdsim {

template <>
inline constexpr auto enum_rows<scenarios::Outcome> = std::to_array<EnumRow<scenarios::Outcome>>({
    {scenarios::Outcome::ok, "ok"},
    {scenarios::Outcome::deadlock, "deadlock"},
    {scenarios::Outcome::timeout, "timeout"},
    {scenarios::Outcome::error, "error"},
});
template <>
inline constexpr auto enum_rows<scenarios::Reference> = std::to_array<EnumRow<scenarios::Reference>>({
    {scenarios::Reference::single_process, "single_process"},
    {scenarios::Reference::one_batch, "one_batch"},
});
template <>
inline constexpr auto enum_rows<scenarios::VariantRole> = std::to_array<EnumRow<scenarios::VariantRole>>({
    {scenarios::VariantRole::pitfall, "pitfall"},
    {scenarios::VariantRole::cure, "cure"},
});
template <>
inline constexpr auto enum_rows<scenarios::Verdict> = std::to_array<EnumRow<scenarios::Verdict>>({
    {scenarios::Verdict::pass, "pass"},
    {scenarios::Verdict::fail, "fail"},
    {scenarios::Verdict::skip, "skip"},
});

}  // namespace pdsim
