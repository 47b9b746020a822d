// A process that pdsim did not start, alone or under mpirun: joins a group of MPI and sums over it.
//
//   mpi_process FOLDER SIZE   the store is a file in FOLDER; prints "rank R of SIZE: S", S the sum of 1 over the ranks

#include "backends/availability.h"
#include "backends/os/files_below.h"
#include "backends/os/real_runtime.h"
#include "core/store/file_store.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace pdsim {
namespace {

using namespace literals;

Status run(const std::string& folder, int size) {
  const char* given = std::getenv("OMPI_COMM_WORLD_RANK");
  const Rank rank = given == nullptr ? 0 : std::atoi(given);
  RealRuntime runtime;
  auto backend = real_world_row("mpi")->make_backend(runtime);
  PDSIM_TRY(backend.status());
  FilesBelow files(folder);
  auto log = files.open_log("store");
  PDSIM_TRY(log.status());
  auto store = FileStore::open(std::move(*log), {"store"});
  PDSIM_TRY(store.status());
  auto communicator = (*backend)->join(**store, {"world", rank, size, 20_s});
  PDSIM_TRY(communicator.status());
  float one = 1, sum = 0;
  Collective call{CollectiveKind::all_reduce,
                  {reinterpret_cast<std::byte*>(&one), DType::f32, 1},
                  {reinterpret_cast<std::byte*>(&sum), DType::f32, 1},
                  DType::f32,
                  1};
  const Result<WorkPtr> work = (*communicator)->start(call);
  PDSIM_TRY(work.status());
  PDSIM_TRY((*work)->wait());
  fmt::print("rank {} of {}: {}\n", rank, size, sum);
  return {};
}

}  // namespace
}  // namespace pdsim

// What the address sanitizer asks for: Open MPI leaks, from plug-ins that are unloaded when the leaks are told.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const pdsim::Status status = pdsim::run(argv[1], std::atoi(argv[2]));
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}
