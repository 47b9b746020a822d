// What the operations of a program share. Each has its function and its row in a file of scenarios/program/operations.
#pragma once

#include "scenarios/program/session.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace pdsim::scenarios::operations {

// Runs every operation that is a call of one collective, send and recv included.
Status collective(Session& s, const Operation& op);

// Runs `body` once per step, with `op` as the site of everything in it.
Status run_steps(Session& s, const Operation& op, std::int64_t steps, const std::function<Status()>& body);

// Who a process says it is, and who the others of its job are. Nobody compares what processes say: the first that says it is
// rank 0 listens at the port, and of several that say the same others meet the first, while the rest wait for nobody.
struct Identity {
  Rank rank = 0;
  std::vector<Rank> members;  // of its job, as ranks of the scenario's world, by what they say
  std::string group;          // identifies its job
};
// Whether the file's init speaks of ranks or ports.
bool tells_identity(const Scenario& scenario);
// Errors: io_error, with the fact port: another process listens there; timeout: nobody says it is one of the others, or
// somebody else said first what this one says; unsupported in real worlds.
Result<Identity> claim_identity(Session& s, const InitOptions& init, int expected, Time timeout);

// The rank of the group that `src`, `dst`, `group_src` or `group_dst` names; any_source; 0 where the kind names none.
// Error: a rank of the world that is not in the group.
Result<Rank> root_of(const Operation& op, const ProcessGroup& group, CollectiveKind kind);

// The function of a row; null for a name that is not an operation.
OperationFunction function_of(std::string_view name);
// The phase in which it runs; none for a name that is not an operation.
Phase phase_of(std::string_view name);

// clip_grad_norm of these parameters, with these options; the norm of before.
Result<double> clip_gradients(const ClipOptions& clip, std::span<nn::Tensor> parameters);

// The same options for callers that compute norms of their own.
nn::ClipOptions clip_options(const ClipOptions& clip);

// The groups of the mesh, by dimension; nothing where the file has none. Every rank calls it, after the world's group is made.
Status make_mesh(Session& s);
// A dimension's group of this rank, or the world's.
ProcessGroup& group_named(Session& s, const std::string& name);
// Marks the layers that `tensor_parallel` splits, before the module is made, and gives them their group after it.
void split_layers(Session& s, nn::ModuleSpec& spec);
void join_split_layers(Session& s);
// Which part of split layers a file gets or gives.
void note_part_of_layers(Session& s, const std::string& path, bool loaded);
// Shards the model where the file says so.
Status shard_model(Session& s);
// Does it while the parameters are whole; of a sharded model, every rank must.
Status whole_model(Session& s, const std::function<Status()>& what);
// clip_grad_norm of a sharded model.
Result<double> clip_shards(Session& s, const ClipOptions& options);

// A while that passes on this rank: simulated work, or real sleep.
void pass_time(Session& s, Time time);

// What the file says about DDP, with the rules of its profile.
DdpOptions ddp_options(const Scenario& scenario);

// Makes the model if there is none yet: with DDP from this rank's own stream, for DDP must make them equal; without from
// rank 0's.
Status make_model(Session& s, const Operation& op);

// Of the last step of a train, which took this long; only where the file has `data_parallel`.
void note_device_loads(Session& s, Time step);

// Over the parameters as they are now.
void make_optimizer(Session& s);

// Whether all ranks have replicas of one model, which reports may compare.
bool replicas_are_all(const Session& s);
// Of its values; 52 bits, which are whole in a double.
double digest_of(const nn::Tensor& tensor);

// wait() on a started call: the program waits, or its device's stream alone, and what arrived is looked at later.
Status wait_on(Session& s, const std::string& label, std::unique_ptr<Pending> pending);
// The program waits for its device, which exchanges nothing, and looks at what arrived in the meantime.
Status synchronize(Session& s);

// What the backend whose semantics hold has to say about the tensor of a call before it is started: on which device it is,
// and whether two ranks have one GPU. Errors: unsupported, with the fact device; invalid_argument, with the fact device.
Status check_tensor(Session& s, const Operation& op, const ProcessGroup& group);
// Whether it takes the first elements in memory for those of a view with a stride.
bool takes_views_for_packed(const Session& s);

}  // namespace pdsim::scenarios::operations
