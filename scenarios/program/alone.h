// The differences of a process that stands for all ranks of a scenario (Scenario::stands_for): its batches and its
// loss.
#pragma once

#include "core/nn/module.h"
#include "scenarios/program/batch.h"
#include "scenarios/program/session.h"

#include <map>
#include <string>
#include <vector>

namespace pdsim::scenarios::operations {

// The batches since the last step, in a process that runs one backward for them (StandsFor::one_batch).
struct JoinedBatches {
  std::map<std::string, Batch> made;  // by output name
  Batch gathered;
  std::string path;
};

// The input of a forward of this session: its rank's batch, or those of all ranks joined.
Result<Batch> batch_for(Session& s, const ForwardOptions& asked, Widths widths);

// Like loss_of, and on the scale of a mean over ranks where one process stands for all of them.
Result<nn::Tensor> scaled_loss(const Session& s, const nn::Tensor& output, const Batch& batch, Widths widths);

bool joins_batches(const Session& s);
void keep_batch(Session& s, const std::string& output, const Batch& batch, const std::string& path);
void gather_batches(Session& s, const std::vector<std::string>& losses);
void forget_batches(Session& s);
// Runs the one backward over everything gathered; does nothing if that is empty.
Status settle_batches(Session& s);

}  // namespace pdsim::scenarios::operations
