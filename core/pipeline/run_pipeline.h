// Runs one rank's part of a pipeline over a process group: its actions, and the messages between them.
#pragma once

#include "core/base/views.h"
#include "core/group/process_group.h"
#include "core/pipeline/program.h"

namespace pdsim {

// The work of a rank's stages; implemented by the owner of the model.
class StageWork {
 public:
  virtual ~StageWork() = default;
  virtual Status compute(const PipelineAction& action) = 0;
  // The memory of a message on this rank, asked for when the message is posted: the action before has produced a sent message,
  // and the action that needs a received one uses it. Must be valid until the group has ended, also after an error.
  virtual MutableView memory(const PipelineMessage& message) = 0;
  // Called before the action that needs it.
  virtual Status received(const PipelineMessage& message) = 0;
};

// Rank r of the group is rank r of the program, and a message's number is its tag. Returns when this rank's actions and messages
// are over, or with the first error: of the work, or of a call. Errors: invalid_argument for a group of another size.
Status run_pipeline(const PipelineProgram& program, ProcessGroup& group, StageWork& work);

}  // namespace pdsim
