#include "backends/mpi/mpi_engine.h"

#include "backends/mpi/errors.h"

#include <mpi.h>

#include <cstdlib>

namespace pdsim {
namespace {

// Without mpirun's variables Open MPI would start a daemon for this one process; and what it does not find on this machine
// (fabrics) is no news to anybody.
void prepare_environment() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMIX_RANK") == nullptr)
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 0);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
}

}  // namespace

MpiEngine::MpiEngine() : PollingEngine("this rank has given up MPI, which cannot cancel what it has begun") {}

Result<std::unique_ptr<MpiEngine>> MpiEngine::begin() {
  std::unique_ptr<MpiEngine> engine(new MpiEngine);
  MpiEngine& e = *engine;
  PDSIM_TRY(e.PollingEngine::begin([&e] { return e.initialize(); }));
  return engine;
}

MpiEngine::~MpiEngine() {
  stop([this](bool undone) {
    if (up_ && !undone) MPI_Finalize();
  });
}

Status MpiEngine::initialize() {
  int before = 0;
  MPI_Initialized(&before);
  if (before != 0) return Error{Code::unavailable, "MPI can begin only once in a process, and has already", {}};
  prepare_environment();
  int provided = 0;
  PDSIM_TRY(mpi_status(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread"));
  up_ = true;
  PDSIM_TRY(mpi_status(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size_);
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found);
  if (found != 0 && value != nullptr) highest_tag_ = *static_cast<int*>(value);
  return {};
}

}  // namespace pdsim
