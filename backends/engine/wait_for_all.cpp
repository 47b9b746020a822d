#include "backends/engine/wait_for_all.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace pdsim {

Status wait_for_all(Store& store, const JoinOptions& options, std::string_view point, Time timeout) {
  std::vector<std::string> all;
  for (Rank rank = 0; rank < options.size; ++rank) all.push_back(fmt::format("{}/{}/{}", options.group, point, rank));
  PDSIM_TRY(store.set(all[static_cast<std::size_t>(options.rank)], "here"));
  return store.wait(all, timeout);
}

}  // namespace pdsim
