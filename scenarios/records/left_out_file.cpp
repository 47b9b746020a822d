#include "scenarios/records/left_out_file.h"

#include "core/base/int_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace pdsim::scenarios {

std::vector<std::string> left_out_lines(const std::vector<LeftOutFile>& files) {
  std::vector<std::pair<const LeftOutFile*, std::vector<int>>> rows;
  std::map<std::string, std::size_t> known;
  for (const LeftOutFile& file : files) {
    if (!file.is_whole) {
      rows.push_back({&file, {file.rank}});
      continue;
    }
    const auto [at, is_new] = known.try_emplace(file.reason, rows.size());
    if (is_new) rows.push_back({&file, {}});
    rows[at->second].second.push_back(file.rank);
  }
  std::vector<std::string> lines;
  for (const auto& [first, ranks] : rows) {
    std::string line = first->path;
    const bool named = std::find(ranks.begin(), ranks.end(), no_rank) == ranks.end();
    if (ranks.size() > 1)
      line += fmt::format(" and {} more file{}{}", ranks.size() - 1, ranks.size() == 2 ? "" : "s", named ? fmt::format(" ({})", ranks_text(ranks)) : "");
    lines.push_back(fmt::format("{}: {}; left out", line, first->reason));
  }
  return lines;
}

std::string left_out_count(const std::vector<LeftOutFile>& files) {
  const auto count = std::count_if(files.begin(), files.end(), [](const LeftOutFile& f) { return f.is_whole; });
  return count == 0 ? "" : fmt::format("{} file{} left out", count, count == 1 ? "" : "s");
}

}  // namespace pdsim::scenarios
