#include "scenarios/guests/simulated/devices.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::guests {
namespace {

std::pair<std::string, std::vector<Rank>> key_of(const ProcessGroup& group) {
  std::vector<Rank> ranks;
  for (Rank i = 0; i < group.size(); ++i) ranks.push_back(group.global_rank(i));
  return {group.name(), std::move(ranks)};
}

}  // namespace

Status Devices::use(RankEnvironment& env, const Request& request, const ProcessGroup& group, const LibrarySemantics* own) {
  const LibrarySemantics* library = own != nullptr ? own : library_;
  if (library == nullptr || !request.device) return {};
  if (*request.device < 0 && !library->tensors.has(DeviceType::cpu))
    return Error{Code::unsupported,
                 old_ ? "Tensors must be CUDA and dense" : "No backend type associated with device type cpu",
                 {{"device", "cpu"}, {"backend", std::string(library->name)}}};
  if (!library->one_rank_per_device) return {};
  std::vector<Place>& places = places_[key_of(group)];
  const bool known = std::any_of(places.begin(), places.end(), [&](const Place& p) { return p.rank == env.rank; });
  if (known) return {};
  const int device = static_cast<int>(*request.device);
  if (request.guess) env.recorder.note(notes::BarrierDevice{env.node, device, static_cast<int>(*request.guess)});
  env.recorder.note(notes::DeviceUsed{env.node, device});
  places.push_back({env.rank, env.node, device});
  return {};
}

Status Devices::shared(Rank rank, const ProcessGroup& group) const {
  const auto found = places_.find(key_of(group));
  if (found == places_.end()) return {};
  const std::vector<Place>& places = found->second;
  const auto mine = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.rank == rank; });
  if (mine == places.end()) return {};
  const auto other = std::find_if(places.begin(), places.end(), [&](const Place& p) {
    return p.rank != rank && p.node == mine->node && p.device == mine->device;
  });
  if (other == places.end()) return {};
  return Error{Code::invalid_argument,
               fmt::format("NCCL error: invalid usage\nncclInvalidUsage: This usually reflects invalid usage of NCCL "
                           "library.\nLast error:\nDuplicate GPU detected : rank {} and rank {} both on CUDA device {}",
                           rank, other->rank, mine->device),
               {{"device", std::to_string(mine->device)}, {"shared_with", std::to_string(other->rank)}}};
}

}  // namespace pdsim::scenarios::guests
