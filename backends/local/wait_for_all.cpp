#include "backends/local/wait_for_all.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace pdsim {

Status wait_for_all(Store& store, const JoinOptions& options, std::string_view point, Time timeout) {
  const std::vector<std::string> all{fmt::format("{}/all_{}", options.group, point)};
  const auto here = store.add(fmt::format("{}/{}", options.group, point), 1);
  if (!here.ok()) return here.error();
  if (*here < options.size) return store.wait(all, timeout);
  return store.set(all[0], "yes");
}

}  // namespace pdsim
