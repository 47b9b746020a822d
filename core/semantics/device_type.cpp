#include "core/semantics/device_type.h"

namespace pdsim {

std::string to_string(DeviceTypes types) {
  std::string text;
  for (const EnumRow<DeviceType>& row : enum_rows<DeviceType>)
    if (types.has(row.value)) text.append(text.empty() ? "" : ", ").append(row.name);
  return text;
}

}  // namespace pdsim
