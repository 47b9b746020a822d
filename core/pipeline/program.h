// The calls of each rank that run a schedule: its actions, and between them the messages that carry activations to the next stage
// and gradients to the previous one.
//
//   isend   both ends of a message post it where the schedule's own times put it, in one order for all ranks, and no rank waits
//           for a send; a rank waits for a message where it needs the data. As torch's runtime for schedules does
//   batch   the sends after an action and the receives for the next are one batch_isend_irecv, waited for at once
//   send    plain send after an action, plain recv before one
//
// Stages of one rank send each other no messages.
#pragma once

#include "core/base/enum_names.h"
#include "core/pipeline/schedule.h"

#include <string>
#include <vector>

namespace pdsim {

enum class PipelineSends : std::uint8_t { isend, batch, send };
constexpr std::array<std::string_view, 3> pipeline_sends_names{"isend", "batch", "send"};
constexpr std::string_view name_of(PipelineSends sends) {
  return pipeline_sends_names[static_cast<std::size_t>(sends)];
}

struct PipelineMessage {
  PipelineAction produced_by, needed_by;
  Rank from = no_rank, to = no_rank;
  bool activation() const { return produced_by.kind == PipelineActionKind::forward; }
};

struct PipelineStep {
  enum class Kind : std::uint8_t { compute, post };
  Kind kind = Kind::compute;
  PipelineAction action;       // compute
  std::vector<int> messages;   // post: started together; by index into the program's list
  bool waits = false;          // post: until all of them are complete
  std::vector<int> waits_for;  // compute: messages posted before, whose data it needs
};

struct PipelineProgram {
  PipelineSends sends = PipelineSends::isend;
  std::vector<PipelineMessage> messages;
  std::vector<std::vector<PipelineStep>> steps;  // by rank
};

// The schedule must pass check_pipeline.
PipelineProgram lower_pipeline(const PipelineSchedule& schedule, PipelineSends sends);

// How a library buffers messages until they are received.
enum class PipelineBuffering : std::uint8_t {
  unbounded,  // a send is complete at once: eager
  none,  // a send is complete when its receive is posted; matched by tag: rendezvous, as Gloo's and MPI's large messages
  pair_streams,  // the same, and each pair of ranks exchanges messages in posting order: NCCL's communicator of a pair
};
constexpr std::array<std::string_view, 3> pipeline_buffering_names{"unbounded buffers", "no buffers",
                                                                   "no buffers, one stream per pair"};
constexpr std::string_view name_of(PipelineBuffering buffering) {
  return pipeline_buffering_names[static_cast<std::size_t>(buffering)];
}

// A rank that never ends, and the message it waits for.
struct PipelineStuck {
  Rank rank = no_rank;
  int step = 0;              // in its list
  PipelineMessage message;   // the incomplete one
  Rank waits_for = no_rank;  // the other end
  bool sends = false;        // this rank is the sender
};
std::string to_string(const PipelineStuck& stuck);

// The ranks that never end, in order; empty when all do.
std::vector<PipelineStuck> find_stuck(const PipelineProgram& program, PipelineBuffering buffering);

// The ranks among them that wait for each other in a circle, starting with the lowest.
std::vector<PipelineStuck> circle_of(const std::vector<PipelineStuck>& stuck);

}  // namespace pdsim
