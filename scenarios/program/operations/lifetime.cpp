// init, new_group, compute, relaunch, destroy.
#include "scenarios/program/operations/lifetime.h"

#include "core/semantics/profile.h"
#include "core/store/rendezvous_url.h"
#include "scenarios/program/identity.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/optimizer.h"
#include "scenarios/program/operations/shared_keys.h"
#include "scenarios/program/operations/training.h"
#include "scenarios/program/sharded.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::operations {
namespace {

struct ComputeOptions {
  Time time{};
  DeviceType device = DeviceType::cpu;
};

using namespace literals;

bool ranks_from_launcher(const Session& s) {
  const LibrarySemantics* library = library_named(s.env.backend.name());
  return library != nullptr && library->ranks_from_launcher;
}

// Looks for the launcher's variables, less the one that this process lacks. A launcher that assigns the ranks itself
// needs none of them.
Status find_variables(Session& s, const std::string& unset) {
  if (unset.empty() || ranks_from_launcher(s)) return {};
  Environment variables{{"RANK", std::to_string(s.env.rank)},
                        {"WORLD_SIZE", std::to_string(s.env.world_size)},
                        {"MASTER_ADDR", "localhost"},
                        {"MASTER_PORT", "29500"}};
  variables.erase(unset);
  const Status found = parse_init_method({}, variables).status();
  if (!found.ok()) s.env.recorder.note(notes::VariableMissing{unset});
  return found;
}

Result<std::unique_ptr<Store>> open_store(Session& s, const InitOptions& init, Time timeout) {
  if (init.method == InitMethod::file) {
    s.env.recorder.note(notes::StoreOpened{init.path});
    return init.file_store == FileStoreKind::gloo ? s.env.rendezvous.folder(init.path, timeout)
                                                  : s.env.rendezvous.file(init.path, timeout);
  }
  if (init.method == InitMethod::env) {
    PDSIM_TRY(find_variables(s, init.unset));
    return s.env.rendezvous.env(timeout);
  }
  return s.env.rendezvous.tcp(init.address, timeout);
}

// PyTorch before 2.0 ends the making of each group, the world's included, with a barrier of all ranks in the store: add one, then
// poll until the count equals the world size. A count that an earlier run left behind never equals it. PyTorch polls every 10 ms;
// after a second we are content with every hundredth of the time waited, or half an hour of it would push the rank's calls off
// its record.
Status store_barrier(Session& s, Time timeout) {
  const Profile* profile = profile_named(s.scenario.world.spec.profile);
  if (profile == nullptr || !profile->store_barrier) return {};
  const std::string key = fmt::format("store_based_barrier_key:{}", 1 + s.maker->made());
  constexpr Time poll = 10_ms;
  const Time began = s.env.runtime.now(), deadline = began + timeout;
  Result<std::int64_t> count = s.store->add(key, 1);
  while (count.ok() && *count != s.group->size()) {
    if (s.env.runtime.now() >= deadline)
      return Error{Code::rendezvous_timeout,
                   fmt::format("the store barrier after {} counted {} arrivals in a world of {} and gave up after {}",
                               s.maker->made() == 0 ? "init_process_group" : "new_group", *count, s.group->size(),
                               to_string(timeout)),
                   {{"key", key}}};
    const Time now = s.env.runtime.now();
    s.env.runtime.sleep_until(std::min(deadline, now + std::max(poll, Time{(now - began).ps / 100})));
    count = s.store->add(key, 0);
  }
  return count.status();
}

// The world size that init is told, which nobody compares with the number of processes. MPI has its own from mpirun and only warns.
int expected_ranks(Session& s, const InitOptions& init) {
  const auto told = static_cast<int>(init.world_size.value_or(s.env.world_size));
  if (told == s.env.world_size) return told;
  if (ranks_from_launcher(s)) {
    s.env.recorder.note(notes::Warning{notes::WarningKind::world_size_ignored, told});
    return s.env.world_size;
  }
  s.env.recorder.note(notes::RanksExpected{told, s.env.world_size});
  return told;
}

// ProcessGroupGloo makes one context for each interface that it is given, and in each it connects all ranks.
Status join_further_contexts(Session& s, const InitOptions& init, int expected, Time timeout) {
  if (!init.interfaces || ranks_from_launcher(s)) return {};
  const std::int64_t interfaces = *init.interfaces;
  s.env.recorder.note(notes::InterfacesUsed{interfaces});
  for (std::int64_t i = 1; i < interfaces; ++i) {
    Result<std::unique_ptr<Communicator>> member =
        s.backend().join(*s.store, {fmt::format("world/{}", i), s.env.rank, expected, timeout});
    if (!member.ok()) return member.error();
    s.more_contexts.push_back(std::move(*member));
  }
  return {};
}

// A job of processes that say who they are. Its group is called world, as in each of several jobs; it makes no further ones.
Status join_as_it_says(Session& s, const InitOptions& init, int expected, Time timeout) {
  Result<Identity> identity = claim_identity(s, init, expected, timeout);
  if (!identity.ok()) return identity.error();
  Result<std::unique_ptr<Communicator>> member =
      s.backend().join(*s.store, {identity->group, identity->rank, static_cast<int>(identity->members.size()), timeout,
                                  identity->members, "world"});
  if (!member.ok()) return member.error();
  s.group = std::make_unique<ProcessGroup>("world", RankList(identity->members), identity->rank, timeout,
                                           std::move(*member), s.env.recorder);
  return {};
}

// The end of DDP's constructor in PyTorch: SyncBatchNorm has no kernels for the CPU, where these backends' tensors are.
Status refuse_sync_batchnorm_on_cpu(Session& s) {
  const LibrarySemantics* library = library_named(s.env.backend.name());
  if (library == nullptr || library->sync_batchnorm) return {};
  for (const nn::LayerSpec& layer : s.scenario.model.spec.layers)
    if (layer.kind == nn::LayerKind::sync_batchnorm)
      return Error{
          Code::unsupported,
          fmt::format("layer {}: SyncBatchNorm layers only work on GPUs, and {} is run with tensors on the CPU; "
                      "use backend nccl, or batchnorm",
                      layer.name, library->name),
          {{"layer", layer.name}}};
  return {};
}

}  // namespace

DdpOptions ddp_options(const Scenario& scenario) {
  DdpOptions options = scenario.ddp.options;
  options.explicit_cap = scenario.ddp.gives("bucket_cap");
  options.explicit_first_bucket = scenario.ddp.gives("first_bucket");
  if (const Profile* profile = profile_named(scenario.world.spec.profile)) options.profile = profile->ddp;
  return options;
}

namespace {

// Makes the model, or the part that is worked on, and its wrapper.
Status wrap(Session& s, const Operation& op) {
  s.env.recorder.set_phase(Phase::construction);
  PDSIM_TRY(make_model(s, op));
  PDSIM_TRY(shard_model(s));
  if (s.sharded != nullptr && !s.scenario.optimizer_before_wrapper) make_optimizer(s);
  if (!s.scenario.ddp.wrap) return {};
  if (!s.scenario.ddp.wraps(s.env.rank)) {
    s.env.recorder.note(notes::NotWrapped{});
    return {};
  }
  auto wrapped =
      DistributedDataParallel::wrap(*s.module, group_named(s, s.scenario.ddp.group), ddp_options(s.scenario));
  if (!wrapped.ok()) return wrapped.error();
  s.ddp = std::move(*wrapped);
  if (!s.scenario.optimizer_before_wrapper) make_optimizer(s);
  return {};
}

Status init(Session& s, const Operation& op) {
  const auto& options = op.as<InitOptions>();
  if (s.group != nullptr && !s.group_destroyed)
    return Error{Code::already_initialized, "init_process_group was called while the world's process group exists", {}};
  s.ddp.reset();
  s.sharded.reset();
  for (auto& [name, other] : s.other_parts) other.ddp.reset();
  s.groups.clear();
  s.maker.reset();
  s.more_contexts.clear();
  s.group.reset();
  const Time timeout = s.scenario.world.spec.timeout.value_or(s.env.backend.default_timeout());
  Result<std::unique_ptr<Store>> store = open_store(s, options, timeout);
  if (!store.ok()) return store.error();
  s.use_store(std::move(*store), options.method == InitMethod::file);
  const int expected = expected_ranks(s, options);
  if (tells_identity(s.scenario)) {
    PDSIM_TRY(join_as_it_says(s, options, expected, timeout));
  } else {
    Result<std::unique_ptr<Communicator>> member = s.backend().join(*s.store, {"world", s.env.rank, expected, timeout});
    if (!member.ok()) return member.error();
    PDSIM_TRY(join_further_contexts(s, options, expected, timeout));
    s.group = std::make_unique<ProcessGroup>("world", RankList::of_world(expected), s.env.rank, timeout,
                                             std::move(*member), s.env.recorder);
    s.maker = std::make_unique<GroupMaker>(s.backend(), *s.store, s.env.rank, expected, s.env.recorder);
    PDSIM_TRY(store_barrier(s, timeout));
  }
  s.group_destroyed = false;
  PDSIM_TRY(make_mesh(s));
  if (!s.scenario.model.given) return {};
  PDSIM_TRY(s.for_each_part([&] { return wrap(s, op); }));
  return s.scenario.ddp.wraps(s.env.rank) ? refuse_sync_batchnorm_on_cpu(s) : Status{};
}

Status new_group(Session& s, const Operation& op) {
  if (s.maker == nullptr || s.group_destroyed)
    return Error{Code::not_initialized,
                 tells_identity(s.scenario)
                     ? "new_group beside `init_process_group: {rank: ...}` is not supported"
                     : "new_group needs the world's process group: call init_process_group before it",
                 {}};
  const auto& [name, members, given] = op.as<NewGroupOptions>();
  const Time timeout = !given || given->ps == 0 ? s.env.backend.default_timeout() : *given;
  std::vector<Rank> ranks;
  for (Rank r = 0; r < s.env.world_size; ++r)
    if (members.contains(r)) ranks.push_back(r);
  Result<std::unique_ptr<ProcessGroup>> made = s.maker->new_group(std::move(ranks), name, timeout);
  if (!made.ok()) return made.error();
  s.groups[name] = std::move(*made);
  return store_barrier(s, timeout);
}

}  // namespace

void pass_time(Session& s, Time time) {
  if (s.world == WorldKind::simulated)
    s.env.runtime.compute(time);
  else
    s.env.runtime.sleep_until(s.env.runtime.now() + time);
}

namespace {

Status compute(Session& s, const Operation& op) {
  const auto& [time, device] = op.as<ComputeOptions>();
  if (s.env.device != nullptr && device == DeviceType::cuda) {
    s.env.device->launch(time);
    return {};
  }
  pass_time(s, time);
  return {};
}

Status relaunch(Session& s, const Operation& op) {
  s.relaunch = true;
  s.clean = op.as<RelaunchOptions>().clean;
  return {};
}

Status destroy(Session& s, const Operation& op) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  (*group)->destroy();
  if (*group != s.group.get()) return {};
  for (const auto& [name, made] : s.groups) made->destroy();
  s.group_destroyed = true;
  s.let_go_of_the_store(true);
  return {};
}

constexpr std::array<std::string_view, 3> init_methods{"tcp", "env", "file"};

constexpr std::array<std::string_view, 2> file_stores{"c10d", "gloo"};

constexpr std::array<std::string_view, 4> launcher_variables{"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};

constexpr std::array init_keys{
    Key{.name = "method",
        .type = Type::word,
        .help = "how the ranks find each other",
        .choices = init_methods,
        .bind = to<&InitOptions::method>},
    Key{.name = "path",
        .type = Type::text,
        .help = "method file: the store's file, or the folder of gloo's",
        .bind = to<&InitOptions::path>},
    Key{.name = "file_store",
        .type = Type::word,
        .help = "method file: c10d's store, one file that is appended to, or Gloo's, a folder with one file per key",
        .choices = file_stores,
        .bind = to<&InitOptions::file_store>},
    Key{.name = "unset",
        .type = Type::word,
        .help = "method env: the variable that is not set for this process",
        .choices = launcher_variables,
        .bind = to<&InitOptions::unset>},
    Key{.name = "world_size",
        .type = Type::integer,
        .help = "number of ranks it waits for; default: all of them",
        .low = 1,
        .high = limits::ranks,
        .bind = to<&InitOptions::world_size>},
    Key{.name = "interfaces",
        .type = Type::integer,
        .help = "number of interfaces in GLOO_SOCKET_IFNAME; gloo connects all ranks over each",
        .low = 1,
        .high = 16,
        .bind = to<&InitOptions::interfaces>},
    Key{.name = "address",
        .type = Type::text,
        .help = "method tcp: tcp://host:port; default is the world's own store",
        .bind = to<&InitOptions::address>},
    Key{.name = "rank",
        .type = Type::integer,
        .help = "the rank that this process claims, like RANK; local_rank: its place in its node. Only in simulated "
                "worlds; default: its real rank",
        .choices = local_rank_words,
        .high = limits::ranks,
        .bind = to<&InitOptions::rank>},
    Key{.name = "port",
        .type = Type::integer,
        .help = "MASTER_PORT: processes meet those with the same port. Only in simulated worlds",
        .low = 1,
        .high = 65535,
        .bind = to<&InitOptions::port>},
};

constexpr std::array new_group_keys{
    Key{.name = "name",
        .type = Type::name,
        .help = "the name that `group` uses",
        .required = true,
        .bind = to<&NewGroupOptions::name>},
    Key{.name = "ranks",
        .type = Type::int_set,
        .help = "its members, ranks of the world",
        .required = true,
        .bind = to<&NewGroupOptions::ranks>},
    Key{.name = "timeout",
        .type = Type::duration,
        .help = "timeout of its operations; default: the library's (10min for nccl, 30min for gloo), not the world's, as in PyTorch",
        .bind = to<&NewGroupOptions::timeout>},
};

constexpr std::array compute_keys{
    Key{.name = "time",
        .type = Type::duration,
        .help = "how long the rank computes",
        .required = true,
        .bind = to<&ComputeOptions::time>},
    Key{.name = "device",
        .type = Type::word,
        .help = "cuda: a kernel, for which the program does not wait if the world has `streams`",
        .choices = enum_words<DeviceType>,
        .bind = to<&ComputeOptions::device>},
};

constexpr std::array relaunch_keys{
    Key{.name = "clean",
        .type = Type::boolean,
        .help = "remove store files, as a clean exit does",
        .bind = to<&RelaunchOptions::clean>},
};

constexpr std::array destroy_keys{bound(group_key, to<&DestroyOptions::group>)};

constexpr std::array init_rows{
    OperationRow{.name = "init_process_group",
                 .help = "init_process_group: every rank joins through the store",
                 .title_help = "init_process_group",
                 .keys = init_keys,
                 .options = options_of<InitOptions>,
                 .formerly = "init",
                 .run = init},
};

constexpr std::array new_group_rows{
    OperationRow{.name = "new_group",
                 .help = "creates a group of some ranks; every rank of the world must call it, in the same order",
                 .title_help = "a process group of some ranks",
                 .keys = new_group_keys,
                 .options = options_of<NewGroupOptions>,
                 .traits = language::collective,
                 .phase = Phase::initialization,
                 .run = new_group},
};

constexpr std::array compute_rows{
    OperationRow{.name = "compute",
                 .help = "the rank computes for a while",
                 .title_help = "time that passes on this rank",
                 .keys = compute_keys,
                 .options = options_of<ComputeOptions>,
                 .traits = language::in_train,
                 .run = compute},
};

constexpr std::array relaunch_rows{
    OperationRow{.name = "relaunch",
                 .help = "every process ends and a new launch begins; files remain",
                 .title_help = "every process ends; files remain",
                 .keys = relaunch_keys,
                 .options = options_of<RelaunchOptions>,
                 .run = relaunch},
};

constexpr std::array destroy_rows{
    OperationRow{.name = "destroy_process_group",
                 .help = "destroy_process_group",
                 .title_help = "destroy_process_group; for world, every group",
                 .keys = destroy_keys,
                 .options = options_of<DestroyOptions>,
                 .formerly = "destroy",
                 .run = destroy},
};

}  // namespace

const Operations init_operations{init_rows};
const Operations new_group_operations{new_group_rows};
const Operations compute_operations{compute_rows};
const Operations relaunch_operations{relaunch_rows};
const Operations destroy_operations{destroy_rows};

}  // namespace pdsim::scenarios::operations
