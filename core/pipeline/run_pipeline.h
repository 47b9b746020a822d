// Runs one rank's part of a pipeline over a process group: its actions, and the messages between them.
#pragma once

#include "core/base/views.h"
#include "core/group/process_group.h"
#include "core/pipeline/program.h"

namespace pdsim {

// What the stages of a rank do; made by the owner of the model.
class StageWork {
 public:
  virtual ~StageWork() = default;
  virtual Status compute(const PipelineAction& action) = 0;
  // Where a message lies on this rank, asked for when it is posted: what is sent was made by the action before, and what is
  // received is used by the action that needs it. Valid until the group has ended, also after an error.
  virtual MutableView memory(const PipelineMessage& message) = 0;
  // Called before the action that needs it.
  virtual Status received(const PipelineMessage& message) = 0;
};

// Rank r of the group is rank r of the program, and the number of a message is its tag. Returns when this rank's actions and
// messages are over, or with the first error: of the work, or of a call. Errors: invalid_argument for a group of another size.
Status run_pipeline(const PipelineProgram& program, ProcessGroup& group, StageWork& work);

}  // namespace pdsim
