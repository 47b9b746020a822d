// The words of flight records in JSON, in the order of their enums.
#pragma once

#include <array>
#include <string_view>

namespace pdsim::scenarios::record_names {

inline constexpr std::array<std::string_view, 4> layers{"program", "collective", "point_to_point", "store"};
inline constexpr std::array<std::string_view, 5> states{"issued", "started", "completed", "timed_out", "failed"};
inline constexpr std::array<std::string_view, 4> ends{"running", "returned", "raised", "died"};

}  // namespace pdsim::scenarios::record_names
