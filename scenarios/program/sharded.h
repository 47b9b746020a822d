// The mesh of a file, and models that are sharded or split over its groups.
#pragma once

#include "scenarios/program/session.h"

#include <functional>
#include <string>

namespace pdsim::scenarios::operations {

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

}  // namespace pdsim::scenarios::operations
