// Shared by the operations of a program. Each has its function and its row in a file of scenarios/program/operations.
#pragma once

#include "scenarios/program/session.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace pdsim::scenarios::operations {

// Runs every operation that is a single collective call, send and recv included.
Status collective(Session& s, const Operation& op);

// Runs `body` once per step, with `op` as the site of everything in it.
Status run_steps(Session& s, const Operation& op, std::int64_t steps, const std::function<Status()>& body);

// A process's claimed identity, and the others of its job. Nothing compares the claims: the first process that claims rank 0
// listens at the port, and of several with the same claim the others meet the first, while the rest wait forever.
struct Identity {
  Rank rank = 0;
  std::vector<Rank> members;  // of its job, as ranks of the scenario's world, by their claims
  std::string group;          // identifies its job
};
// Whether the file's init names ranks or ports.
bool tells_identity(const Scenario& scenario);
// Errors: io_error, with the fact port: another process listens there; timeout: no process claims to be one of the others, or
// another made the same claim first; unsupported in real worlds.
Result<Identity> claim_identity(Session& s, const InitOptions& init, int expected, Time timeout);

// The group rank for `src`, `dst`, `group_src` or `group_dst`; any_source; 0 where the kind has none.
// Error: a rank of the world that is not in the group.
Result<Rank> root_of(const Operation& op, const ProcessGroup& group, CollectiveKind kind);

// The function of a row; null for a name that is not an operation.
OperationFunction function_of(std::string_view name);
// The phase in which it runs; none for a name that is not an operation.
Phase phase_of(std::string_view name);

// Runs clip_grad_norm on these parameters, with these options; returns the norm before clipping.
Result<double> clip_gradients(const ClipOptions& clip, std::span<nn::Tensor> parameters);

// The same options for callers that compute norms of their own.
nn::ClipOptions clip_options(const ClipOptions& clip);

// Creates the groups of the mesh, by dimension; does nothing where the file has none. Every rank calls it, after the world's
// group is created.
Status make_mesh(Session& s);
// A dimension's group of this rank, or the world's.
ProcessGroup& group_named(Session& s, const std::string& name);
// Marks the layers that `tensor_parallel` splits, before the module is created, and gives them their group after it.
void split_layers(Session& s, nn::ModuleSpec& spec);
void join_split_layers(Session& s);
// Notes the part of split layers that a file receives or provides.
void note_part_of_layers(Session& s, const std::string& path, bool loaded);
// Shards the model where the file says so.
Status shard_model(Session& s);
// Runs `what` while the parameters are whole; for a sharded model every rank must call it.
Status whole_model(Session& s, const std::function<Status()>& what);
// Runs clip_grad_norm on a sharded model.
Result<double> clip_shards(Session& s, const ClipOptions& options);

// Lets time pass on this rank: simulated work, or real sleep.
void pass_time(Session& s, Time time);

// The file's DDP options, with the rules of its profile.
DdpOptions ddp_options(const Scenario& scenario);

// Creates the model if there is none yet: with DDP from this rank's own stream, as DDP must make them equal; without DDP from
// rank 0's.
Status make_model(Session& s, const Operation& op);

// Notes the loads of the last step of a train, which took this long; only where the file has `data_parallel`.
void note_device_loads(Session& s, Time step);

// Creates the optimizer over the current parameters.
void make_optimizer(Session& s);

// Whether all ranks have replicas of one model, which reports may compare.
bool replicas_are_all(const Session& s);
// A digest of its values: 52 bits, which readers of JSON that know only doubles keep whole.
std::int64_t digest_of(const nn::Tensor& tensor);

// Runs wait() on a started call: the program waits, or only its device's stream, and the output is checked later.
Status wait_on(Session& s, const std::string& label, std::unique_ptr<Pending> pending);
// Makes the program wait for its device, without any exchange, and checks the outputs received meanwhile.
Status synchronize(Session& s);

// Applies the checks of the simulated backend to a call's tensor before the call is started: its device, and whether two ranks
// share one GPU. Errors: unsupported, with the fact device; invalid_argument, with the fact device.
Status check_tensor(Session& s, const Operation& op, const ProcessGroup& group);
// Whether it reads a strided view as the first elements in memory.
bool takes_views_for_packed(const Session& s);

}  // namespace pdsim::scenarios::operations
