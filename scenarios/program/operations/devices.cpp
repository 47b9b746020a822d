// set_device, and what backends say about the device of a tensor; raise.
#include "scenarios/program/operations/devices.h"

#include "core/semantics/library.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/shared_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace pdsim::scenarios::operations {
namespace {

struct SetDeviceOptions {
  NumberOrWord index;  // or local_rank
};

struct RaiseOptions {
  std::string message;
};

const LibrarySemantics* library_of(const Session& s) {
  return library_named(s.world == WorldKind::real ? s.env.backend.name()
                                                  : std::string_view(s.scenario.world.spec.backend));
}

int local_rank_of(const Session& s) { return s.env.rank - s.env.node * s.scenario.world.spec.ranks_per_node; }

std::size_t devices_used(const Session& s, const ProcessGroup& group) {
  return static_cast<std::size_t>(std::count_if(s.devices_compared.begin(), s.devices_compared.end(),
                                                [&](const auto& used) { return used.first == group.name(); }));
}

// A barrier has no tensor, so it runs where it is told to, or where earlier calls of the group ran. Before there were any it
// guesses from the rank, whatever set_device said.
int device_of_barrier(Session& s, const Operation& op, const ProcessGroup& group) {
  const std::optional<NumberOrWord>& given = op.as<CollectiveOptions>().device_ids;
  if (given) return given->word ? local_rank_of(s) : static_cast<int>(given->number);
  if (devices_used(s, group) > 0) return s.device;
  const int guess = s.env.rank % s.scenario.world.devices;
  s.env.recorder.note(notes::BarrierDevice{s.env.node, guess, s.device});
  return guess;
}

// Does what NCCL does when it creates a communicator, at a group's first collective: every member reports its host and
// GPU, and no two may share one.
Status compare_devices(Session& s, const Operation& op, const ProcessGroup& group) {
  if (!group.is_member() || s.store == nullptr) return {};
  const int device = op.name == "barrier" ? device_of_barrier(s, op, group) : s.device;
  // One communicator for each device that a rank uses in the group, the n-th of every rank together.
  const std::size_t made = devices_used(s, group);
  if (!s.devices_compared.emplace(group.name(), device).second) return {};
  const auto key = [&](Rank rank) { return fmt::format("nccl_device/{}/{}/{}", group.name(), made, rank); };
  const std::string mine = fmt::format("{}:{}", s.env.node, device);
  s.env.recorder.note(notes::DeviceUsed{s.env.node, device});
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
                           s.env.rank, shared, device, s.env.node),
               {{"device", std::to_string(device)}, {"shared_with", std::to_string(shared)}}};
}

}  // namespace

Status check_tensor(Session& s, const Operation& op, const ProcessGroup& group) {
  const LibrarySemantics* backend = library_of(s);
  if (backend == nullptr) return {};
  const auto* options = op.if_is<CollectiveOptions>();
  const CollectiveOptions call = options != nullptr ? *options : CollectiveOptions{};
  if (call.device && !backend->tensors.has(*call.device))
    return Error{Code::unsupported,
                 fmt::format("{}: backend {} does not support tensors on {}; it accepts those on {}", op.name,
                             backend->name, name_of(*call.device), to_string(backend->tensors)),
                 {{"device", std::string(name_of(*call.device))}, {"backend", std::string(backend->name)}}};
  if (call.stride > 1 && !call.contiguous && backend->on_strided == OnStrided::refused)
    return Error{Code::invalid_argument,
                 fmt::format("{}: the tensor is a view with stride {}, and {} accepts only contiguous ones", op.name,
                             call.stride, backend->name),
                 {{"stride", std::to_string(call.stride)}}};
  const bool message = language::operation_named(op.name)->has(language::point_to_point);
  if (s.scenario.world.devices == 0 || !backend->one_rank_per_device || message) return {};
  return compare_devices(s, op, group);
}

bool takes_views_for_packed(const Session& s) {
  const LibrarySemantics* backend = library_of(s);
  return backend == nullptr || backend->on_strided == OnStrided::taken_for_packed;
}

namespace {

Status set_device(Session& s, const Operation& op) {
  const NumberOrWord asked = op.as<SetDeviceOptions>().index;
  const int index = asked.word ? local_rank_of(s) : static_cast<int>(asked.number);
  const int devices = s.scenario.world.devices;
  if (devices > 0 && index >= devices)
    return Error{Code::invalid_argument,
                 fmt::format("set_device: invalid device ordinal {}, the node has {} GPUs", index, devices),
                 {{"ordinal", std::to_string(index)}}};
  s.device = index;
  return {};
}

Status raise(Session&, const Operation& op) { return Error{Code::program_raised, op.as<RaiseOptions>().message, {}}; }

constexpr std::array set_device_keys{
    Key{.name = "index",
        .type = Type::integer,
        .help = "index of the GPU within the node; local_rank: this rank's place in it",
        .required = true,
        .choices = local_rank_words,
        .high = 63,
        .bind = to<&SetDeviceOptions::index>},
};

constexpr std::array raise_keys{
    Key{.name = "message",
        .type = Type::text,
        .help = "the text of the exception",
        .required = true,
        .bind = to<&RaiseOptions::message>},
};

constexpr std::array device_rows{
    OperationRow{.name = "set_device",
                 .help = "selects the GPU of this process; GPU 0 before, if `world.devices` is given",
                 .title_help = "torch.cuda.set_device",
                 .keys = set_device_keys,
                 .options = options_of<SetDeviceOptions>,
                 .phase = Phase::initialization,
                 .run = set_device},
    OperationRow{.name = "raise",
                 .help = "an exception of the program itself, which nobody catches",
                 .title_help = "an exception of the program itself",
                 .keys = raise_keys,
                 .options = options_of<RaiseOptions>,
                 .traits = language::in_train,
                 .run = raise},
};

}  // namespace

const Operations device_operations{device_rows};

}  // namespace pdsim::scenarios::operations
