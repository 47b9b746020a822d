// The optimizer of a program, and the clipping of gradients before its step.
#pragma once

#include "scenarios/program/session.h"

#include <span>

namespace pdsim::scenarios::operations {

// Creates the optimizer over the current parameters.
void make_optimizer(Session& s);

// Runs clip_grad_norm on these parameters, with these options; returns the norm before clipping.
Result<double> clip_gradients(const ClipOptions& clip, std::span<nn::Tensor> parameters);

// The same options for callers that compute norms of their own.
nn::ClipOptions clip_options(const ClipOptions& clip);

}  // namespace pdsim::scenarios::operations
