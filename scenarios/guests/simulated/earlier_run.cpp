#include "scenarios/guests/simulated/earlier_run.h"

#include "backends/os/real_files.h"
#include "core/store/prefix_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace pdsim::scenarios::guests {
namespace {

constexpr std::string_view file_prefix = "file:";
constexpr std::uintmax_t most_bytes = std::uintmax_t{16} << 20;
constexpr int most_ranks_found = 1 << 16;

// A key of the world's group that ends in a rank, or 1.13's rank_N: how many ranks there are at least. 0: it is no such key.
int ranks_shown_by(std::string_view key) {
  constexpr std::string_view world = "/default_pg/0/", rank_name = "rank_";
  if (!key.starts_with(world)) return 0;
  std::string_view last = key.substr(key.rfind('/') + 1);
  if (last.starts_with(rank_name)) last.remove_prefix(rank_name.size());
  int rank = 0;
  const auto [end, problem] = std::from_chars(last.data(), last.data() + last.size(), rank);
  const bool is_rank = problem == std::errc{} && end == last.data() + last.size() && rank >= 0 && rank < most_ranks_found;
  return is_rank ? rank + 1 : 0;
}

}  // namespace

Result<std::optional<EarlierRun>> earlier_run_of(const std::string& store) {
  std::optional<EarlierRun> none;
  if (!store.starts_with(file_prefix)) return none;
  EarlierRun earlier;
  earlier.store = store;
  earlier.path = store.substr(file_prefix.size());
  std::error_code problem;
  if (!std::filesystem::is_regular_file(earlier.path, problem)) return none;
  const std::uintmax_t bytes = std::filesystem::file_size(earlier.path, problem);
  if (problem || bytes == 0) return none;
  if (bytes > most_bytes)
    return Error{Code::limit_exceeded, fmt::format("it has {} bytes; pdsim reads store files of at most {}", bytes, most_bytes), {}};
  const Result<std::string> content = RealFiles().read_whole(earlier.path);
  if (!content.ok()) return content.error();
  PDSIM_TRY(apply_records(*content, 0, earlier.keys));
  std::erase_if(earlier.keys, [](const auto& entry) { return !entry.first.starts_with('/'); });
  for (const auto& [key, value] : earlier.keys) earlier.ranks = std::max(earlier.ranks, ranks_shown_by(key));
  return std::optional<EarlierRun>(std::move(earlier));
}

ProgramResult play(RankEnvironment& env, const EarlierRun& earlier) {
  ProgramResult ended;
  ended.relaunch = true;
  const Time timeout = env.backend.default_timeout();
  Result<std::unique_ptr<Store>> store = env.rendezvous.file(earlier.path, timeout);
  if (!store.ok()) return {store.error()};
  PrefixStore keys(earlier.store, **store);
  if (env.rank == 0)
    for (const auto& [key, value] : earlier.keys)
      if (Status set = keys.set(key.substr(1), value); !set.ok()) return {set};
  const int ranks = std::min(earlier.ranks, env.world_size);
  if (env.rank >= ranks) return ended;
  JoinOptions options;
  options.group = "world";
  options.name = "world";
  options.rank = env.rank;
  options.size = ranks;
  options.timeout = timeout;
  if (auto joined = env.backend.join(**store, options); !joined.ok()) return {joined.error()};
  return ended;
}

}  // namespace pdsim::scenarios::guests
