// A Transport over MPI_Isend and MPI_Irecv.
//
//   post      returns at once; `done` runs on the engine's thread
//   order     all receives are posted first, then the sends
//   tags      plans have a communicator of their own, where the sequence number is the tag, modulo MPI's largest; users' tags
//             are passed on as they are
//   sizes     a receive shorter than its message is size_mismatch; messages over 1 GiB travel in pieces
//   failure   unmatched receives are withdrawn; when anything else is left, the engine breaks off
#pragma once

#include "backends/mpi/mpi_engine.h"
#include "core/base/quantity.h"
#include "core/runtime/transport.h"

struct ompi_communicator_t;  // MPI_Comm points to it; mpi.h stays in source files

namespace pdsim {

struct MpiGroup {
  ompi_communicator_t* comm = nullptr;
  ompi_communicator_t* plans = nullptr;  // the same ranks
  Rank rank = 0;
  int size = 1;
};

enum class MessageOf : std::uint8_t { user, plan };

// On the engine's thread: starts the messages; `done` is called once, perhaps before this returns. `deadline` max: none.
void start_messages(MpiEngine& engine, const MpiGroup& group, std::span<const Message> round, MessageOf whom,
                    std::chrono::steady_clock::time_point deadline, Transport::Done done);

class MpiTransport final : public Transport {
 public:
  // With `end_to_end`, `timeout` covers everything posted from now on; otherwise each post; Time::max(): none.
  MpiTransport(MpiEngine& engine, MpiGroup group, Time timeout, bool end_to_end);
  Rank rank() const override { return group_.rank; }
  int size() const override { return group_.size; }
  void post(std::span<const Message> round, Done done) override;
  void after_reduction(std::int64_t, std::function<void()> then) override { then(); }

 private:
  MpiEngine& engine_;
  MpiGroup group_;
  Time timeout_;
  bool end_to_end_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace pdsim
