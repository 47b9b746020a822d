#include "backends/mpi/mpi_backend.h"

#include "backends/engine/wait_for_all.h"
#include "backends/mpi/errors.h"
#include "backends/mpi/mpi_communicator.h"
#include "backends/mpi/raw.h"

#include <fmt/format.h>
#include <mpi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

// Communicators of one group that are made at the same time are told apart by this.
int tag_of(std::string_view group) {
  constexpr std::uint32_t basis = 2166136261U, prime = 16777619U, tags = 32768U;
  std::uint32_t hash = basis;
  for (const char c : group) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  return static_cast<int>(hash % tags);
}

Status make_communicator(const std::vector<Rank>& ranks, int tag, MpiGroup& made) {
  MPI_Group world = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  PDSIM_TRY(mpi_status(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group"));
  PDSIM_TRY(
      mpi_status(MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &members), "MPI_Group_incl"));
  Status status = mpi_status(MPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &made.comm), "MPI_Comm_create_group");
  MPI_Group_free(&members);
  MPI_Group_free(&world);
  PDSIM_TRY(std::move(status));
  PDSIM_TRY(mpi_status(MPI_Comm_set_errhandler(made.comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"));
  return mpi_status(MPI_Comm_dup(made.comm, &made.plans), "MPI_Comm_dup");
}

class MpiBackend final : public Backend {
 public:
  MpiBackend(Runtime& runtime, std::shared_ptr<MpiJob> job) : runtime_(runtime), job_(std::move(job)) {}
  std::string_view name() const override { return "mpi"; }
  Time default_timeout() const override { return 30_min; }

 private:
  Result<std::unique_ptr<Communicator>> join_group(Store& store, const JoinOptions& options) override {
    const Result<MpiGroup> group = made(store, options);
    if (!group.ok()) return group.error();
    return std::unique_ptr<Communicator>(
        std::make_unique<MpiCommunicator>(runtime_, job_, *group, timeout_of(options)));
  }
  Result<std::unique_ptr<RawCaller>> join_raw_group(Store& store, const JoinOptions& options) override {
    const Result<MpiGroup> group = made(store, options);
    if (!group.ok()) return group.error();
    return make_mpi_raw_caller(job_, *group);
  }
  Time timeout_of(const JoinOptions& options) const {
    return options.timeout > Time{} ? options.timeout : default_timeout();
  }
  Result<MpiGroup> made(Store& store, const JoinOptions& options) {
    std::vector<Rank> ranks = options.global_ranks;
    for (Rank r = 0; options.global_ranks.empty() && r < options.size; ++r) ranks.push_back(r);
    PDSIM_TRY(check_seat(ranks, options.rank));
    // Making a communicator has no timeout, so it begins only when every member is there.
    PDSIM_TRY(wait_for_all(store, options, "mpi_here", timeout_of(options)));
    MpiGroup group{nullptr, nullptr, options.rank, options.size};
    PDSIM_TRY(job_->engine().call([&] { return make_communicator(ranks, tag_of(options.group), group); }));
    return group;
  }
  Status check_seat(const std::vector<Rank>& ranks, Rank rank) const {
    const int world = job_->engine().world_size(), mine = job_->engine().world_rank();
    for (const Rank r : ranks)
      if (r >= world)
        return Error{
            Code::unavailable,
            fmt::format("the group has rank {}, but mpirun started {} process{}", r, world, world == 1 ? "" : "es"),
            {{"rank", std::to_string(r)}}};
    if (ranks[static_cast<std::size_t>(rank)] == mine) return {};
    return Error{Code::invalid_argument,
                 fmt::format("this process is rank {} for mpirun, but is configured as rank {}", mine,
                             ranks[static_cast<std::size_t>(rank)]),
                 {}};
  }

  Runtime& runtime_;
  std::shared_ptr<MpiJob> job_;
};

}  // namespace

Result<std::unique_ptr<Backend>> make_mpi_backend(Runtime& runtime) {
  Result<std::shared_ptr<MpiJob>> job = MpiJob::begin();
  if (!job.ok()) return job.error();
  return std::unique_ptr<Backend>(std::make_unique<MpiBackend>(runtime, std::move(*job)));
}

}  // namespace pdsim
