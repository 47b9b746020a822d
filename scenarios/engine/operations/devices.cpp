// set_device, and what backends say about the device of a tensor; raise.
#include "scenarios/engine/operations/operations.h"
#include "sim/personality.h"

#include <fmt/format.h>

namespace pdsim::scenarios::operations {
namespace {

const sim::Personality* personality_of(const Session& s) {
  return sim::personality_named(s.world == WorldKind::real ? s.env.backend.name()
                                                           : std::string_view(s.scenario.world.spec.backend));
}

bool takes(const sim::Personality& p, std::string_view device) {
  return p.tensors.find(device) != std::string_view::npos;
}

// What NCCL does when a communicator is made, at a group's first collective: every member tells its host and GPU, and no
// two may be one.
Status compare_devices(Session& s, const Operation& op, const ProcessGroup& group) {
  if (!group.is_member() || s.store == nullptr || !s.devices_compared.insert(group.name()).second) return {};
  const auto key = [&group](Rank rank) { return fmt::format("nccl_device/{}/{}", group.name(), rank); };
  const std::string mine = fmt::format("{}:{}", s.env.node, s.device);
  s.env.recorder.note(note_kind::device_used,
                      {{"node", std::to_string(s.env.node)}, {"device", std::to_string(s.device)}});
  PDSIM_TRY(s.store->set(key(s.env.rank), mine));
  Rank shared = no_rank;
  for (Rank i = 0; i < group.size(); ++i) {
    const Rank rank = group.global_rank(i);
    const Result<std::string> theirs = s.store->get(key(rank));
    if (!theirs.ok()) return theirs.error();
    if (rank != s.env.rank && *theirs == mine && shared == no_rank) shared = rank;
  }
  if (shared == no_rank) return {};
  return Error{Code::invalid_argument,
               fmt::format("{}: Duplicate GPU detected: rank {} and rank {} both on device {} of node {}", op.name,
                           s.env.rank, shared, s.device, s.env.node),
               {{"device", std::to_string(s.device)}, {"shared_with", std::to_string(shared)}}};
}

}  // namespace

Status check_tensor(Session& s, const Operation& op, const ProcessGroup& group) {
  const sim::Personality* backend = personality_of(s);
  if (backend == nullptr) return {};
  const std::string device = op.text("device", "");
  if (!device.empty() && !takes(*backend, device))
    return Error{Code::unsupported,
                 fmt::format("{}: backend {} has no way for tensors on {}; it takes those on {}", op.name,
                             backend->name, device, backend->tensors),
                 {{"device", device}, {"backend", std::string(backend->name)}}};
  if (op.integer("stride", 1) > 1 && backend->on_strided == sim::OnStrided::refused)
    return Error{Code::invalid_argument,
                 fmt::format("{}: the tensor is a view with stride {}, and {} takes contiguous ones only", op.name,
                             op.integer("stride", 1), backend->name),
                 {{"stride", op.text("stride", "")}}};
  const bool message = op.name == "send" || op.name == "recv";
  if (s.scenario.world.devices == 0 || !backend->one_rank_per_device || message) return {};
  return compare_devices(s, op, group);
}

bool takes_views_for_packed(const Session& s) {
  const sim::Personality* backend = personality_of(s);
  return backend == nullptr || backend->on_strided == sim::OnStrided::taken_for_packed;
}

Status set_device(Session& s, const Operation& op) {
  const int local_rank = s.env.rank - s.env.node * s.scenario.world.spec.ranks_per_node;
  const int index = op.text("index", "") == "local_rank" ? local_rank : static_cast<int>(op.integer("index", 0));
  const int devices = s.scenario.world.devices;
  if (devices > 0 && index >= devices)
    return Error{Code::invalid_argument,
                 fmt::format("set_device: invalid device ordinal {}, the node has {} GPUs", index, devices),
                 {{"ordinal", std::to_string(index)}}};
  s.device = index;
  return {};
}

Status raise(Session&, const Operation& op) { return Error{Code::program_raised, op.text("message", ""), {}}; }

}  // namespace pdsim::scenarios::operations
