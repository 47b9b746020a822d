// DeviceType: where a tensor lies, in PyTorch's words; and the set of them whose tensors a library takes.
#pragma once

#include "core/base/enum_names.h"
#include "core/base/enum_set.h"

#include <array>
#include <cstdint>
#include <string>

namespace pdsim {

enum class DeviceType : std::uint8_t { cpu, cuda };

template <>
inline constexpr auto enum_rows<DeviceType> = std::to_array<EnumRow<DeviceType>>({{DeviceType::cpu, "cpu"},
                                                                                  {DeviceType::cuda, "cuda"}});

using DeviceTypes = EnumSet<DeviceType>;

// As errors write it: "cpu, cuda".
std::string to_string(DeviceTypes types);

}  // namespace pdsim
