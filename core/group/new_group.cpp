#include "core/group/new_group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pdsim {
namespace {

Status check_ranks(const std::vector<Rank>& sorted, int world_size) {
  const auto invalid_argument = [](Rank rank, std::string why) {
    return Error{Code::invalid_argument, "new_group: " + std::move(why), {{"rank", std::to_string(rank)}}};
  };
  if (sorted.empty())
    return Error{Code::invalid_argument, "new_group: the list of ranks is empty; name at least one rank", {}};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Rank rank = sorted[i];
    if (rank < 0 || rank >= world_size)
      return invalid_argument(rank, fmt::format("rank {} is not in the world, which has ranks 0..{}", rank, world_size - 1));
    if (i > 0 && sorted[i - 1] == rank) return invalid_argument(rank, fmt::format("rank {} is named twice", rank));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ProcessGroup>> GroupMaker::new_group(std::vector<Rank> ranks, std::string name, Time timeout) {
  std::sort(ranks.begin(), ranks.end());
  PDSIM_TRY(check_ranks(ranks, world_size_));
  ++made_;
  JoinOptions join;
  join.group = fmt::format("group {}", made_);
  if (name.empty()) name = join.group;
  join.name = name;
  join.timeout = timeout == Time::max() ? backend_.default_timeout() : timeout;
  join.size = static_cast<int>(ranks.size());
  join.global_ranks = ranks;
  recorder_.note(notes::GroupMade{name, static_cast<int>(made_), ranks});
  const auto mine = std::find(ranks.begin(), ranks.end(), rank_);
  if (mine == ranks.end())
    return std::make_unique<ProcessGroup>(std::move(name), std::move(ranks), no_rank, join.timeout, nullptr, recorder_);
  join.rank = static_cast<Rank>(mine - ranks.begin());
  Result<std::unique_ptr<Communicator>> communicator = backend_.join(store_, join);
  if (!communicator.ok()) return communicator.error();
  return std::make_unique<ProcessGroup>(std::move(name), std::move(ranks), join.rank, join.timeout, std::move(*communicator),
                                        recorder_);
}

}  // namespace pdsim
