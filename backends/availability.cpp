#include "backends/availability.h"

#include "backends/gloo/gloo_backend.h"
#include "backends/mpi/mpi_backend.h"
#include "backends/mpi/mpi_slots.h"
#include "backends/nccl/nccl_backend.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace pdsim {
namespace {

[[maybe_unused]] Availability absent(std::string_view name, std::string_view option, std::string_view summary) {
  const std::string cure =
      summary.starts_with("off") ? fmt::format("; build with {}=AUTO", option) : ", then build again";
  return {false, "", fmt::format("this build of pdsim has no {}: {}{}", name, summary, cure)};
}

Result<std::unique_ptr<Backend>> make_gloo(Runtime& runtime) { return make_gloo_backend(runtime); }

Result<std::unique_ptr<Backend>> make_nccl(Runtime& runtime) { return make_nccl_backend(runtime); }

constexpr std::array real_world_rows{RealWorldRow{.name = "gloo",
                                                  .about = "one process per rank over real Gloo",
                                                  .available = gloo_availability,
                                                  .make_backend = make_gloo},
                                     RealWorldRow{.name = "mpi",
                                                  .about = "one process per rank over real MPI",
                                                  .available = mpi_availability,
                                                  .make_backend = make_mpi_backend,
                                                  .take_slots = take_mpi_slots,
                                                  .ends_together = true},
                                     RealWorldRow{.name = "nccl",
                                                  .about = "one process per rank and device over real NCCL",
                                                  .available = nccl_availability,
                                                  .make_backend = make_nccl}};

}  // namespace

std::span<const RealWorldRow> real_worlds() { return real_world_rows; }

const RealWorldRow* real_world_row(std::string_view name) {
  for (const RealWorldRow& row : real_world_rows)
    if (row.name == name) return &row;
  return nullptr;
}

Availability gloo_availability() {
#if PDSIM_HAVE_GLOO
  return {true, PDSIM_GLOO_VERSION, ""};
#else
  return absent("Gloo", "PDSIM_WITH_GLOO", PDSIM_GLOO_SUMMARY);
#endif
}

Availability mpi_availability() {
#if PDSIM_HAVE_MPI
  const std::string problem = mpirun_problem();
  return {problem.empty(), PDSIM_MPI_VERSION, problem};
#else
  return absent("Open MPI", "PDSIM_WITH_MPI", PDSIM_MPI_SUMMARY);
#endif
}

Availability nccl_availability() {
#if PDSIM_HAVE_NCCL
  return probe_nccl();
#else
  return absent("NCCL", "PDSIM_WITH_NCCL", PDSIM_NCCL_SUMMARY);
#endif
}

}  // namespace pdsim
