// A program's model and the replicas of it.
#pragma once

#include "scenarios/program/session.h"

#include <cstdint>

namespace pdsim::scenarios::operations {

// Creates the model if there is none yet: with DDP from this rank's own stream, as DDP must make them equal; without DDP from
// rank 0's.
Status make_model(Session& s, const Operation& op);

// Whether all ranks have replicas of one model, which reports may compare.
bool replicas_are_all(const Session& s);
// A digest of its values: 52 bits, which readers of JSON that know only doubles keep whole.
std::int64_t digest_of(const nn::Tensor& tensor);

}  // namespace pdsim::scenarios::operations
